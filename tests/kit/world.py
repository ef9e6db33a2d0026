"""A cluster in memory: the sandbox's API, the real Runner and Effects, the routes, and a clock that the test moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any, ParamSpec, Self

import orjson
from structlog.testing import capture_logs

from eventing.diagnosis.replay.simulated_queue import WaitingJobs
from eventing.diagnosis.replay.world_ports import ListedCopies, ListedInventory
from eventing.events.event import Event
from eventing.events.hints import hints
from eventing.events.job import Job
from eventing.journal.recorder import Recorder
from eventing.local.apiserver.collector import Collector
from eventing.local.apiserver.direct import Direct
from eventing.local.apiserver.resources import Registry
from eventing.local.apiserver.store import Change, Key, Store
from eventing.local.apiserver.world import World as Sandbox
from eventing.routes import jobs_for
from eventing.runner import Runner, Steps
from eventing.runner.kept_reads import KeptReads
from eventing.runner.steps import Step, arguments
from eventing.workqueue import Claim
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.adapters.keys import StoredKeys
from shared.adapters.kube import ApiError, Connection, KubeClient
from shared.adapters.kube.accounts import KubeAccounts
from shared.adapters.kube.transport import Transport
from shared.adapters.kube.warnings import KubeWarnings
from shared.api.crds import definitions
from shared.api.manifest import Manifest, metadata, uid_of
from shared.errors import RetryLater, StepError
from shared.kinds import NAMESPACE, Kind, Ref
from shared.ports import (
    Accounts,
    Attempt,
    Clock,
    Cluster,
    Copies,
    Discovery,
    FailureKind,
    Inventory,
    Keys,
    Listing,
    Policy,
    ReadSets,
    Warnings,
    WriteFailure,
)
from shared.step import Outcome, Record

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_STATUS: Mapping[FailureKind, int] = {
    "conflict": 409,
    "invalid": 422,
    "forbidden": 403,
    "gone": 404,
    "unanswered": 500,
    "unavailable": 503,
}
_OP = {"ADDED": names.ADDED, "MODIFIED": names.UPDATED, "DELETED": names.DELETED}
_LONG_AGO = "2020-01-01T00:00:00Z"
P = ParamSpec("P")


@cache
def _template() -> Sandbox:
    """A new cluster that serves our kinds."""
    world = Sandbox(Store(), Registry(), token="", secret=b"", clock=lambda: NOW)
    client = KubeClient(Direct(world))
    for definition in definitions():
        client.create(definition)
    return world


def a_sandbox(clock: Callable[[], datetime] = lambda: NOW) -> Sandbox:
    """A new cluster that serves our kinds."""
    return copied(_template(), clock)


class AtRest(Direct):
    """A copy of a sandbox whose controllers had nothing left to do."""

    def __init__(self, sandbox: Sandbox) -> None:
        Transport.__init__(self, Connection("sandbox://here"))
        self._world = replace(sandbox, asks_others=False)
        self._collector = Collector(self._world)
        self._collector._due.clear()


def copied(sandbox: Sandbox, clock: Callable[[], datetime]) -> Sandbox:
    """Another cluster with the same objects and kinds; what is stored is never changed in place."""
    store, registry = Store(), copy(sandbox.registry)
    store.revision = store.oldest = sandbox.store.revision
    store._tables = {table: dict(found) for table, found in sandbox.store._tables.items()}
    registry._served = {version: dict(found) for version, found in registry._served.items()}
    registry._custom = dict(registry._custom)
    return replace(sandbox, store=store, registry=registry, clock=clock)


class Client(KubeClient):
    """The client of a sandbox, which counts what it is asked, and refuses writes as it is told."""

    def __init__(self, transport: Direct) -> None:
        super().__init__(transport)
        self.requests: Counter[str] = Counter()
        self.refused: dict[Ref, WriteFailure] = {}

    def _asked(self, ref: Ref) -> None:
        self.requests["write"] += 1
        self._refuse(ref)

    def _refuse(self, ref: Ref) -> None:
        if failure := self.refused.get(ref):
            raise ApiError(_STATUS[failure.kind], failure.kind, failure.message)

    def create(self, manifest: Manifest, **options: Any) -> Manifest:
        self._asked(Ref.of(manifest))
        return super().create(manifest, **options)

    def try_out(self, manifest: Manifest, **options: Any) -> None:
        self.requests["try"] += 1
        self._refuse(Ref.of(manifest))
        super().try_out(manifest, **options)

    def apply(self, manifest: Manifest, **options: Any) -> Manifest:
        self._asked(Ref.of(manifest))
        return super().apply(manifest, **options)

    def replace(self, manifest: Manifest) -> Manifest:
        self._asked(Ref.of(manifest))
        return super().replace(manifest)

    def replace_status(self, manifest: Manifest) -> Manifest:
        self._asked(Ref.of(manifest))
        return super().replace_status(manifest)

    def merge(self, ref: Ref, patch: Manifest, **options: Any) -> Manifest:
        self._asked(ref)
        return super().merge(ref, patch, **options)

    def delete(self, ref: Ref, **options: Any) -> None:
        self._asked(ref)
        super().delete(ref, **options)


class Objects(MutableMapping[Ref, Manifest]):
    """What a sandbox holds beyond a new cluster. What is set is stored as it is: no rule of the API is applied."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._initial = {one.key for one in sandbox.store.all()}

    def _key(self, ref: Ref) -> Key:
        group, _, version = ref.api_version.rpartition("/")
        for one in self._sandbox.registry.in_version(group, version):
            if one.kind == ref.kind:
                return one.table, ref.namespace, ref.name
        raise KeyError(ref)

    def serve_later(self, definition: Ref) -> None:
        """Take a definition back to the moment when the server has it, and does not serve it yet."""
        stored = self._sandbox.store.get(self._key(definition))
        assert stored is not None
        manifest = {**stored.copy(), "status": {}}
        self._sandbox.store._keep(replace(stored, manifest=manifest, raw=orjson.dumps(manifest)))
        self._sandbox.registry.define(definition.name, ())

    def is_served(self, kind: Kind) -> bool:
        """Whether objects of that kind can exist."""
        group, _, version = kind.api_version.rpartition("/")
        return self._sandbox.registry.find(group, version, kind.plural) is not None

    def __getitem__(self, ref: Ref) -> Manifest:
        if (stored := self._sandbox.store.get(self._key(ref))) is None:
            raise KeyError(ref)
        return stored.copy()

    def __setitem__(self, ref: Ref, manifest: Manifest) -> None:
        if ref.namespace:
            self.setdefault_namespace(ref.namespace)
        old = self.get(ref) or {}
        meta = metadata(manifest)
        passed = {
            "uid": meta.get("uid") or uid_of(old) or f"uid-{self._sandbox.store.revision + 1}",
            "creationTimestamp": meta.get("creationTimestamp")
            or metadata(old).get("creationTimestamp")
            or self._sandbox.now(),
        }
        self._sandbox.store.put(self._key(ref), deepcopy({**manifest, "metadata": {**meta, **passed}}))

    def setdefault_namespace(self, name: str) -> None:
        key = ("/namespaces", "", name)
        if self._sandbox.store.get(key) is None:
            namespace = self._sandbox.new_object("v1", "Namespace", name)
            account: Key = ("/serviceaccounts", name, "default")
            self._initial |= {key, account}
            long_ago = {"name": "default", "namespace": name, "uid": f"uid-{name}", "creationTimestamp": _LONG_AGO}
            self._sandbox.store.put(account, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": long_ago})
            self._sandbox.store.put(key, {**namespace, "spec": {"finalizers": ["kubernetes"]}})

    def __delitem__(self, ref: Ref) -> None:
        if ref not in self:
            raise KeyError(ref)
        self._sandbox.store.remove(self._key(ref))

    def __iter__(self) -> Iterator[Ref]:
        return (Ref.of(one.manifest) for one in self._sandbox.store.all() if one.key not in self._initial)

    def __contains__(self, ref: object) -> bool:
        if not isinstance(ref, Ref):
            return False
        try:
            return self._sandbox.store.get(self._key(ref)) is not None
        except KeyError:
            return False

    def __len__(self) -> int:
        return sum(1 for _ in self)


_STEPS = Steps()


class NotedSteps(Steps):
    """The steps, with the last outcome, and the last error that is no answer of a step."""

    outcome = Outcome()
    error: BaseException | None = None

    def __getitem__(self, name: str) -> Step:
        found = _STEPS[name]
        return Step(found.name, self._noted(found.call), found.ports, found.code)

    def _noted(self, call: Callable[P, Outcome]) -> Callable[P, Outcome]:
        @wraps(call)
        def noted(*words: P.args, **named: P.kwargs) -> Outcome:
            try:
                self.outcome = call(*words, **named)
            except RetryLater as later:
                self.outcome = Outcome(later.writes, again_in=later.after, wait=later.wait)
                raise
            except StepError:
                raise
            except Exception as error:
                self.error = error
                raise
            return self.outcome

        return noted


class World:
    """A cluster in which whatever happens enqueues the steps of some groups; time moves only by `later`."""

    groups: tuple[str, ...] = ()

    def __init__(
        self, *objects: Manifest, policy: Policy | None = None, ports: Mapping[type, Any] | None = None
    ) -> None:
        self.time, self.server = NOW, "v1.35.4"
        self.queue = WaitingJobs()
        self.jobs, self.delayed = self.queue.ready, self.queue.delayed
        self._kept: dict[tuple[str, Ref], bytes] = {}
        self.events: list[Record] = []
        self.emitted: list[str] = []
        self.policy = policy or Policy()
        self._own_ports = dict(ports or {})
        self._live_in(a_sandbox(self.now))
        for manifest in objects:
            self.put(manifest)

    def _live_in(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.api = Client(AtRest(sandbox))
        self.objects = Objects(sandbox)
        self.requests, self.refused = self.api.requests, self.api.refused
        self.keys = StoredKeys(self)
        self.ports: dict[type, Any] = {
            Cluster: self, Discovery: self, Copies: ListedCopies(self), Inventory: ListedInventory(self),
            ReadSets: KeptReads(self._kept_of, self._forget_others, _STEPS),
            Accounts: KubeAccounts(self.api), Warnings: KubeWarnings(self.api), Keys: self.keys, **self._own_ports,
        }  # fmt: skip
        self._steps, self._recorder = NotedSteps(), Recorder(b"key")
        sandbox.store.observe(self._changed)

    def copy(self) -> Self:
        """The same cluster at the same time once more: what happens in one is not seen in the other."""
        self._sandbox_catches_up()
        other = copy(self)
        other.queue = WaitingJobs({job: [*causes] for job, causes in self.jobs.items()}, dict(self.delayed))
        other.jobs, other.delayed = other.queue.ready, other.queue.delayed
        other._kept = dict(self._kept)
        other.events, other.emitted = [*self.events], [*self.emitted]
        other._own_ports = deepcopy(self._own_ports)
        other._live_in(copied(self._sandbox, other.now))
        other.objects._initial = set(self.objects._initial)
        other.requests.update(self.requests)
        other.refused.update(self.refused)
        return other

    @property
    def writes(self) -> int:
        """A number that grows with every write that changes something."""
        return self._sandbox.store.revision

    # ports
    def now(self) -> datetime:
        return self.time

    def version(self) -> str:
        return self.server

    def find(self, api_version: str, kind: str) -> Kind | None:
        return self.api.find(api_version, kind)

    def get(self, ref: Ref) -> Manifest | None:
        self.requests["read"] += 1
        return self.api.get(ref)

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        self.requests["read"] += 1
        return self.api.list(kind, namespace, labels=labels, most=most)

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        return tuple(map(self.get, refs))

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        return tuple(self.list(one.kind, one.namespace, labels=one.labels) for one in listings)

    # what people and other controllers do
    def put(self, manifest: Manifest) -> None:
        """Create or replace an object, as an API server stores it; an owner may be named without its uid."""
        ref, meta = Ref.of(manifest), dict(metadata(manifest))
        old = self.objects.get(ref) or {}
        if uid_of(old):
            meta["uid"] = uid_of(old)
        if owners := meta.get("ownerReferences"):
            meta["ownerReferences"] = [
                {**one, "uid": uid_of({"metadata": one}) or self._uid(one, ref.namespace)} for one in owners
            ]
        if ref.kind == "CustomResourceDefinition" and "status" not in manifest:
            stored = [one["name"] for one in manifest["spec"]["versions"] if one["storage"]]
            manifest = {**manifest, "status": {"storedVersions": stored}}
        self.objects[ref] = {**manifest, "metadata": meta}

    def _uid(self, owner: Manifest, namespace: str) -> str:
        return uid_of(self.objects.get(Ref(owner["apiVersion"], owner["kind"], owner["name"], namespace)) or {})

    @contextmanager
    def edited(self, ref: Ref) -> Iterator[Manifest]:
        """An object to change in the block, and stored after it."""
        manifest = self.objects[ref]
        yield manifest
        self.put(manifest)

    def remove(self, ref: Ref) -> None:
        """Delete an object, whatever its finalizers are."""
        if ref in self.objects:
            del self.objects[ref]
            self._sandbox_catches_up()

    def later(self, **delta: float) -> None:
        """Let time pass; what was due meanwhile runs."""
        self.time += timedelta(**delta)
        self.queue.wake(_ms(self.time))
        self.settle()

    # the machinery
    def _sandbox_catches_up(self) -> None:
        self.api.list(NAMESPACE)  # its controllers have run when any request returns

    def _changed(self, change: Change) -> None:
        manifest = change.now.manifest
        self._enqueued(Event("id", _OP[change.type], "test", Ref.of(manifest), hints(manifest)))

    def receive(self, kind: str, ref: Ref) -> None:
        """What an event about an object enqueues."""
        self._enqueued(Event("id", kind, "test", ref, hints(self.objects.get(ref) or {"metadata": {}})))

    def _enqueued(self, event: Event) -> None:
        self._add(jobs_for(event), event.id)

    def _add(self, jobs: Iterable[Job], cause: str) -> None:
        for job in jobs:
            if job.group in self.groups:
                self.queue.add(job, cause)

    def settle(self, limit: int = 300) -> None:
        """Run what was enqueued until nothing is left; delays of up to a second pass by themselves."""
        for _ in range(limit):
            if not self.jobs:
                self.queue.wake(_ms(self.time + timedelta(seconds=1)))
            if (found := self.queue.take()) is None:
                return
            self.run(found[0])
        raise AssertionError(f"never at rest; still enqueued: {[job.step for job in self.jobs]}")

    def decide(self, job: Job, attempt: Attempt | None = None) -> Outcome:
        """What a step decides; nothing is performed."""
        step, ports = self._steps[job.step], {**self.ports, Policy: self.policy, Attempt: attempt or Attempt()}
        ports[Clock] = self
        return step.call(job.ref, **arguments(step, ports.__getitem__))

    def run(self, job: Job) -> Outcome:
        """Run a step as a worker does, and return its last decision. Raises what is a bug of the step."""
        ports = {**self.ports, Policy: self.policy}
        runner = Runner(ports, self.api, self, steps=self._steps, recorder=self._recorder)
        self._steps.error = None
        with capture_logs():
            result = runner.run(Claim(job.step, job.ref, job.group, job.lane, 1), lambda *_: True)
        if self._steps.error is not None:
            raise self._steps.error
        outcome = self._steps.outcome
        self.events += [write for write in outcome.writes if isinstance(write, Record)]
        self.emitted += [emit.type for emit in outcome.emits]
        self._finish(job, result)
        return outcome

    def _kept_of(self, jobs: Sequence[Job]) -> Iterator[bytes]:
        """What the last runs of jobs that do not wait read of catalogs, as the queue keeps it."""
        waiting = {(job.step, job.ref) for job in (*self.jobs, *self.delayed)}
        for key in ((job.step, job.ref) for job in jobs):
            yield b"" if key in waiting else self._kept.get(key, b"")

    def _forget_others(self, jobs: Sequence[Job]) -> int:
        others = self._kept.keys() - {(job.step, job.ref) for job in jobs}
        self._kept = {key: one for key, one in self._kept.items() if key not in others}
        return len(others)

    def _finish(self, job: Job, result: RunResult) -> None:
        assert result.failure in ("", "retry"), result.message
        self._kept.pop((job.step, job.ref), None)
        if result.read_set and not result.failure:
            self._kept[job.step, job.ref] = result.read_set
        self._add(result.jobs, result.run_id)
        if result.again_in is not None:
            self.queue.delay(job, _ms(self.time + result.again_in))


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
