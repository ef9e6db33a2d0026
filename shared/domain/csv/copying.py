"""The changes that the copies of one ClusterServiceVersion need (csv.md §10.3, §10.6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.api.manifest import Manifest
from shared.api.views import Csv, Event, Namespace, OlmConfig
from shared.domain.conditions import Condition, put_into
from shared.domain.csv.copies import Copy, CopyNamespaces, copy_namespaces, digests_of, is_member, lasts_from
from shared.domain.operator_groups.group import Group
from shared.kinds import OLM_CONFIG

CONFIG = OLM_CONFIG.ref("cluster")
"""The name of the only OLMConfig that is used."""
DISABLED_REASON = "DisabledCopiedCSVs"
CONFIG_CONDITION = "DisabledCopiedCSVs"
MAKING = timedelta(seconds=30)
"""How long the copies of a version may take since its phase changed before the OLMConfig says that some are missing."""
_CONDITIONS = {
    (False, False): "Copied CSVs are enabled and present across the cluster",
    (False, True): "Copied CSVs are enabled and at least one copied CSVs is missing",
    (True, False): (
        "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in AllNamespace mode"
    ),
    (True, True): (
        "Copied CSVs are disabled and at least one unexpected copied CSV was found for an operator installed in "
        "AllNamespace mode"
    ),
}
"""Reason and message by (copying is disabled, some copy is missing or unwanted)."""


@dataclass(frozen=True, slots=True)
class Work:
    """The copies to delete, and the namespaces that get a new or updated copy, each sorted by name."""

    to_delete: tuple[Copy, ...] = ()
    to_create: tuple[str, ...] = ()
    to_refresh: tuple[Copy, ...] = ()
    waits_until: datetime | None = None
    """The time at which the phase has lasted long enough for the copies that were left out."""
    taken: tuple[str, ...] = ()
    """Namespaces that get no copy, because another ClusterServiceVersion has the name."""

    def besides(self, taken: Collection[str]) -> Work:
        """The same work without new copies where the name is taken."""
        free = tuple(name for name in self.to_create if name not in taken)
        return replace(self, to_create=free, taken=tuple(name for name in self.to_create if name in taken))


def work(original: Csv, group: Group, where: CopyNamespaces, present: Iterable[Copy], *, now: datetime) -> Work:
    """The difference between the present copies and the wanted ones.

    A phase that has just begun is not written to existing copies, nor, for a global group, to new ones: an installation
    passes through four phases, and each would cost two writes in every namespace.
    """
    copies, digests = {copy.namespace: copy for copy in present}, digests_of(original)
    to_create = tuple(sorted(where.desired - copies.keys()))
    to_refresh = tuple(
        copy for name, copy in sorted(copies.items()) if name in where.desired and copy.digests != digests
    )
    begins = lasts_from(original, now)
    is_early = begins is not None and begins > now
    return Work(
        to_delete=tuple(copy for name, copy in sorted(copies.items()) if name not in where.allowed),
        to_create=() if is_early and group.is_global else to_create,
        to_refresh=() if is_early else to_refresh,
        waits_until=begins if is_early and (to_create or to_refresh) else None,
    )


def summarise(where: CopyNamespaces, work: Work) -> str:
    """The verdict in one sentence."""
    besides = f"; another version has the name in {', '.join(work.taken)}" if work.taken else ""
    return f"copies belong into {len(where.desired)} namespaces{besides}"


def rotated(namespaces: Sequence[str], *, turn: int, behind: str) -> tuple[str, ...]:
    """The namespaces in the order of this attempt, starting after the one that failed, which must not block others."""
    start = turn % len(namespaces) if namespaces else 0
    order = (*namespaces[start:], *namespaces[:start])
    return order[order.index(behind) + 1 :] if behind in order else order


def disabled_message(original: Csv) -> str:
    """The message of the Event about an operator that is not copied."""
    return f"CSV copying disabled for {original.namespace}/{original.name}"


def notices_about(events: Iterable[Event], original: Csv) -> tuple[Event, ...]:
    """The Events that say that this version is not copied."""
    about = {"namespace": original.namespace, "name": original.name, "uid": original.uid}
    return tuple(one for one in events if one.reason == DISABLED_REASON and about.items() <= one.about.items())


def is_misplaced(  # why: the namespaces of copies depend on all five
    csv: Csv,
    group: Group,
    namespaces: Sequence[Namespace],
    copies: Iterable[Copy],
    *,
    only: Sequence[str] | None,
) -> bool:
    """Whether a member of a global group lacks a wanted copy, or has an unwanted one."""
    if csv.is_copy or not is_member(csv, group):
        return False
    where = copy_namespaces(csv, group, namespaces, only=only)
    present = {copy.namespace for copy in copies if copy.name == csv.name}
    return not where.desired <= present <= where.allowed


def may_wait(config: OlmConfig, misplaced: Collection[Csv], now: datetime) -> bool:
    """Whether copies are only being made: what the OLMConfig says of them would be said, and taken back in a moment.

    Each of these versions has just come to its phase, and the OLMConfig says that copies are where they belong.
    """
    is_well = not config.disables_copies and config_status(config, is_misplaced=False, now=now) == config.status
    return is_well and bool(misplaced) and all(_has_just_changed(one, now) for one in misplaced)


def _has_just_changed(csv: Csv, now: datetime) -> bool:
    """Whether the phase of a version is younger than copies may be missing; one that is yet to come says nothing."""
    return csv.since is not None and timedelta() <= now - csv.since < MAKING


def config_status(config: OlmConfig, *, is_misplaced: bool, now: datetime) -> Manifest:
    """The status of the OLMConfig with the present condition about copies."""
    is_off = config.disables_copies
    transition = "True" if is_off and not is_misplaced else "False"
    reason = "CopiedCSVsDisabled" if is_off else "CopiedCSVsEnabled"
    desired = Condition(CONFIG_CONDITION, transition, reason, _CONDITIONS[is_off, is_misplaced])
    return {**config.status, "conditions": put_into([one.raw for one in config.conditions], desired, now)}
