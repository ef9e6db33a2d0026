"""What has to be done about the copies of one ClusterServiceVersion (csv.md §10.3, §10.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.api.manifest import Manifest, ReadOnly, namespace_of
from shared.domain.groups.copies import Places, is_current, lasts_from
from shared.domain.groups.group import Group

DISABLED_REASON = "DisabledCopiedCSVs"


@dataclass(frozen=True, slots=True)
class Work:
    """Copies to delete and namespaces to create or refresh a copy in, each in the order of names."""

    to_delete: tuple[Manifest, ...] = ()
    to_create: tuple[str, ...] = ()
    to_refresh: tuple[Manifest, ...] = ()
    waits_until: datetime | None = None
    """When the phase has lasted long enough for what was left out."""


def work(original: ReadOnly, group: Group, places: Places, present: Iterable[Manifest], *, now: datetime) -> Work:
    """The difference between the copies that there are and those that there should be.

    A phase that has just begun is not shown in existing copies, nor, where they are many, in new ones: an installation
    passes through four phases, and each would cost two writes in every namespace.
    """
    copies = {namespace_of(copy): copy for copy in present}
    to_create = tuple(sorted(places.wanted - copies.keys()))
    to_refresh = tuple(
        copy for name, copy in sorted(copies.items()) if name in places.wanted and not is_current(original, copy)
    )
    begins = lasts_from(original)
    is_early = begins is not None and begins > now
    return Work(
        to_delete=tuple(copy for name, copy in sorted(copies.items()) if name not in places.allowed),
        to_create=() if is_early and group.is_global else to_create,
        to_refresh=() if is_early else to_refresh,
        waits_until=begins if is_early and (to_create or to_refresh) else None,
    )


def in_turn(namespaces: Sequence[str], *, turn: int, behind: str) -> tuple[str, ...]:
    """The namespaces in the order of this attempt, from behind the one that refused: no one keeps the rest waiting."""
    start = turn % len(namespaces) if namespaces else 0
    order = (*namespaces[start:], *namespaces[:start])
    return order[order.index(behind) + 1 :] if behind in order else order


def is_disabled(config: ReadOnly | None) -> bool:
    """Whether the administrator does not want operators that watch all namespaces to be copied."""
    features = ((config or {}).get("spec") or {}).get("features") or {}
    return bool(features.get("disableCopiedCSVs"))


def disabled_message(original: ReadOnly) -> str:
    """What the Event about an operator that is not copied says."""
    meta = original["metadata"]
    return f"CSV copying disabled for {meta['namespace']}/{meta['name']}"


def notices_about(events: Iterable[Manifest], original: ReadOnly) -> tuple[Manifest, ...]:
    """The Events that say that this version is not copied."""
    meta: Mapping[str, object] = original["metadata"]
    about = {key: meta.get(key) for key in ("namespace", "name", "uid")}
    return tuple(
        event
        for event in events
        if event.get("reason") == DISABLED_REASON and about.items() <= (event.get("involvedObject") or {}).items()
    )
