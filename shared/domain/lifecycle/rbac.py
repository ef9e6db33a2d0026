"""ServiceAccounts and roles that an InstallPlan makes for a ClusterServiceVersion (csv.md §5.7, catalog.md §4.6)."""

from __future__ import annotations

from collections.abc import Iterator

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.lifecycle import hashes
from shared.domain.lifecycle.ownership import owner_labels, owner_reference
from shared.domain.lifecycle.strategy import Permission, Strategy, strategy_of
from shared.kinds import Kind

_GROUP = kinds.ROLE.group


def objects_for(csv: ReadOnly, namespace: str) -> tuple[Manifest, ...]:
    """What must exist before the operator may run, in the order in which OLM makes it.

    Per ServiceAccount: the account (unless it is `default`), then Role and RoleBinding of each permission, then
    ClusterRole and ClusterRoleBinding of each cluster permission. Owner references are without uid when the
    ClusterServiceVersion has none yet. A strategy that nobody can install needs nothing.
    """
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return ()
    owner = {**csv, "metadata": {**(csv.get("metadata") or {}), "namespace": namespace}}
    return tuple(_objects(owner, namespace, strategy))


def _objects(csv: ReadOnly, namespace: str, strategy: Strategy) -> Iterator[Manifest]:
    for account in strategy.service_accounts:
        if account != "default":
            yield _service_account(csv, namespace, account)
        for permission in strategy.permissions:
            if permission.service_account == account:
                yield from role_and_binding(csv, namespace, permission)
        for permission in strategy.cluster_permissions:
            if permission.service_account == account:
                yield from cluster_role_and_binding(csv, namespace, permission)


def role_and_binding(csv: ReadOnly, namespace: str, permission: Permission) -> tuple[Manifest, Manifest]:
    """The Role of a namespaced permission, and its RoleBinding."""
    name = hashes.role_name(name_of(csv), permission.manifest)
    place = {"namespace": namespace, "ownerReferences": [owner_reference(csv)]}
    return _pair((kinds.ROLE, kinds.ROLE_BINDING), {"name": name, **place}, csv, permission, namespace)


def cluster_role_and_binding(csv: ReadOnly, namespace: str, permission: Permission) -> tuple[Manifest, Manifest]:
    """The ClusterRole of a cluster permission, and its ClusterRoleBinding; only labels name their owner."""
    name = hashes.cluster_role_name(name_of(csv), namespace, permission.manifest)
    both = (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING)
    return _pair(both, {"name": name}, csv, permission, namespace)


def binding_of(role: Kind, name: str, permission: Permission, namespace: str) -> tuple[Manifest, list[Manifest]]:
    """`roleRef` and `subjects` by which the permission's account gets the role."""
    role_ref = {"apiGroup": _GROUP, "kind": role.kind, "name": name}
    subject = {"kind": kinds.SERVICE_ACCOUNT.kind, "name": permission.service_account, "namespace": namespace}
    return role_ref, [subject]


def _pair(
    pair: tuple[Kind, Kind], meta: Manifest, csv: ReadOnly, permission: Permission, namespace: str
) -> tuple[Manifest, Manifest]:  # why: five values make both halves of one pair
    role, binding = pair
    role_ref, subjects = binding_of(role, meta["name"], permission, namespace)
    rules = permission.manifest.get("rules")
    return (
        _object(role, meta, csv, hashes.rules_hash(rules)) | {"rules": list(permission.rules)},
        _object(binding, meta, csv, hashes.binding_hash(role_ref, subjects))
        | {"roleRef": role_ref, "subjects": subjects},
    )


def _object(kind: Kind, meta: Manifest, csv: ReadOnly, digest: str) -> Manifest:
    labels = owner_labels(csv) | {names.PERMISSIONS_HASH: digest, names.MANAGED: "true"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**meta, "labels": labels}}


def _service_account(csv: ReadOnly, namespace: str, name: str) -> Manifest:
    kind = kinds.SERVICE_ACCOUNT
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {names.MANAGED: "true"},
            "ownerReferences": [owner_reference(csv)],
        },
    }
