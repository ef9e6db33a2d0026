"""`olmf run endpoint`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from eventing.endpoint.draining import CompanionProcess, Waiting
from eventing.endpoint.program import listen
from eventing.endpoint.senders import MOST_OF_UNKNOWN, Senders, reviews_of_senders
from eventing.wiring.intake import sink
from eventing.worker.child import served
from eventing.workqueue import WorkQueue, connect
from shared.adapters.kube import KubeClient
from shared.config import Settings

DRAIN_SECONDS = 30.0
"""Half of the delivery timeout of our Broker."""


Command = tuple[Sequence[str], Mapping[str, str]]
"""Words, and environment variables besides ours."""


def main(values: Settings, announce: Callable[[str, str], None], worker: Command | None) -> None:
    """Accept events until SIGTERM; with the command of a `worker` drain the queue before each answer."""
    known = senders(values)
    accept = sink(values, most=0 if known.knows_any else MOST_OF_UNKNOWN)
    with drain(values, *worker) if worker else nullcontext() as drained:
        listen(values, accept, drain=drained, senders=known, on_ready=announce)


def senders(values: Settings) -> Senders:
    """Who may send events to the endpoint. SettingError when a file of tokens has none."""
    found = Senders(
        token=values.endpoint_token,
        token_file=values.endpoint_token_file,
        review=_review(values) if values.endpoint_audience else None,
        trusts_network=values.endpoint_trusts_network,
    )
    found.check()
    return found


def _review(values: Settings) -> Callable[[str], object]:
    client = KubeClient.from_kubeconfig(values.kubeconfig, agent="olmf/endpoint")
    ours = f"system:serviceaccount:{values.policy.global_namespace}:*"
    return reviews_of_senders(
        lambda path, body: client.request("POST", path, body),
        values.endpoint_audience,
        values.endpoint_senders or (ours,),
    )


@contextmanager
def drain(values: Settings, command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Callable[[], None]]:
    """A function that waits until queued jobs have run, within half of the broker's timeout; for Knative endpoints.

    They are run by a worker process beside this one, of that command line and with these variables besides ours.
    """
    queue = WorkQueue(connect(values.redis_url), values)
    worker = CompanionProcess(command, {"OLMF_ON_CALL": "true", **environ})
    queues = set(served(values))

    def is_left() -> bool:
        worker.ensure()
        return any(one.group in queues for one in queue.backlog())

    worker.ensure()
    try:
        yield Waiting(is_left, DRAIN_SECONDS)
    finally:
        worker.stop()
