"""What is wrong with a revision before anything of it is applied (v1.md §21.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from shared.api.manifest import ReadOnly, metadata, name_of, namespace_of
from shared.domain.extension.phases.order import Phase, group_version

_FORBIDDEN: Final = ("uid", "generation", "generateName", "finalizers", "ownerReferences", "resourceVersion")
"""Metadata that only the cluster, or another revision, could have put there."""
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LONGEST: Final = 63


def problems(phases: Sequence[Phase]) -> tuple[str, ...]:
    """A sentence for each phase that cannot be applied."""
    twice = _duplicates(phases)
    return tuple(filter(None, (_phase(phase, twice) for phase in phases)))


def _phase(phase: Phase, twice: dict[str, list[str]]) -> str:
    wrong = [f"phase name invalid: {', '.join(found)}"] if (found := _name(phase.name)) else []
    wrong += [f"{_identity(one)}: {', '.join(found)}" for one in phase.objects if (found := list(_object(one)))]
    wrong += [
        f"{identity}: duplicate object found in phases: {', '.join(places)}"
        for identity, places in sorted(twice.items())
        if phase.name in places
    ]
    return f'phase "{phase.name}": {", ".join(wrong)}' if wrong else ""


def _name(name: str) -> list[str]:
    found = [] if len(name) <= _LONGEST else [f"must be no more than {_LONGEST} characters"]
    if not _LABEL.fullmatch(name):
        found.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
            f"validation is '{_LABEL.pattern}')"
        )
    return found


def _object(manifest: ReadOnly) -> Iterator[str]:
    for field in ("apiVersion", "kind"):
        if not manifest.get(field):
            yield f"{field}: Required value: must not be empty"
    for field in _FORBIDDEN:
        if metadata(manifest).get(field):
            yield f"metadata.{field}: Forbidden: must be empty"


def _duplicates(phases: Sequence[Phase]) -> dict[str, list[str]]:
    """The phases of each object that is there more than once."""
    found: dict[str, list[str]] = {}
    for phase in phases:
        for one in phase.objects:
            found.setdefault(_identity(one), []).append(phase.name)
    return {identity: sorted(set(places)) for identity, places in found.items() if len(places) > 1}


def _identity(manifest: Any) -> str:
    group, version = group_version(manifest)
    kind = manifest.get("kind") or ""
    return f"{group}/{version}, Kind={kind} {namespace_of(manifest)}/{name_of(manifest)}"
