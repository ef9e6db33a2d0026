"""`olmf run worker`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from eventing.journal import Recorder, RedisChanges, RedisJournal
from eventing.metrics.health import API, REDIS, Health, HealthPort, Heartbeat
from eventing.metrics.listener import listener
from eventing.routes import BY_SUBJECT, ROUTES, TO_SINK, by_subject
from eventing.runner import Runner
from eventing.runner.contested import Contested
from eventing.runner.kept_reads import KeptReads
from eventing.runner.progress import LongRuns
from eventing.runner.steps import Steps
from eventing.tracing.traced_runs import TracedRuns
from eventing.wiring.content import content
from eventing.wiring.intake import journal_files
from eventing.worker.child import limit_seconds
from eventing.worker.crew import one_per_thread
from eventing.worker.parent import work
from eventing.workqueue import Claim, WorkQueue
from eventing.workqueue import connect as connect_redis
from eventing.workqueue.read_sets import keep_only, read_sets
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.trace_notes import TraceNotes
from shared import ports
from shared.adapters.keys import StoredKeys
from shared.adapters.kube import (
    ApiError,
    CachedClient,
    ConnectionSettingError,
    KubeClient,
    KubeInventory,
    SystemClock,
    connect,
)
from shared.adapters.kube.accounts import KubeAccounts
from shared.adapters.kube.copies import KubeCopies
from shared.adapters.kube.patience import answered_within
from shared.adapters.kube.warnings import KubeWarnings
from shared.config import Settings
from shared.kinds import CACHED, HIGH_CARDINALITY

if TYPE_CHECKING:  # why: not installed without the extra `otel`
    from eventing.tracing.open_telemetry import OpenTelemetry

_ANSWERED = 0.9
"""The part of the time of a run after which it waits for no answer, and ends by itself: it would count as a bug of the
step if it were killed."""
Run = Callable[[Claim], RunResult]
log = structlog.get_logger()


def main(values: Settings, announce: Callable[[], None]) -> int:
    """Run steps until SIGTERM; returns the exit code. SettingError without a Redis or a cluster."""
    connect_redis(values.redis_url)  # why: the child would be started for ever
    connect(values.kubeconfig)
    return work(values, runner_factory(values), announce, health_of(values))


def health_of(values: Settings) -> Health:
    """The probes of a worker: whether it drains, and whether Redis and the API server answer."""
    if not values.health_port:
        return Health()
    heartbeat = Heartbeat((REDIS, API))
    port = HealthPort(listener(values, values.health_port), heartbeat)
    return Health(heartbeat, port, lambda: _has_api(values))


def _has_api(values: Settings) -> bool:
    """Whether the API server answers this program's account."""
    try:
        with contextlib.closing(KubeClient(connect(values.kubeconfig))) as cluster:
            cluster.request("GET", "/version")
    except (ApiError, ConnectionSettingError, OSError) as error:
        log.warning("api_server_away", error=str(error))
        return False
    return True


def runner_factory(values: Settings) -> Callable[[WorkQueue], Run]:
    """A factory of what runs claims, called in the child of a worker; threads share the client of the cluster."""

    def make(queue: WorkQueue) -> Run:
        connection = replace(connect(values.kubeconfig), agent="olmf/worker")
        cluster = CachedClient(connection, RedisChanges(queue.client, queue.worker), CACHED, HIGH_CARDINALITY)
        journal = RedisJournal(queue.client, max_bytes=values.journal_bytes)
        runs = LongRuns(values.long_seconds, journal.ran)
        queue.progress = lambda: runs.present
        recording = Recorder(journal.secret())
        queue.forget_records = recording.forget
        routes, steps = by_subject((*ROUTES, *TO_SINK)) if values.sink else BY_SUBJECT, Steps()
        contested = Contested()

        sender = sender_of_spans(values)
        queue.on_end = sender.end if sender else queue.on_end

        def of_thread() -> Run:
            kept = KeptReads(partial(read_sets, queue.client), partial(keep_only, queue.client), steps)
            provided = {
                **_ports(values, cluster), ports.Journal: journal, ports.Runs: runs, ports.ReadSets: kept
            }  # fmt: skip
            recorder = recording.also_to(journal_files(values, "worker"))
            traced = TracedRuns(sender, TraceNotes(queue.client)) if sender else None
            api = traced.api(cluster) if traced else cluster
            runner = Runner(
                provided, api, SystemClock(), routes=routes, steps=steps, recorder=recorder, contested=contested
            )
            once = _once(runner, queue, traced, limit_seconds(values) * _ANSWERED)
            return _trimming(once, journal, runs)

        return one_per_thread(of_thread)

    return make


def _ports(values: Settings, cluster: CachedClient) -> dict[type, object]:
    """The ports of steps, by type."""
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


def sender_of_spans(values: Settings) -> OpenTelemetry | None:
    """What sends spans; None where runs are not traced."""
    if not values.traces:
        return None
    try:
        from eventing.tracing.open_telemetry import OpenTelemetry
    except ModuleNotFoundError as error:
        log.warning("traces_off", error=str(error), fix="pip install 'olm-functions[otel]'")
        return None
    return OpenTelemetry()


def _once(runner: Runner, queue: WorkQueue, traced: TracedRuns | None, seconds: float) -> Run:
    """Runs claims with the lease that the queue gave; the API server has to answer within so many seconds."""

    def once(claim: Claim) -> RunResult:
        with answered_within(seconds):
            return runner.run(claim, partial(queue.lease_left, claim), partial(queue.may_go_on, claim))

    return once if traced is None else lambda claim: traced.run(claim, once)


def _trimming(once: Run, journal: RedisJournal, runs: LongRuns) -> Run:
    """Runs claims, and keeps the journal, to which the queue appends their records, within its bound."""

    def run(claim: Claim) -> RunResult:
        result = runs.run(claim, once)
        journal.grew(len(result.record))
        return result

    return run
