"""The upgrade of a CustomResourceDefinition: whole, version by version, and between the versions it serves."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from shared.api.manifest import ReadOnly, name_of
from shared.api.views import CustomResourceDefinition
from shared.domain.crd_safety.checks import Finding, compare
from shared.domain.crd_safety.flatten import flatten
from shared.domain.go.text import quoted

_KUBE: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES: Final = {"alpha": 0, "beta": 1, None: 2}
_API: Final = "apiextensions.k8s.io/v1"
_KIND: Final = "CustomResourceDefinition"
FIELD: Final = "existingFieldRemoval"
WHOLE: Final = ("scope", "storedVersionRemoval", FIELD)
"""The checks of a definition as a whole."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why the upgrade is refused."""

    version: str
    """Empty when it is about the whole definition; `v1 -> v2` when it is about two served versions."""
    path: str
    finding: Finding

    @property
    def place(self) -> tuple[str, str]:
        """Version and path of what it is about; both empty when it is about the whole definition."""
        return (self.version, self.path) if self.path else self.finding.place

    @property
    def line(self) -> str:
        """As the reference tells it."""
        place = f"{self.version}: {self.path}: " if self.version else ""
        return f"{place}{self.finding.check}: {self.finding.message}"


def problems(old: ReadOnly, new: ReadOnly) -> tuple[Problem, ...]:
    """Why the upgrade is refused; nothing when it is safe. RecursionError for schemas that are nested too deep."""
    if (new.get("apiVersion") or _API, new.get("kind") or _KIND) != (_API, _KIND):
        return ()
    before, after = _schemas(old), _schemas(new)
    same = [
        Problem(version, path, finding)
        for version in sorted(before.keys() & after.keys(), key=_age)
        for path, finding in _changes(before[version], after[version])
    ]
    whole = (Problem("", "", finding) for finding in _whole(old, new, before, after))
    return (*whole, *same, *_between(old, new))


def message(new: ReadOnly, found: Sequence[Problem]) -> str:
    """All problems of a definition, a line each; empty without any."""
    lines = "\n".join(problem.line for problem in found)
    return f"validating upgrade for CRD {quoted(name_of(new))}: {lines}" if found else ""


def lost_versions(old: ReadOnly, new: ReadOnly) -> list[str]:
    """The versions in which objects are stored, and which the new edition does not have."""
    left = {version.get("name") for version in versions(new)}
    return [version for version in CustomResourceDefinition(old).stored_versions if version not in left]


_Schemas = Mapping[str, Mapping[str, ReadOnly]]
"""Version to path to schema."""


def _schemas(crd: ReadOnly) -> _Schemas:
    return {str(version.get("name")): flatten(version) for version in versions(crd)}


def versions(crd: ReadOnly) -> Sequence[ReadOnly]:
    """The versions of a definition; what is null is one that says nothing."""
    return [version or {} for version in (crd.get("spec") or {}).get("versions") or ()]


def _changes(old: Mapping[str, ReadOnly], new: Mapping[str, ReadOnly]) -> Iterator[tuple[str, Finding]]:
    """What is wrong with each path of the old schema; one that is gone is compared with nothing."""
    for path in sorted(old):
        yield from ((path, finding) for finding in compare(old[path], new.get(path) or {}))


def _whole(old: ReadOnly, new: ReadOnly, before: _Schemas, after: _Schemas) -> Iterator[Finding]:
    was, will_be = (CustomResourceDefinition(crd).scope for crd in (old, new))
    if was != will_be:
        yield Finding("scope", f"scope changed : {quoted(was)} -> {quoted(will_be)}", was, will_be)
    if removed := lost_versions(old, new):
        yield Finding(
            "storedVersionRemoval",
            f"stored versions removed : [{' '.join(removed)}]",
            list(CustomResourceDefinition(old).stored_versions),
            sorted(after),
            place=(", ".join(removed), ""),
        )
    for version in sorted(before.keys() & after.keys(), key=_age):
        for path in sorted(before[version].keys() - after[version].keys()):
            kind = before[version][path].get("type")
            yield Finding(FIELD, f"removed field : {version}.{path}", kind, place=(version, path))


def _between(old: ReadOnly, new: ReadOnly) -> Iterator[Problem]:
    """What a client of one served version would miss in a newer one, unless it was missing before."""
    if CustomResourceDefinition(new).converts_by_webhook:
        return
    known = {_similarity(problem) for problem in _pairs(old) if problem.finding.known is not None}
    yield from (problem for problem in _pairs(new) if _similarity(problem) not in known)


def _pairs(crd: ReadOnly) -> Iterator[Problem]:
    served = [version for version in versions(crd) if version.get("served")]
    ordered = sorted(served, key=lambda version: _age(str(version.get("name"))))
    for older, newer in combinations(ordered, 2):
        label = f"{older.get('name')} -> {newer.get('name')}"
        yield from (Problem(label, path, finding) for path, finding in _changes(flatten(older), flatten(newer)))


def _similarity(problem: Problem) -> tuple[Hashable, ...]:
    return problem.version, problem.path, problem.finding.check, problem.finding.message, problem.finding.known


def _age(version: str) -> tuple[bool, int, int, int, str]:
    """Ascending as Kubernetes ranks versions: alpha, beta, stable; what is no such version comes first."""
    match = _KUBE.fullmatch(version)
    if match is None:
        return (False, 0, 0, 0, version)
    major, stage, minor = match.groups()
    return (True, _STAGES[stage], int(major), int(minor or 0), version)
