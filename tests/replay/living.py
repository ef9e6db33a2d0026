"""A cluster in memory for replay tests, in which every route and every step is at work, and which is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from eventing.diagnosis.replay.simulated_queue import SimulatedQueue
from eventing.diagnosis.replay.world_ports import ports_of
from eventing.events.event import Event, change_id
from eventing.events.hints import hints
from eventing.journal import ReceivedEvent
from eventing.local.apiserver.direct import Direct
from eventing.local.apiserver.store import Change
from eventing.runner import Steps
from shared import names
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.domain.image_source import ImageSource
from shared.kinds import EVENT, NAMESPACE, Ref
from shared.ports import Catalogs, Pulled, Unavailable
from tests.kit.captures import captured
from tests.kit.world import Client, Objects, a_sandbox

_BEGIN_MS = 1_767_225_600_000
_MOST_RUNS = 10_000
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
    """Every change in it enqueues the steps, until nothing is left to do; all of it is recorded."""

    def __init__(self, more: Mapping[type, object] = MappingProxyType({}), steps: Steps | None = None) -> None:
        sandbox = a_sandbox()
        self.api = Client(Direct(sandbox))
        self.objects = Objects(sandbox)
        ports = {**ports_of(self.api), Catalogs: NoCatalogs(), **more}
        self.queue = SimulatedQueue(self.api, ports, steps or Steps(), tuple, _BEGIN_MS, _MOST_RUNS, self._note)
        self.index = self.queue.index
        self._at = _BEGIN_MS
        self._is_watched = True
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
        """Capture it."""
        captured(self.index, path, self.objects.values())
        return path

    def _changed(self, change: Change) -> None:
        manifest = change.now.copy()
        ref, verb = Ref.of(manifest), _VERB[change.type]
        if not self._is_watched or ref.kind == EVENT.kind:
            return
        event_id = change_id(uid_of(manifest), resource_version_of(manifest), verb)
        self.queue.enqueue(Event(event_id, names.RESOURCE_EVENT + verb, "api", ref, hints(manifest)))

    def _note(self, entry: Event | bytes) -> None:
        if isinstance(entry, Event):
            self._at += 1
            self.index.add(ReceivedEvent.of(entry, self._at))

    def _settle(self) -> None:
        self.api.list(NAMESPACE)  # the sandbox's own controllers have run when any request returns
        self.queue.settle(self.queue.now_ms)
        bugs = [run.message for run in self.index.runs.values() if run.failure not in ("", "retry")]
        assert not bugs, bugs
