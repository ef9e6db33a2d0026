"""A cluster in memory for replay tests, in which every route and every step is at work, and which is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from eventing.diagnosis.replay import capture
from eventing.diagnosis.replay.world_ports import ports_of
from eventing.events.event import Event, change_id
from eventing.events.hints import hints
from eventing.events.job import Job
from eventing.journal import JournalIndex, ReceivedEvent
from eventing.journal.records import unpack_run
from eventing.local.apiserver.direct import Direct
from eventing.local.apiserver.store import Change
from eventing.routes import jobs_for
from eventing.runner import Runner, Steps
from eventing.workqueue import Claim
from shared import names
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.domain.image_source import ImageSource
from shared.kinds import EVENT, NAMESPACE, Ref
from shared.ports import Catalogs, Pulled, Unavailable
from tests.kit.cluster import FixedClock
from tests.kit.world import Client, Objects, a_sandbox

NONE = Unavailable("NotFound", "no image is there")
_VERB = {"ADDED": "add", "MODIFIED": "update", "DELETED": "delete"}


class NoCatalogs:
    """Catalogs of which none can be had."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        return NONE

    def package(self, reference: str, name: str, source: ImageSource) -> Unavailable:
        return NONE

    def packages(self, reference: str, source: ImageSource) -> Unavailable:
        return NONE


class LivingWorld:
    """Whatever happens in it enqueues the steps, until nothing is left to do; all of it is recorded."""

    def __init__(self, more: Mapping[type, object] = MappingProxyType({}), steps: Steps | None = None) -> None:
        clock = FixedClock()
        sandbox = a_sandbox(clock.now)
        self.api = Client(Direct(sandbox))
        self.objects = Objects(sandbox)
        self.index = JournalIndex()
        self._at = 1_767_225_600_000
        self._is_watched = True
        self._waiting: dict[Job, list[str]] = {}
        self._runner = Runner(
            {**ports_of(self.api), Catalogs: NoCatalogs(), **more}, self.api, clock, steps=steps or Steps()
        )
        sandbox.store.observe(self._changed)

    def keep(self, *manifests: Manifest) -> None:
        """Objects that were there before, as they are; they enqueue nothing."""
        self._is_watched = False
        for manifest in manifests:
            self.objects[Ref.of(manifest)] = manifest
        self._is_watched = True

    def add(self, manifest: Manifest) -> None:
        """Somebody creates an object."""
        if (namespace := Ref.of(manifest).namespace) and self.api.get(NAMESPACE.ref(namespace)) is None:
            self.objects.setdefault_namespace(namespace)
        self.api.create(manifest)
        self._settle()

    def change(self, ref: Ref, patch: Manifest, *, subresource: str = "") -> None:
        """Somebody patches an object."""
        self.api.merge(ref, patch, subresource=subresource)
        self._settle()

    def remove(self, ref: Ref) -> None:
        """Somebody deletes an object."""
        self.api.delete(ref)
        self._settle()

    def save(self, path: Path) -> Path:
        """Take it home."""
        capture(self.index, path, self.objects.values())
        return path

    def _changed(self, change: Change) -> None:
        manifest = change.now.copy()
        ref, verb = Ref.of(manifest), _VERB[change.type]
        if not self._is_watched or ref.kind == EVENT.kind:
            return
        event_id = change_id(uid_of(manifest), resource_version_of(manifest), verb)
        event = Event(event_id, names.RESOURCE_EVENT + verb, "api", ref, hints(manifest))
        self._at += 1
        self.index.add(ReceivedEvent.of(event, self._at))
        for job in jobs_for(event):
            self._waiting.setdefault(job, []).append(event_id)

    def _settle(self) -> None:
        self.api.list(NAMESPACE)  # the sandbox's own controllers have run when any request returns
        while self._waiting:
            job = next(iter(self._waiting))
            self._run(job, tuple(self._waiting.pop(job)))

    def _run(self, job: Job, causes: tuple[str, ...]) -> None:
        result = self._runner.run(Claim(job.step, job.ref, job.group, job.lane, 1, causes=causes), lambda *_: True)
        assert result.failure in ("", "retry"), result.message
        self.index.add(unpack_run(result.record))
        for enqueued in result.jobs:
            self._waiting.setdefault(enqueued, []).append(result.run_id)
