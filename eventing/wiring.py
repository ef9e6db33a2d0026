"""Builds the parts of one process from its settings; the only module that reads environment variables."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from eventing.content.catalogs_address import settings_of
from eventing.endpoint.draining import CompanionProcess, Waiting
from eventing.events.event import Event
from eventing.events.trace import begun_by
from eventing.metrics.health import API, REDIS, Health, HealthPort, Heartbeat
from eventing.metrics.listener import listener
from eventing.routes import ROUTES, TO_SINK, jobs_for
from shared import ports
from shared.adapters.content.store import Store
from shared.adapters.keys import StoredKeys
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CACHED, HIGH_CARDINALITY, SECRET

if TYPE_CHECKING:
    from eventing.endpoint.senders import Senders
    from eventing.journal import RedisJournal
    from eventing.runner import Runner
    from eventing.runner.progress import LongRuns
    from eventing.workqueue import Claim, WorkQueue
    from eventing.workqueue.run_result import RunResult
    from shared.adapters.content.bundles import ImageBundles
    from shared.adapters.content.catalogs import ImageCatalogs
    from shared.adapters.kube import CachedClient, KubeClient
    from shared.adapters.kube.answers import Changes
    from shared.adapters.oci.mirrors import Mirrors

log = structlog.get_logger()
DRAIN_SECONDS = 30.0
"""Half of the delivery timeout of our Broker."""


def settings(**given: str) -> Settings:
    """The settings of this process; what the command line gives comes first. SettingError ends it at the start."""
    return settings_of({**os.environ, **{f"OLMF_{name.upper()}": value for name, value in given.items()}})


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


def runner_factory(values: Settings) -> Callable[[WorkQueue], Callable[[Claim], RunResult]]:
    """A factory of what runs claims, in the child of a worker; threads share the client of the cluster."""

    def make(queue: WorkQueue) -> Callable[[Claim], RunResult]:
        from eventing.journal import Recorder, RedisChanges, RedisJournal
        from eventing.runner import Runner
        from eventing.runner.progress import LongRuns
        from eventing.runner.steps import Steps
        from eventing.worker.crew import one_per_thread
        from shared.adapters.kube import CachedClient, SystemClock, connect

        connection = replace(connect(values.kubeconfig), agent="olmf/worker")
        cluster = CachedClient(connection, RedisChanges(queue.client), CACHED, HIGH_CARDINALITY)
        journal = RedisJournal(queue.client, max_bytes=values.journal_bytes)
        runs = LongRuns(values.long_seconds, journal.ran)
        queue.progress = lambda: runs.present
        recording = Recorder(journal.secret())
        routes, steps = (*ROUTES, *TO_SINK) if values.sink else ROUTES, Steps()

        def of_thread() -> Callable[[Claim], RunResult]:
            given = {**_asked(values, cluster), ports.Journal: journal, ports.Runs: runs}
            recorder = recording.beside(_journal_files(values, "worker"))
            runner = Runner(given, cluster, SystemClock(), routes=routes, steps=steps, recorder=recorder)
            return _trimming(runner, queue, journal, runs)

        return one_per_thread(of_thread)

    return make


def _asked(values: Settings, cluster: CachedClient) -> dict[type, object]:
    """What steps ask, by port."""
    from shared.adapters.kube import KubeInventory
    from shared.adapters.kube.accounts import KubeAccounts
    from shared.adapters.kube.copies import KubeCopies
    from shared.adapters.kube.warnings import KubeWarnings

    catalogs, bundles = content(values, cluster)
    return {
        ports.Cluster: cluster,
        ports.Accounts: KubeAccounts(cluster),
        ports.Copies: KubeCopies(cluster),
        ports.Inventory: KubeInventory(cluster),
        ports.Keys: StoredKeys(cluster),
        ports.Warnings: KubeWarnings(cluster),
        ports.Discovery: cluster,
        ports.Catalogs: catalogs, ports.Content: catalogs, ports.Bundles: bundles,
        ports.Policy: values.policy,
    }  # fmt: skip


def content(values: Settings, cluster: KubeClient) -> tuple[ImageCatalogs, ImageBundles]:
    """What is asked about images."""
    from eventing.content.pulls import puller
    from shared.adapters.content.bundles import ImageBundles
    from shared.adapters.content.catalogs import ImageCatalogs
    from shared.adapters.kube.mirrors import KubeMirrors

    store = Store(values.content, limit_bytes=values.content_bytes)
    mirrors = KubeMirrors(cluster, machine_mirrors)
    pulls = puller(
        values, secret_reader(cluster), mirrors, store.blobs, api=cluster.connection.server, environ=os.environ
    )
    return (catalogs := ImageCatalogs(store, pulls, get=cluster.get)), ImageBundles(pulls, catalogs)


def _trimming(runner: Runner, queue: WorkQueue, journal: RedisJournal, runs: LongRuns) -> Callable[[Claim], RunResult]:
    """Runs claims, and keeps the journal, to which the queue appends their records, within its bound."""

    def once(claim: Claim) -> RunResult:
        return runner.run(claim, lambda jobs: queue.is_lease_valid(claim, jobs), lambda: queue.is_awaited(claim))

    def run(claim: Claim) -> RunResult:
        result = runs.run(claim, once)
        journal.grew(len(result.record))
        return result

    return run


def sink(values: Settings, *, most: int = 0) -> Callable[[Sequence[Event]], None]:
    """A function that writes events to the journal and adds their jobs to the queue, durably when it returns.

    It raises QueueFull when `most` jobs of their namespace wait already (0: any number may wait).
    """
    from eventing.journal import RedisJournal
    from eventing.workqueue import WorkQueue, connect

    client = connect(values.redis_url)
    queue = WorkQueue(client, values)
    journal = RedisJournal(client, max_bytes=values.journal_bytes, also=_journal_files(values, "events"))

    def accept(events: Sequence[Event]) -> None:
        journal.record_events(events)
        for event in events:
            trace = "" if event.traceparent == begun_by(event.id) else event.traceparent  # a watch event has no trace
            queue.add(jobs_for(event), event.id, trace=trace, most=most)

    return accept


def changes(values: Settings) -> Changes:
    """What events told of each kind."""
    from eventing.journal import RedisChanges
    from eventing.workqueue import connect

    return RedisChanges(connect(values.redis_url))


def senders(values: Settings) -> Senders:
    """Who may send events to the endpoint. SettingError when a file of tokens has none."""
    from eventing.endpoint.senders import Senders

    review = None
    if values.endpoint_audience:
        from eventing.endpoint.reviews import reviews_of_senders
        from shared.adapters.kube import KubeClient

        client = KubeClient.from_kubeconfig(values.kubeconfig, agent="olmf/endpoint")
        ours = f"system:serviceaccount:{values.policy.global_namespace}:*"
        review = reviews_of_senders(
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
    from eventing.worker.child import served
    from eventing.workqueue import WorkQueue, connect

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


def _journal_files(values: Settings, program: str) -> Callable[[bytes], None]:
    """A function that writes journal entries to files; each thread has its own files."""
    if not values.journal_files:
        return lambda _: None
    from eventing.journal import JournalFiles

    return JournalFiles(
        Path(values.journal_files), f"{program}-{socket.gethostname()}-{threading.get_native_id()}"
    ).append


def secret_reader(cluster: KubeClient) -> Callable[[str, str], Manifest | None]:
    """What reads the Secrets of a namespace, by name."""
    return lambda namespace, name: SECRET.look_up(cluster.get, name, namespace)


def machine_mirrors() -> Mirrors:
    """The mirrors from `registries.conf` and `OLMF_MIRRORS` of this machine; read when an image is pulled."""
    from shared.adapters.oci.logins import mirrors_of_machine

    return mirrors_of_machine(os.environ, Path.home())
