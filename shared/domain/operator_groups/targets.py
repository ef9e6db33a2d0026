"""The namespaces that an OperatorGroup selects (csv.md §8.1–8.3, §8.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from shared import names
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import Namespace, Object, OperatorGroup
from shared.domain.annotations import without_effect
from shared.domain.conditions import Condition, put_into
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.identity import is_same, reference
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES
from shared.domain.selectors import matches
from shared.domain.syntax import LABEL_VALUE

MULTIPLE = "MultipleOperatorGroup"
SERVICE_ACCOUNT = "OperatorGroupServiceAccount"
INVALID = "InvalidTargetNamespaces"
WITHOUT_ROLES = "OperatorGroupWithoutRoles"
UNKNOWN_ANNOTATION = "UnknownAnnotation"
_ANNOTATIONS = (names.CATALOG_POLICY, names.MADE_FOR, names.AUTHOR_BOUND)


def invalid_targets(group: OperatorGroup) -> str | None:
    """Why the list of target namespaces is not valid, or None."""
    targets = group.target_namespaces
    if ALL_NAMESPACES in targets:
        return f"TargetNamespaces cannot contain NamespaceAll: [{' '.join(targets)}]"
    return None


def unfit_name(group: OperatorGroup) -> str | None:
    """Why the group cannot have ClusterRoles, or None: they carry its name in a label."""
    name = group.name
    if not LABEL_VALUE.problems(name):
        return None
    return (
        f"users get no roles for its provided APIs: these roles carry the name of the group in a label, which holds"
        f" {LABEL_VALUE.longest} characters, and the name has {len(name)}. Create the group again with a shorter name"
    )


def unknown_annotation(group: OperatorGroup) -> str:
    """A sentence about the annotations with our prefix that are not known, as misspelled ones; empty without any."""
    return without_effect(group, "on an OperatorGroup", _ANNOTATIONS)


def needs_namespaces(group: OperatorGroup) -> bool:
    """Whether the targets depend on the existing namespaces."""
    return not group.target_namespaces and bool(group.selector)


def resolve(group: OperatorGroup, namespaces: Iterable[Namespace] = ()) -> tuple[str, ...]:
    """The target namespaces, sorted; one empty name means all of them."""
    if targets := group.target_namespaces:
        return tuple(sorted(set(targets)))
    if not group.selector:
        return (ALL_NAMESPACES,)
    return tuple(sorted(one.name for one in namespaces if matches(group.selector, one.labels)))


def selection(group: OperatorGroup, namespaces: Iterable[Namespace]) -> tuple[str, ...] | None:
    """The namespaces that the group selects now, unchanged when its list is not valid; None: none so far."""
    if invalid_targets(group):
        return group.selected
    return resolve(group, namespaces)


def status(
    group: OperatorGroup,
    targets: Sequence[str] | None,
    *,
    account: Object | None = None,
    has_siblings: bool,
    now: datetime,
) -> Manifest:
    """The wanted status of the group, equal to the present one without a change; `account` is the one that it names."""
    present = group.status
    desired = {
        key: value for key, value in present.items() if key not in {"namespaces", "conditions", "serviceAccountRef"}
    }
    if targets:
        desired["namespaces"] = list(targets)
        if set(targets) == set(group.selected or ()):
            desired["namespaces"] = present["namespaces"]
    if account is not None:
        found = reference(account)
        desired["serviceAccountRef"] = group.account if is_same(group.account, found) else found
    if conditions := _conditions(group, account, has_siblings=has_siblings, now=now):
        desired["conditions"] = conditions
    if {**desired, "lastUpdated": ""} != {**present, "lastUpdated": ""}:
        desired["lastUpdated"] = timestamp(now)
    return desired


def _conditions(group: OperatorGroup, account: Object | None, *, has_siblings: bool, now: datetime) -> list[ReadOnly]:
    several = ("MultipleOperatorGroupsFound", "Multiple OperatorGroup found in the same namespace")
    texts = {MULTIPLE: several} if has_siblings else {}
    if group.service_account and account is None:
        texts[SERVICE_ACCOUNT] = ("ServiceAccountNotFound", f"ServiceAccount {group.service_account} not found")
    texts |= {kind: (reason, message) for kind, (reason, check) in _DEFECTS.items() if (message := check(group))}
    ours = {MULTIPLE, SERVICE_ACCOUNT, *_DEFECTS}
    conditions = [one.raw for one in group.conditions if one.type in texts or one.type not in ours]
    for kind, text in texts.items():
        conditions = put_into(conditions, Condition(kind, "True", *text), now)
    return conditions


_DEFECTS: Mapping[str, tuple[str, Callable[[OperatorGroup], str | None]]] = {
    INVALID: ("NamespaceAllFound", invalid_targets),
    WITHOUT_ROLES: ("NameTooLong", unfit_name),
    UNKNOWN_ANNOTATION: ("HasNoEffect", unknown_annotation),
}
"""The conditions about the group itself by type: the reason, and the check that returns the message."""


def label_of(uid: str) -> str:
    """The label that marks a namespace as target of the group with that uid."""
    return f"{names.OPERATOR_GROUP_UID_PREFIX}{uid}"


def label_patch(namespace: Namespace, groups: Iterable[Group]) -> Mapping[str, str | None]:
    """The changes of the labels of a namespace (None: remove), so that they name the groups that select it."""
    name = namespace.name
    desired = {label_of(group.uid) for group in groups if not group.is_global and name in (group.targets or ())}
    present = {key for key in namespace.labels if key.startswith(names.OPERATOR_GROUP_UID_PREFIX)}
    return {**dict.fromkeys(sorted(desired - present), ""), **dict.fromkeys(sorted(present - desired), None)}


def expects_warning(group: OperatorGroup, *, has_siblings: bool) -> bool:
    """Whether the status of the group about other groups in its namespace is out of date."""
    return group.has_condition(MULTIPLE) != has_siblings


def described(targets: Sequence[str] | None) -> str:
    """The selected namespaces, as text for a message."""
    match targets:
        case None:
            return "selects nothing: its list of namespaces is not valid"
        case ("",):
            return "selects all namespaces"
        case _:
            return f"selects {', '.join(targets) or 'no namespace'}"
