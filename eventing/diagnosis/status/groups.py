"""Whether OperatorGroups, as they are now, stop a package; pure."""

from __future__ import annotations

from collections.abc import Sequence

from eventing.diagnosis.status.package_status import NamespaceContext
from shared.api.views import Csv, OperatorGroup
from shared.domain.objects.csv import GROUP_REASONS, UNSUPPORTED_GROUP
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.install_modes import supports
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, STATIC_REASON, Refused, apis_of, intersection
from shared.domain.operator_groups.targets import needs_namespaces, resolve
from shared.domain.resolver.model import PREVENTED

_CONFLICTS = (CONFLICT_REASON, STATIC_REASON)
"""Reasons of a version whose APIs its group must not provide."""
REASONS = frozenset({PREVENTED, *GROUP_REASONS, *_CONFLICTS})
"""Reasons for which OperatorGroups may be the cause."""


def are_prohibitive(groups: Sequence[OperatorGroup]) -> bool:
    """Whether these OperatorGroups, all of one namespace, stop everybody there."""
    return len(groups) != 1


def groups_are_reason(reason: str, csv: Csv | None, context: NamespaceContext) -> bool:
    """Whether the OperatorGroups stop a package with that reason: then only an edit helps. False where none were read.

    A reason may be older than the groups: what they say now counts.
    """
    groups = context.groups
    if groups is None or reason not in REASONS:
        return False
    if are_prohibitive(groups):
        return True
    if csv is None or csv.reason not in (UNSUPPORTED_GROUP, *_CONFLICTS):
        return False
    (group,) = groups
    if csv.reason in _CONFLICTS:
        return isinstance(intersection(apis_of(csv), Group.of(group), map(Group.of, context.all_groups)), Refused)
    targets = Group.of(group).targets if needs_namespaces(group) else resolve(group)
    return supports(csv.install_modes, csv.namespace, targets or ()) is not None
