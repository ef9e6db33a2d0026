"""Builds the parts of one process from its settings; the only module that reads environment variables."""

from __future__ import annotations

import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from eventing.endpoint.draining import Beside, Waiting
from eventing.events.event import Event
from eventing.events.trace import begun_by
from eventing.metrics.health import API, OUTLET, REDIS, SWEEPER, Health, HealthPort, Heartbeat, serve
from eventing.metrics.listener import listener
from eventing.routes import ROUTES, TO_SINK, jobs_for
from shared import names, ports
from shared.adapters.content.store import Store
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CACHED, NAMESPACE, SECRET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventing.endpoint.senders import Senders
    from eventing.journal import RedisJournal
    from eventing.runner import Runner
    from eventing.workqueue import Claim, WorkQueue
    from eventing.workqueue.run_result import RunResult
    from shared.adapters.kube import KubeClient
    from shared.adapters.oci.mirrors import Mirrors

log = structlog.get_logger()

DRAIN_SECONDS = 30.0
"""Half of the delivery timeout of our Broker."""


def settings(**given: str) -> Settings:
    """The settings of this process; what the command line gives comes first. SettingError ends it at the start."""
    return Settings.read({**os.environ, **{f"OLMF_{name.upper()}": value for name, value in given.items()}})


def check(values: Settings) -> None:
    """Raise SettingError unless Redis and a cluster are named; the child of a worker would be started for ever."""
    from eventing import workqueue
    from shared.adapters import kube

    workqueue.connect(values.redis_url)
    kube.connect(values.kubeconfig)


def worker_health(values: Settings) -> Health:
    """What the probes of a worker ask: whether it drains, and Redis and the API server answer."""
    if not values.health_port:
        return Health()
    heartbeat = Heartbeat((REDIS, API))
    port = HealthPort(listener(values, values.health_port), heartbeat)
    return Health(heartbeat, port, lambda: _has_api(values))


def _has_api(values: Settings) -> bool:
    """Whether the API server answers this program's account."""
    from shared.adapters.kube import ApiError, ConnectionSettingError, KubeClient, connect

    try:
        with contextlib.closing(KubeClient(connect(values.kubeconfig))) as cluster:
            cluster.request("GET", "/version")
    except (ApiError, ConnectionSettingError, OSError) as error:
        log.warning("api_server_away", error=str(error))
        return False
    return True


def scheduler_heartbeat(values: Settings) -> Heartbeat:
    """What the probes of the scheduler ask, served on its port."""
    heartbeat = Heartbeat((REDIS,), loops=(SWEEPER, OUTLET) if values.sink else (SWEEPER,))
    if values.health_port:
        serve(HealthPort(listener(values, values.health_port), heartbeat))
    return heartbeat


def runner_factory(values: Settings) -> Callable[[WorkQueue], Callable[[Claim], RunResult]]:
    """A factory of the function that runs claims; it is called in the child process of the worker."""

    def make(queue: WorkQueue) -> Callable[[Claim], RunResult]:
        from eventing.content.pulls import puller
        from eventing.journal import Recorder, RedisChanges, RedisJournal
        from eventing.runner import Runner
        from shared.adapters.content.bundles import ImageBundles
        from shared.adapters.content.catalogs import ImageCatalogs
        from shared.adapters.kube import CachedClient, KubeInventory, SystemClock, connect
        from shared.adapters.kube.copies import KubeCopies
        from shared.adapters.kube.mirrors import KubeMirrors
        from shared.adapters.kube.warnings import KubeWarnings

        connection = replace(connect(values.kubeconfig), agent="olmf/worker")
        cluster = CachedClient(connection, RedisChanges(queue.client), CACHED)
        clock = SystemClock()
        mirrors = KubeMirrors(cluster, machine_mirrors)
        pulls = puller(values, secret_reader(cluster), mirrors, api=connection.server, environ=os.environ)
        catalogs = ImageCatalogs(Store(values.content, limit_bytes=values.content_bytes), pulls)
        journal = RedisJournal(queue.client, max_bytes=values.journal_bytes)
        recorder = Recorder(journal.secret(), also=_journal_files(values, "worker"))
        given: dict[type, object] = {
            ports.Cluster: cluster,
            ports.Copies: KubeCopies(cluster),
            ports.Inventory: KubeInventory(cluster),
            ports.Warnings: KubeWarnings(cluster),
            ports.Discovery: cluster,
            ports.Clock: clock,
            ports.Catalogs: catalogs,
            ports.Content: catalogs,
            ports.Bundles: ImageBundles(pulls),
            ports.Policy: values.policy,
            ports.Journal: journal,
        }
        routes = (*ROUTES, *TO_SINK) if values.sink else ROUTES
        runner = Runner(given, cluster, clock, routes=routes, recorder=recorder)
        return _trimming(runner, queue, journal)

    return make


