"""A small cluster that performs Outcomes, so that a test can follow a ClusterServiceVersion from step to step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime, timedelta

from functions.cluster_service_version.check_requirements import check_requirements
from functions.cluster_service_version.install_operator import install_operator
from functions.cluster_service_version.probe_operator import probe_operator
from functions.cluster_service_version.replace_operator import replace_operator
from shared.api.manifest import Manifest, metadata, resource_version_of
from shared.kinds import CLUSTER_SERVICE_VERSION, Kind, Ref
from shared.ports import Attempt, Policy, WriteFailure
from shared.step import Create, Delete, Merge, Outcome, Record, Replace, SetStatus, Write
from tests.domain.csv.builders import NOW
from tests.kit.cluster import FakeCluster


class World(FakeCluster):
    """Objects, a clock that the test moves, and a counter of reads."""

    def __init__(
        self, objects: Iterable[Manifest] = (), *, version: str = "v1.35.4", kinds: Iterable[Kind] = ()
    ) -> None:
        super().__init__((deepcopy(item) for item in objects), version=version, kinds=kinds)
        self.time = NOW
        self.reads = 0
        self.events: list[Record] = []
        self.forbidden: frozenset[Ref] = frozenset()
        self.is_prompt = False
        """Deployments are available as soon as they are written."""

    def now(self) -> datetime:
        return self.time

    def get(self, ref: Ref) -> Manifest | None:
        self.reads += 1
        return super().get(ref)

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        self.reads += 1
        return super().list(kind, namespace, labels=labels)

    def csv(self, name: str = "a.v1") -> Manifest:
        return self.objects[csv_ref(name)]

    def step(self, name: str, csv: str = "a.v1", attempt: Attempt | None = None) -> Outcome:
        """Run one step without performing what it decides."""
        ref = csv_ref(csv)
        match name:
            case "check":
                return check_requirements(ref, self, self, self)
            case "install":
                return install_operator(ref, self, self, attempt or Attempt())
            case "probe":
                return probe_operator(ref, self, self, Policy())
        return replace_operator(ref, self, self)

    def run(self, name: str, csv: str = "a.v1") -> Outcome:
        """Run one step and perform what it decides; a refused write runs it again, as the runner does."""
        outcome = self.step(name, csv)
        if failure := self.perform(outcome.writes):
            outcome = self.step(name, csv, Attempt(1, failure))
            self.perform(outcome.writes)
        return outcome

    def settle(self, *names: str) -> None:
        """Run every step on every version (or those named) until none writes any more."""
        for _ in range(40):
            before = deepcopy(self.objects)
            for ref in [csv_ref(name) for name in names] or [*self.objects]:
                if ref.kind == CLUSTER_SERVICE_VERSION.kind:
                    self.walk(ref.name)
            if self.objects == before:
                return
        raise AssertionError("the steps go on writing for ever")

    def walk(self, csv: str) -> None:
        """Run every step once."""
        for step in ("check", "install", "probe", "replace"):
            self.run(step, csv)

    def perform(self, writes: Iterable[Write]) -> WriteFailure | None:
        for index, write in enumerate(writes):
            match write:
                case Create(manifest):
                    if Ref.of(manifest) in self.forbidden:
                        return WriteFailure("forbidden", "deployments is forbidden", index, Ref.of(manifest))
                    self.objects.setdefault(Ref.of(manifest), self._stored(manifest))
                case Replace(manifest):
                    self.objects[Ref.of(manifest)] = self._stored(manifest)
                case Merge(ref, patch, version):
                    self._expect(ref, version)
                    self._patch(ref, patch)
                case SetStatus(ref, status, version):
                    self._expect(ref, version)
                    self.objects[ref] = self._stored({**self.objects[ref], "status": deepcopy(status)})
                case Delete(ref):
                    self._delete(ref)
                case Record():
                    self.events.append(write)
        return None

    def available(self, name: str = "operator", *, status: str = "True", message: str = "") -> None:
        """What the Deployment controller would say."""
        ref = Ref("apps/v1", "Deployment", name, "ns")
        state = {"type": "Available", "status": status, "message": message}
        self.objects[ref] = {**self.objects[ref], "status": {"observedGeneration": 1, "conditions": [state]}}

    def later(self, **delay: float) -> None:
        self.time += timedelta(**delay)

    def _expect(self, ref: Ref, version: str) -> None:
        assert version in ("", resource_version_of(self.objects[ref])), f"a conflict on {ref}"

    def _stored(self, manifest: Manifest) -> Manifest:
        meta = metadata(manifest)
        present = self.objects.get(Ref.of(manifest)) or {}
        version = str(int(resource_version_of(present) or 0) + 1)
        uid = meta.get("uid") or metadata(present).get("uid") or f"uid-{meta['name']}"
        kept = {"status": present["status"]} if "status" in present else {}
        if self.is_prompt and manifest["kind"] == "Deployment":
            kept = {"status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]}}
        return {**kept, **manifest, "metadata": {"generation": 1, **meta, "uid": uid, "resourceVersion": version}}

    def _patch(self, ref: Ref, patch: Manifest) -> None:
        meta = dict(metadata(self.objects[ref]))
        for key, value in patch["metadata"].items():
            meta[key] = {**meta.get(key, {}), **value} if isinstance(value, dict) else value
        self.objects[ref] = self._stored({**self.objects[ref], "metadata": meta})
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            del self.objects[ref]

    def _delete(self, ref: Ref) -> None:
        if ref in self.objects and metadata(self.objects[ref]).get("finalizers"):
            doomed = {**metadata(self.objects[ref]), "deletionTimestamp": "2026-01-01T00:00:00Z"}
            self.objects[ref] = {**self.objects[ref], "metadata": doomed}
        else:
            self.objects.pop(ref, None)


def csv_ref(name: str) -> Ref:
    return CLUSTER_SERVICE_VERSION.ref(name, "ns")
