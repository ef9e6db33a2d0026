"""Selects the ClusterServiceVersions that belong to a group, announce APIs for it, or wait for it."""

from __future__ import annotations

from collections.abc import Iterable

from shared.api.views import Csv
from shared.domain.objects.csv import GROUP_REASONS, NO_RETRY
from shared.domain.operator_groups.group import Group, parse_apis
from shared.domain.operator_groups.install_modes import duplicates, supports
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, STATIC_REASON, apis_of

_WAITING = GROUP_REASONS | {CONFLICT_REASON, STATIC_REASON, NO_RETRY}


def annotations_to_change(csv: Csv, group: Group) -> dict[str, str]:
    """The annotations that a member lacks or has with another value, with the wanted values."""
    present = csv.annotations
    return {key: value for key, value in group.membership().items() if present.get(key) != value}


def announcing(csvs: Iterable[Csv], group: Group) -> tuple[Csv, ...]:
    """The members whose APIs are announced, oldest first: not being deleted, able to watch the group's namespaces."""
    fit = (
        csv
        for csv in csvs
        if not csv.is_deleted
        and duplicates(csv.install_modes) is None
        and supports(csv.install_modes, group.namespace, group.targets or ()) is None
    )
    return tuple(sorted(fit, key=lambda csv: (csv.age_key, csv.name)))


def must_check_again(csv: Csv, group: Group, provided: str) -> bool:
    """Whether the version must run again because its group now announces `provided`."""
    given_up = group.apis - parse_apis(provided)
    was_edited = csv.is_succeeded and bool(apis_of(csv) - group.apis)
    has_lost_targets = not group.targets and csv.target_namespaces is not None
    if csv.reason in _WAITING or was_edited or has_lost_targets or apis_of(csv) & given_up:
        return True
    return provided != group.provided and not csv.is_succeeded


def must_report_no_group(csv: Csv, *, groups: int) -> bool:
    """Whether the version must still be informed that it has no usable group (none, several, or a refused one)."""
    known = {0: "NoOperatorGroup", 1: "NoTargetNamespaces"}.get(groups, "TooManyOperatorGroups")
    return csv.reason != known


def former_targets(csvs: Iterable[Csv]) -> tuple[str, ...] | None:
    """The namespaces that these versions, copies aside, were last told to watch; None: unknown, or not the same ones.

    Their annotation stays when their group is deleted.
    """
    annotated = {csv.target_namespaces for csv in csvs if not csv.is_copy} - {None}
    return annotated.pop() if len(annotated) == 1 else None


def has_claims(csv: Csv, group: Group) -> bool:
    """Whether the version may need roles: not being deleted, and installed or needing RBAC elsewhere for that."""
    if csv.is_deleted:
        return False
    if csv.is_succeeded:
        return True
    reaches_out = has_permissions(csv) and group.targets not in (None, (group.namespace,))
    return reaches_out and csv.phase in {"InstallReady", "Installing"}


def has_permissions(csv: Csv) -> bool:
    """Whether the version requests namespaced permissions."""
    return bool(csv.install.permissions)
