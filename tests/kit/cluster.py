"""An in-memory `Cluster`, `Warnings`, `Discovery` and `Clock` for step tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from shared.adapters.kube.warnings import newest
from shared.api.manifest import Manifest, carries, name_of, namespace_of
from shared.domain.unpack.causes import Warned
from shared.kinds import BY_IDENTITY, EVENT, Kind, Ref
from shared.ports import Listing


class FakeCluster:
    """Answers from a fixed set of objects; implements `Cluster`, `Warnings` and `Discovery`."""

    def __init__(
        self, objects: Iterable[Manifest] = (), *, version: str = "v1.35.4", kinds: Iterable[Kind] = ()
    ) -> None:
        self.objects = {Ref.of(manifest): manifest for manifest in objects}
        self._version = version
        self._kinds = {**BY_IDENTITY, **{(kind.api_version, kind.kind): kind for kind in kinds}}

    def get(self, ref: Ref) -> Manifest | None:
        return self.objects.get(ref)

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        found = (
            manifest
            for ref, manifest in self.objects.items()
            if (ref.api_version, ref.kind) == (kind.api_version, kind.kind)
            and namespace in ("", ref.namespace)
            and carries(manifest, labels or {})
        )
        return tuple(sorted(found, key=lambda manifest: (namespace_of(manifest), name_of(manifest))))[: most or None]

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        return tuple(map(self.get, refs))

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        return tuple(self.list(one.kind, one.namespace, labels=one.labels) for one in listings)

    def about(self, ref: Ref, uid: str) -> tuple[Warned, ...]:
        meant = (ref.kind, ref.name, uid)
        found = [one for one in self.list(EVENT, ref.namespace) if one["type"] == "Warning"]
        about = [one for one in found if tuple(map(one["involvedObject"].get, ("kind", "name", "uid"))) == meant]
        return newest(about)

    def version(self) -> str:
        return self._version

    def find(self, api_version: str, kind: str) -> Kind | None:
        return self._kinds.get((api_version, kind))


class FixedClock:
    """A clock that shows one instant."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now
