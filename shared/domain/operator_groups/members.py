"""Selects the ClusterServiceVersions that belong to a group, announce APIs for it, or wait for it."""

from __future__ import annotations

from collections.abc import Iterable

from shared.api.manifest import Manifest, ReadOnly, annotations_of, is_deleted, metadata, name_of
from shared.domain.objects.csv import GROUP_REASONS, phase_of, reason_of
from shared.domain.operator_groups.group import Group, parse_apis
from shared.domain.operator_groups.install_modes import duplicates, modes_of, supports
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, STATIC_REASON, apis_of
from shared.names import TARGET_NAMESPACES

_WAITING = GROUP_REASONS | {CONFLICT_REASON, STATIC_REASON}


def annotations_to_change(csv: ReadOnly, group: Group) -> dict[str, str]:
    """The annotations that a member lacks or has with another value, with the wanted values."""
    present = annotations_of(csv)
    return {key: value for key, value in group.membership().items() if present.get(key) != value}


def announcing(csvs: Iterable[Manifest], group: Group) -> tuple[Manifest, ...]:
    """The members whose APIs are announced, oldest first: not being deleted, able to watch the group's namespaces."""
    fit = (
        csv
        for csv in csvs
        if not is_deleted(csv)
        and duplicates(modes_of(csv)) is None
        and supports(modes_of(csv), group.namespace, group.targets or ()) is None
    )
    return tuple(sorted(fit, key=lambda csv: (str(metadata(csv).get("creationTimestamp") or ""), name_of(csv))))


def has_succeeded(csv: ReadOnly) -> bool:
    """Whether the operator is installed."""
    return phase_of(csv) == "Succeeded"


def must_look(csv: ReadOnly, group: Group, provided: str) -> bool:
    """Whether the version must run again because its group now announces `provided`."""
    given_up = group.apis - parse_apis(provided)
    was_edited = has_succeeded(csv) and bool(apis_of(csv) - group.apis)
    has_lost_targets = not group.targets and TARGET_NAMESPACES in annotations_of(csv)
    if reason_of(csv) in _WAITING or was_edited or has_lost_targets or apis_of(csv) & given_up:
        return True
    return provided != group.provided and not has_succeeded(csv)


def must_hear(csv: ReadOnly, *, groups: int) -> bool:
    """Whether the version must still be informed that it has no usable group (none, several, or a refused one)."""
    known = {0: "NoOperatorGroup", 1: "NoTargetNamespaces"}.get(groups, "TooManyOperatorGroups")
    return reason_of(csv) != known


def has_claims(csv: ReadOnly, group: Group) -> bool:
    """Whether the version may need roles: not being deleted, and installed or needing RBAC elsewhere for that."""
    if is_deleted(csv):
        return False
    if has_succeeded(csv):
        return True
    reaches_out = has_permissions(csv) and group.targets not in (None, (group.namespace,))
    return reaches_out and phase_of(csv) in {"InstallReady", "Installing"}


def has_permissions(csv: ReadOnly) -> bool:
    """Whether the version requests namespaced permissions."""
    details = ((csv.get("spec") or {}).get("install") or {}).get("spec") or {}
    return bool(details.get("permissions"))
