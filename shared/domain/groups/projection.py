"""The RBAC of an operator outside its namespace: as cluster roles, or as roles in its targets (csv.md §8.9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, name_of, namespace_of
from shared.domain.lifecycle.ownership import is_labelled_for, is_owned_by, owner_labels, owner_reference
from shared.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, Kind

_SEES_NAMESPACES = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]}


def owned(objects: Iterable[Manifest], csv: ReadOnly) -> tuple[Manifest, ...]:
    """The roles or bindings of the operator's namespace that belong to the version."""
    return tuple(item for item in objects if is_labelled_for(item, csv) and names.COPIED_FROM not in labels_of(item))


def lifted(roles: Iterable[ReadOnly], bindings: Iterable[ReadOnly]) -> Iterator[Manifest]:
    """A ClusterRole for every Role and a ClusterRoleBinding for every RoleBinding, of the same names and labels."""
    for role in roles:
        yield _object(CLUSTER_ROLE, role, rules=[*(role.get("rules") or ()), _SEES_NAMESPACES])
    for binding in bindings:
        role_ref = {**binding["roleRef"], "kind": CLUSTER_ROLE.kind}
        yield _object(CLUSTER_ROLE_BINDING, binding, roleRef=role_ref, subjects=_subjects(binding))


def _object(kind: Kind, source: ReadOnly, **content: object) -> Manifest:
    meta = {"name": name_of(source), "labels": labels_of(source)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}


def _subjects(binding: ReadOnly) -> list[Manifest]:
    home = namespace_of(binding)
    subjects = binding.get("subjects") or ()
    return [
        {**subject, "namespace": subject.get("namespace") or home}
        if subject.get("kind") == "ServiceAccount"
        else subject
        for subject in subjects
    ]


def projected(
    csv: ReadOnly, copy: ReadOnly, roles: Iterable[Manifest], bindings: Iterable[Manifest]
) -> Iterator[Manifest]:
    """The roles and bindings of the version for one target namespace; they are deleted with the copy there."""
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


def is_foreign(wanted: ReadOnly, present: ReadOnly | None) -> bool:
    """Whether the object of that name belongs to another owner, by its owner labels."""
    keys = (names.OWNER, names.OWNER_NAMESPACE, names.OWNER_KIND)
    wanted_labels, labels = labels_of(wanted), labels_of(present or {})
    return present is not None and any(labels.get(key) != wanted_labels.get(key) for key in keys)
