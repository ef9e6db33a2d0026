"""A small living world for replay tests: an API server in memory, every route, every step, and a recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from eventing.diagnosis.replay import capture
from eventing.diagnosis.replay.world_ports import ListedCopies, ListedInventory, NothingWarned
from eventing.events.event import Event, change_id
from eventing.events.hints import hints
from eventing.events.job import Job
from eventing.journal import JournalIndex, ReceivedEvent
from eventing.journal.records import unpack_run
from eventing.routes import jobs_for
from eventing.runner import Runner
from eventing.workqueue import Claim
from shared import names
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.domain.image_source import ImageSource
from shared.kinds import EVENT, Ref
from shared.ports import Catalogs, Cluster, Copies, Discovery, Inventory, Pulled, Unavailable, Warnings
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock

NONE = Unavailable("NotFound", "no image is there")


class NoCatalogs:
    """Catalogs of which none can be had."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        return NONE

    def package(self, reference: str, name: str, source: ImageSource) -> Unavailable:
        return NONE

    def packages(self, reference: str, source: ImageSource) -> Unavailable:
        return NONE


class LivingWorld:
    """Whatever happens in it rings the steps, until nothing is left to do; all of it is recorded."""

    def __init__(self, more: Mapping[type, object] = MappingProxyType({})) -> None:
        self.api = FakeApi()
        self.book = JournalIndex()
        self._at = 1_767_225_600_000
        self._waiting: dict[Job, list[str]] = {}
        ports: dict[type, object] = {
            Cluster: self.api,
            Copies: ListedCopies(self.api),
            Discovery: self.api,
            Inventory: ListedInventory(self.api),
            Catalogs: NoCatalogs(),
            Warnings: NothingWarned(),
            **more,
        }
        self._runner = Runner(ports, self.api, FixedClock())

    def add(self, manifest: Manifest) -> None:
        """Somebody creates an object."""
        self._happened(self.api.create(manifest), "add")

    def change(self, ref: Ref, patch: Manifest) -> None:
        """Somebody patches an object."""
        self._happened(self.api.merge(ref, patch), "update")

    def remove(self, ref: Ref) -> None:
        """Somebody deletes an object."""
        before = self.api.objects[ref]
        self.api.delete(ref)
        self._happened(before, "delete")

    def save(self, path: Path) -> Path:
        """Take it home."""
        capture(self.book, path, self.api.objects.values())
        return path

    def _happened(self, manifest: Manifest, verb: str) -> None:
        self._ring(manifest, verb)
        while self._waiting:
            job = next(iter(self._waiting))
            self._run(job, tuple(self._waiting.pop(job)))

    def _ring(self, manifest: Manifest, verb: str) -> None:
        ref = Ref.of(manifest)
        event_id = change_id(uid_of(manifest), resource_version_of(manifest), verb)
        event = Event(event_id, names.RESOURCE_EVENT + verb, "api", ref, hints(manifest))
        self._at += 1
        self.book.add(ReceivedEvent.of(event, self._at))
        for job in jobs_for(event):
            self._waiting.setdefault(job, []).append(event_id)

    def _run(self, job: Job, causes: tuple[str, ...]) -> None:
        before = dict(self.api.objects)
        result = self._runner.run(Claim(job.step, job.ref, job.group, job.lane, 1, causes=causes), lambda _: True)
        assert result.failure in ("", "retry"), result.message
        self.book.add(unpack_run(result.record))
        for rung in result.jobs:
            self._waiting.setdefault(rung, []).append(result.run_id)
        for ref in before.keys() | self.api.objects.keys():
            now = self.api.objects.get(ref)
            if now is not before.get(ref) and ref.kind != EVENT.kind:
                verb = "add" if ref not in before else "update" if now else "delete"
                self._ring(now or before[ref], verb)
