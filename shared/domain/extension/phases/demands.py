"""The kinds that a revision consists of and that are watched for its sake alone (DESIGN §15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.order import Phase
from shared.kinds import BY_IDENTITY
from shared.refs import is_possible

MOST: Final = 64
"""Kinds of one revision."""


def recorded(phases: Sequence[Phase]) -> str:
    """The annotation that says which kinds: the content of a revision is in Secrets, which a watcher does not read."""
    found = dict.fromkeys(_unwatched(one for phase in phases for one in phase.objects))
    return ",".join(f"{version}/{kind}" for version, kind in sorted(found)[:MOST])


def demanded(revision: ClusterObjectSet) -> frozenset[tuple[str, str]]:
    """(apiVersion, kind) of what is to be watched; of a revision that has let its objects go, nothing."""
    if revision.is_archived and names.V1_TEARDOWN not in revision.finalizers:
        return frozenset()
    pairs = (one.rpartition("/") for one in (revision.annotation(names.KINDS_OF_OBJECTS) or "").split(","))
    noted = ({"apiVersion": version, "kind": kind} for version, _, kind in pairs)
    inline = (one.get("object") or {} for phase in revision.phases for one in fields.parts(phase, "objects"))
    return frozenset(sorted({*_unwatched(noted), *_unwatched(inline)})[:MOST])


def _unwatched(objects: Iterable[ReadOnly]) -> Iterator[tuple[str, str]]:
    for one in objects:
        version, kind = str(one.get("apiVersion") or ""), str(one.get("kind") or "")
        known = BY_IDENTITY.get((version, kind))
        if is_possible(version, kind) and (known is None or known.watch is None):
            yield version, kind
