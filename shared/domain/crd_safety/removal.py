"""What clients and objects lose with versions that are no longer served, and with definitions that are gone.

The reference looks at neither; findings about them are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.api.views import CustomResourceDefinition
from shared.domain.crd_safety.checks import Finding
from shared.domain.crd_safety.stored import served
from shared.domain.crd_safety.upgrade import Problem, versions

SERVED: Final = "servedVersionRemoval"
DEFINITION: Final = "definitionRemoval"
CHECKS: Final = (SERVED, DEFINITION)
"""What findings of this module are called."""
_NAMED: Final = 5
"""How many objects a sentence names."""


def lost_apis(old: ReadOnly, new: ReadOnly, objects: Sequence[ReadOnly]) -> Iterator[Problem]:
    """The versions that clients cannot ask for any more, each with the objects that are written in it."""
    before, after = served(old), served(new)
    there = {str(version.get("name")) for version in versions(new)}
    for version in before:
        if version not in after:
            why = "is no longer served" if version in there else "is gone"
            text = f"version {version} {why}{_named(_written(old, objects, [version]))}"
            yield Problem("", "", Finding(SERVED, text, list(before), list(after), place=(version, "")))


def lost_definition(old: ReadOnly, objects: Sequence[ReadOnly]) -> Problem:
    """A definition that has no new edition at all."""
    text = f"the definition is gone, and all its objects with it{_named(_written(old, objects, served(old)))}"
    return Problem("", "", Finding(DEFINITION, text, name_of(old)))


def _written(crd: ReadOnly, objects: Iterable[ReadOnly], names: Iterable[str]) -> list[str]:
    """Namespace and name of the objects that are written in one of these versions."""
    group, kind = CustomResourceDefinition(crd).defined
    known = {(f"{group}/{version}", kind) for version in names}
    ours = (one for one in objects if (one.get("apiVersion"), one.get("kind")) in known)
    return ["/".join(filter(None, (namespace_of(one), name_of(one)))) for one in ours]


def _named(objects: Sequence[str]) -> str:
    more = len(objects) - _NAMED
    listed = f"{', '.join(objects[:_NAMED])}{f' and {more} more' if more > 0 else ''}"
    return f"; objects of it here: {listed}" if objects else ""