def _trimming(runner: Runner, queue: WorkQueue, journal: RedisJournal) -> Callable[[Claim], RunResult]:
    """Runs claims, and keeps the journal, to which the queue appends their records, within its bound."""

    def run(claim: Claim) -> RunResult:
        result = runner.run(claim, lambda jobs: queue.is_held(claim, jobs), lambda: queue.is_awaited(claim))
        journal.grew(len(result.record))
        return result

    return run


def sink(values: Settings) -> Callable[[Sequence[Event]], None]:
    """A function that writes events to the journal and adds their jobs to the queue, durably when it returns."""
    from eventing.journal import RedisJournal
    from eventing.workqueue import WorkQueue, connect

    client = connect(values.redis_url)
    queue = WorkQueue(client, values)
    journal = RedisJournal(client, max_bytes=values.journal_bytes, also=_journal_files(values, "events"))

    def accept(events: Sequence[Event]) -> None:
        journal.saw(events)
        for event in events:
            trace = "" if event.traceparent == begun_by(event.id) else event.traceparent  # a watch event has no trace
            queue.add(jobs_for(event), event.id, trace=trace)

    return accept


def senders(values: Settings) -> Senders:
    """Who may send events to the endpoint. SettingError when a file of tokens has none."""
    from eventing.endpoint.senders import Senders

    review = None
    if values.endpoint_audience:
        from eventing.endpoint.reviews import TokenReviews
        from shared.adapters.kube import KubeClient

        client = KubeClient.from_kubeconfig(values.kubeconfig, agent="olmf/endpoint")
        ours = f"system:serviceaccount:{values.policy.global_namespace}:*"
        review = TokenReviews(
            lambda path, body: client.request("POST", path, body),
            values.endpoint_audience,
            values.endpoint_senders or (ours,),
        )
    found = Senders(
        token=values.endpoint_token,
        token_file=values.endpoint_token_file,
        review=review,
        trusts_network=values.endpoint_trusts_network,
    )
    found.check()
    return found


def endpoint_token(environ: Mapping[str, str] = os.environ) -> str:
    """The token of this machine's environment for what it sends to an endpoint; empty without one."""
    if token := environ.get("OLMF_ENDPOINT_TOKEN"):
        return token
    file = environ.get("OLMF_ENDPOINT_TOKEN_FILE")
    return first_token(Path(file)) if file else ""


def first_token(file: Path) -> str:
    """The token that a sender uses of a file; empty without one."""
    try:
        return next(iter(file.read_text().split()), "")
    except FileNotFoundError:
        return ""


@contextmanager
def drain(values: Settings, command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Callable[[], None]]:
    """A function that waits until queued jobs have run, within half of the broker's timeout; for Knative endpoints.

    They are run by a worker process beside this one, of that command line and with these variables besides ours.
    """
    from eventing.worker.drainer import GROUPS
    from eventing.workqueue import WorkQueue, connect

    queue = WorkQueue(connect(values.redis_url), values)
    worker = Beside(command, environ)
    waiting = Waiting(lambda: _has_work(queue, values.steps or GROUPS), DRAIN_SECONDS)

    def drained() -> None:
        worker.ensure()
        waiting()

    worker.ensure()
    try:
        yield drained
    finally:
        worker.stop()


def _has_work(queue: WorkQueue, groups: Sequence[str]) -> bool:
    """Whether a job of the groups is ready or runs; what is due later is not waited for."""
    from eventing.workqueue.listing import listed

    ready = queue.depth().ready
    return any(ready.get(group) for group in groups) or any(
        job.step.partition("/")[0] in groups and job.lane != "long" for job in listed(queue.client, states=("running",))
    )


def ring_audit(values: Settings) -> Callable[[WorkQueue], None]:
    """A function that emits `io.olmf.audit.rang` about the namespace of the installation."""

    def ring(queue: WorkQueue) -> None:
        from eventing.journal import RedisJournal

        ref = NAMESPACE.ref(values.policy.global_namespace)
        event = Event(id=f"audit-{uuid.uuid4()}", type=names.AUDIT_RANG, source="/olmf/scheduler", ref=ref)
        RedisJournal(queue.client, max_bytes=values.journal_bytes).saw([event])
        queue.add(jobs_for(event), event.id)

    return ring


def _journal_files(values: Settings, program: str) -> Callable[[bytes], None]:
    """A function that writes journal entries to files; each process has its own files."""
    if not values.journal_files:
        return lambda _: None
    from eventing.journal import JournalFiles

    return JournalFiles(Path(values.journal_files), f"{program}-{socket.gethostname()}-{os.getpid()}").append


def secret_reader(cluster: KubeClient) -> Callable[[str, str], Manifest | None]:
    """What reads the Secrets of a namespace, by name."""
    return lambda namespace, name: SECRET.look_up(cluster.get, name, namespace)


def machine_mirrors() -> Mirrors:
    """The mirrors from `registries.conf` and `OLMF_MIRRORS` of this machine; read when an image is pulled."""
    from shared.adapters.oci.logins import mirrors_of_machine

    return mirrors_of_machine(os.environ, Path.home())
