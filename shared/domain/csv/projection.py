"""The RBAC of an operator outside its namespace: as cluster roles, or as roles in its targets (csv.md §8.9).

The roles of the operator's namespace decide nothing, as whoever may write roles there could forge them: an InstallPlan
that gave the version its permissions does, because only we write the status of a plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias, TypeVar

from shared import names
from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv, InstallPlan, Object, Role, RoleBinding, Subject
from shared.domain.csv import rbac
from shared.domain.objects.ownership import is_labelled_for, is_owned_by, owner_labels, owner_reference
from shared.domain.operator_groups.roles import is_in_place
from shared.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, SERVICE_ACCOUNT, Kind

_Found = TypeVar("_Found", Role, RoleBinding)
SEES_NAMESPACES = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]}
"""What every lifted ClusterRole gives besides."""


Granted: TypeAlias = tuple[tuple[Role, ...], tuple[RoleBinding, ...]]
"""Roles and RoleBindings."""


def planned(csv: Csv, plans: Iterable[InstallPlan]) -> Granted:
    """The roles and bindings that InstallPlans made for the permissions that the version has now."""
    created = rbac.created_by_plans(csv, plans)
    made = [one for one in rbac.objects_for(csv, csv.namespace) if (one["kind"], name_of(one)) in created]
    roles, bindings = ([one for one in made if one["kind"] == kind.kind] for kind in (ROLE, ROLE_BINDING))
    return Role.each(roles), RoleBinding.each(bindings)


def owned(objects: Iterable[_Found], csv: Csv) -> tuple[_Found, ...]:
    """The roles or bindings of the operator's namespace that are labelled for the version, whoever made them."""
    return tuple(item for item in objects if is_labelled_for(item, csv) and names.COPIED_FROM not in item.labels)


def lifted(granted: Granted, taken: Collection[str] = ()) -> Iterator[Manifest]:
    """A ClusterRole for every Role and a ClusterRoleBinding for every RoleBinding, of the same names and labels.

    `taken` are the names of ClusterRoles that others own: these are neither written nor bound.
    """
    roles = [role for role in granted[0] if role.name not in taken]
    ours = {role.name for role in roles}
    for role in roles:
        yield _object(CLUSTER_ROLE, role, rules=[*role.rules, SEES_NAMESPACES])
    for binding in granted[1]:
        kind, name = binding.role
        if kind == ROLE.kind and name in ours:
            role_ref = {**binding.raw["roleRef"], "kind": CLUSTER_ROLE.kind}
            yield _object(CLUSTER_ROLE_BINDING, binding, roleRef=role_ref, subjects=_subjects(binding))


def _object(kind: Kind, source: Object, **content: object) -> Manifest:
    meta = {"name": source.name, "labels": dict(source.labels)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}


def _subjects(binding: RoleBinding) -> list[Manifest]:
    """Its ServiceAccounts of the operator's namespace; rights elsewhere are for nobody else."""
    namespace = binding.namespace
    subjects = Subject.each({"namespace": namespace, **subject.raw} for subject in binding.subjects)
    return [dict(one.raw) for one in subjects if (one.kind, one.namespace) == (SERVICE_ACCOUNT.kind, namespace)]


def projected(csv: Csv, copy: Csv, granted: Granted) -> Iterator[Manifest]:
    """The roles and bindings of the version for one target namespace; they are deleted with the copy there."""
    roles, bindings = granted
    for role in roles:
        if is_owned_by(role, csv):
            yield {**_for_target(ROLE, role, csv, copy), "rules": list(role.rules)}
    for binding in bindings:
        if is_owned_by(binding, csv):
            content = {"roleRef": binding.raw["roleRef"], "subjects": _subjects(binding)}
            yield {**_for_target(ROLE_BINDING, binding, csv, copy), **content}


def _for_target(kind: Kind, source: Object, csv: Csv, copy: Csv) -> Manifest:
    meta = {
        "name": source.name,
        "namespace": copy.namespace,
        "labels": {
            **source.labels,
            **owner_labels(copy),
            names.COPIED_FROM: csv.namespace,
            names.MANAGED: "true",
        },
        "ownerReferences": [owner_reference(copy)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def written(csv: Csv, *, is_lifted: bool) -> tuple[tuple[Kind, Kind], dict[str, str]]:
    """The kinds of what we wrote for the version outside its namespace, and labels by which a list finds all of it."""
    if is_lifted:
        return (CLUSTER_ROLE, CLUSTER_ROLE_BINDING), owner_labels(csv)
    return (ROLE, ROLE_BINDING), {names.OWNER: csv.name, names.COPIED_FROM: csv.namespace}


def is_lacking(desired: Manifest, present: Object | None) -> bool:
    """Whether the object is absent or differs, unless it belongs to others."""
    return not is_foreign(Object(desired), present) and not is_in_place(desired, present)


def is_foreign(desired: Object, present: Object | None) -> bool:
    """Whether the object of that name belongs to another owner, by its owner labels."""
    keys = (names.OWNER, names.OWNER_NAMESPACE, names.OWNER_KIND)
    return present is not None and any(present.labels.get(key) != desired.labels.get(key) for key in keys)
