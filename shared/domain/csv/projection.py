"""The RBAC of an operator outside its namespace: as cluster roles, or as roles in its targets (csv.md §8.9).

The roles of the operator's namespace decide nothing, as whoever may write roles there could forge them: an InstallPlan
that gave the version its permissions does, because only we write the status of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, name_of, namespace_of
from shared.domain.csv import rbac
from shared.domain.objects.ownership import is_labelled_for, is_owned_by, owner_labels, owner_reference
from shared.domain.operator_groups.roles import is_in_place
from shared.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, SERVICE_ACCOUNT, Kind, Ref

_SEES_NAMESPACES = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]}


Granted: TypeAlias = tuple[tuple[Manifest, ...], tuple[Manifest, ...]]
"""Roles and RoleBindings."""


def planned(csv: ReadOnly, plans: Iterable[ReadOnly]) -> Granted:
    """The roles and bindings that InstallPlans made for the permissions that the version has now."""
    given = rbac.given(csv, plans)
    made = [one for one in rbac.objects_for(csv, namespace_of(csv)) if (one["kind"], name_of(one)) in given]
    roles, bindings = (tuple(one for one in made if one["kind"] == kind.kind) for kind in (ROLE, ROLE_BINDING))
    return roles, bindings


def owned(objects: Iterable[Manifest], csv: ReadOnly) -> tuple[Manifest, ...]:
    """The roles or bindings of the operator's namespace that are labelled for the version, whoever made them."""
    return tuple(item for item in objects if is_labelled_for(item, csv) and names.COPIED_FROM not in labels_of(item))


def lifted(granted: Granted, taken: Collection[str] = ()) -> Iterator[Manifest]:
    """A ClusterRole for every Role and a ClusterRoleBinding for every RoleBinding, of the same names and labels.

    `taken` are the names of ClusterRoles that others own: these are neither written nor bound.
    """
    roles = [role for role in granted[0] if name_of(role) not in taken]
    ours = {name_of(role) for role in roles}
    for role in roles:
        yield _object(CLUSTER_ROLE, role, rules=[*(role.get("rules") or ()), _SEES_NAMESPACES])
    for binding in granted[1]:
        if binding["roleRef"].get("kind") == ROLE.kind and binding["roleRef"].get("name") in ours:
            role_ref = {**binding["roleRef"], "kind": CLUSTER_ROLE.kind}
            yield _object(CLUSTER_ROLE_BINDING, binding, roleRef=role_ref, subjects=_subjects(binding))


def _object(kind: Kind, source: ReadOnly, **content: object) -> Manifest:
    meta = {"name": name_of(source), "labels": labels_of(source)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}


def _subjects(binding: ReadOnly) -> list[Manifest]:
    """Its ServiceAccounts of the operator's namespace; rights elsewhere are for nobody else."""
    home = namespace_of(binding)
    subjects = ({"namespace": home, **subject} for subject in binding.get("subjects") or ())
    return [one for one in subjects if (one.get("kind"), one["namespace"]) == (SERVICE_ACCOUNT.kind, home)]


def projected(csv: ReadOnly, copy: ReadOnly, granted: Granted) -> Iterator[Manifest]:
    """The roles and bindings of the version for one target namespace; they are deleted with the copy there."""
    roles, bindings = granted
    for role in roles:
        if is_owned_by(role, csv):
            yield {**_for_target(ROLE, role, csv, copy), "rules": role.get("rules") or []}
    for binding in bindings:
        if is_owned_by(binding, csv):
            content = {"roleRef": binding["roleRef"], "subjects": _subjects(binding)}
            yield {**_for_target(ROLE_BINDING, binding, csv, copy), **content}


def _for_target(kind: Kind, source: ReadOnly, csv: ReadOnly, copy: ReadOnly) -> Manifest:
    meta = {
        "name": name_of(source),
        "namespace": namespace_of(copy),
        "labels": {
            **labels_of(source),
            **owner_labels(copy),
            names.COPIED_FROM: namespace_of(csv),
            names.MANAGED: "true",
        },
        "ownerReferences": [owner_reference(copy)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def written(csv: ReadOnly, *, is_lifted: bool) -> tuple[tuple[Kind, Kind], dict[str, str]]:
    """The kinds of what we wrote for the version outside its namespace, and labels by which a list finds all of it."""
    if is_lifted:
        return (CLUSTER_ROLE, CLUSTER_ROLE_BINDING), owner_labels(csv)
    return (ROLE, ROLE_BINDING), {names.OWNER: name_of(csv), names.COPIED_FROM: namespace_of(csv)}


def taken(granted: Granted, find: Callable[[Ref], ReadOnly | None]) -> frozenset[str]:
    """Names of ClusterRoles that the roles would have, and others own."""
    held = ((role, CLUSTER_ROLE.look_up(find, name_of(role))) for role in granted[0])
    return frozenset(name_of(role) for role, holder in held if is_foreign(role, holder))


def finder(known: Iterable[Manifest], get: Callable[[Ref], Manifest | None]) -> Callable[[Ref], Manifest | None]:
    """Finds an object among those that a list gave, else asks: somebody else's is in no list of ours."""
    listed = {Ref.of(one): one for one in known}
    return lambda ref: listed.get(ref) or get(ref)


def lacking(wanted: Iterable[Manifest], find: Callable[[Ref], Manifest | None]) -> Iterator[Manifest]:
    """The objects that are absent or differ, without those that belong to others."""
    for item in wanted:
        present = find(Ref.of(item))
        if not is_foreign(item, present) and not is_in_place(item, present):
            yield item


def is_foreign(wanted: ReadOnly, present: ReadOnly | None) -> bool:
    """Whether the object of that name belongs to another owner, by its owner labels."""
    keys = (names.OWNER, names.OWNER_NAMESPACE, names.OWNER_KIND)
    wanted_labels, labels = labels_of(wanted), labels_of(present or {})
    return present is not None and any(labels.get(key) != wanted_labels.get(key) for key in keys)
