"""Reads the resolver's inputs for a namespace from a capture: captured objects and recorded catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from eventing.diagnosis.replay.archive import Capture
from eventing.diagnosis.replay.ports import AnswersInTime, NotRecorded
from eventing.diagnosis.replay.recording import Recording
from eventing.journal.journal_index import Unrecorded
from shared.api.manifest import Manifest, carries
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, CatalogReader, Inputs
from shared.kinds import Kind, Ref
from shared.ports import Catalogs, Listing, Policy, Unavailable
from shared.reading.extension import Sources
from shared.reading.namespace import read_namespace


def inputs_of_capture(
    capture: Capture, namespace: str, readers: Mapping[CatalogKey, CatalogReader], *, is_whole: bool
) -> Inputs:
    """The inputs for a namespace at the end of a capture; `readers` replace its recorded catalogs."""
    found = content_of_capture(capture)
    scope = replace(found.policy, plan_scope="namespace" if is_whole else "component")
    inputs = read_namespace(found.cluster, found.catalogs, namespace, scope, is_whole=True).inputs
    known = {key: replace(inputs.catalogs.get(key, Catalog(key)), reference="as given", problem="") for key in readers}
    return replace(inputs, catalogs={**inputs.catalogs, **known}, readers={**inputs.readers, **readers})


def content_of_capture(capture: Capture) -> Sources:
    """The objects at the end of a capture, its catalogs as they answered, and the policy of its installation."""
    recording = Recording(capture)
    policy, catalogs = (
        AnswersInTime(recording.index, recording.answers(port), lambda: recording.ended) for port in (Policy, Catalogs)
    )
    chosen: Policy = policy.port(Policy) if recording.answers(Policy) else Policy()
    return Sources(CaptureObjects(recording.final()), _Recorded(catalogs.port(Catalogs)), chosen)


def objects_of_capture(capture: Capture) -> CaptureObjects:
    """The objects at the end of a capture."""
    return CaptureObjects(Recording(capture).final())


@dataclass(frozen=True, slots=True)
class CaptureObjects:
    """Captured objects, listed as in a cluster."""

    objects: Mapping[Ref, Manifest]

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it did not exist."""
        return self.objects.get(ref)

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        """The objects of a kind in a namespace that carry all of `labels`."""
        found = (ref for ref in self.objects if (ref.api_version, ref.kind) == (kind.api_version, kind.kind))
        listed = (self.objects[ref] for ref in sorted(found) if namespace in ("", ref.namespace))
        return tuple(islice((one for one in listed if carries(one, labels or {})), most or None))

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        """What `get` answers for each."""
        return tuple(map(self.get, refs))

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        """What `list` answers for each."""
        return tuple(self.list(one.kind, one.namespace, labels=one.labels) for one in listings)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Recorded catalogs; content that was not read during the recording is unavailable."""

    catalogs: Any

    def package(self, *arguments: Any) -> Any:
        """One package."""
        return self._asked("package", arguments)

    def packages(self, *arguments: Any) -> Any:
        """The names of all packages."""
        return self._asked("packages", arguments)

    def providers(self, *arguments: Any) -> Any:
        """The packages that provide an API."""
        return self._asked("providers", arguments)

    def documents(self, *arguments: Any) -> Any:
        """The documents of a package."""
        return self._asked("documents", arguments)

    def _asked(self, method: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(self.catalogs, method)(*arguments)
        except (NotRecorded, Unrecorded):
            what = " ".join(map(str, arguments[:2]))
            return Unavailable("NotRecorded", f"{what} is not in the capture; add --catalog NAMESPACE/NAME=PATH|IMAGE")
