"""Whether stored objects fit a new edition of their definition (catalog.md §4.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.api.views import CustomResourceDefinition
from shared.domain.crd_safety.checks import Finding
from shared.domain.crd_safety.defects import Defect
from shared.domain.crd_safety.fitting import defects
from shared.domain.crd_safety.upgrade import Problem, versions
from shared.kinds import Kind

CHECK: Final = "storedObject"
"""What a finding about an object is called."""


class Misfit(NamedTuple):
    """An object that the new schema refuses."""

    kind: Kind
    place: str
    """Namespace and name."""
    defects: tuple[Defect, ...]

    def sentence(self, new: ReadOnly) -> str:
        """As OLM tells it."""
        return (
            f'error validating existing CRs against new CRD\'s schema for "{name_of(new)}": error validating '
            f"{self._object}: updated validation is too restrictive: {self._defects}"
        )

    @property
    def brief(self) -> str:
        """The same of an object that is told behind another one."""
        return f"{self._object}: {self._defects}"

    @property
    def _object(self) -> str:
        return f'{self.kind.api_version}, Kind={self.kind.kind} "{self.place}"'

    @property
    def _defects(self) -> str:
        listed = list(dict.fromkeys(map(str, self.defects)))
        return listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"

    @property
    def problems(self) -> Iterator[Problem]:
        """As findings beside those about the definition."""
        for one in self.defects:
            path = f"^.{one.path}" if one.path else "^"
            yield Problem(self.kind.version, path, Finding(CHECK, f"{self.place}: {one.text}", one.value))


def to_check(old: ReadOnly, new: ReadOnly) -> tuple[Kind, ...]:
    """The versions whose objects have to be looked at: served by both definitions, with another schema."""
    before, after = served(old), served(new)
    crd = CustomResourceDefinition(new)
    plural = crd.resource or crd.resource_kind.lower()  # why: files may leave out what nobody asks here
    found = (
        Kind.or_none(f"{crd.group}/{version}", crd.resource_kind, plural, is_namespaced=not crd.is_cluster_scoped)
        for version in after
        if version in before and before[version] != after[version]
    )
    return tuple(filter(None, found))


def misfits(new: ReadOnly, kind: Kind, objects: Iterable[ReadOnly]) -> Iterator[Misfit]:
    """The objects of a version that its new schema refuses."""
    schema = served(new).get(kind.version) or {}
    for one in objects:
        if found := defects(one, schema):
            yield Misfit(kind, "/".join(filter(None, (namespace_of(one), name_of(one)))), found)


def stored_misfits(old: ReadOnly, new: ReadOnly, objects: Iterable[ReadOnly]) -> Iterator[Misfit]:
    """The same for objects of any kind and version, of which only those of the definition count."""
    kinds = {(kind.api_version, kind.kind): kind for kind in to_check(old, new)}
    for one in objects:
        if kind := kinds.get((str(one.get("apiVersion")), str(one.get("kind")))):
            yield from misfits(new, kind, (one,))


def served(crd: ReadOnly) -> Mapping[str, Manifest]:
    """Schema by name of served version."""
    return {
        str(one.get("name")): (one.get("schema") or {}).get("openAPIV3Schema") or {}
        for one in versions(crd)
        if one.get("served")
    }
