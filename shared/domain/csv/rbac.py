"""The ServiceAccounts and roles that an InstallPlan creates for a version (csv.md §5.7, catalog.md §4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan
from shared.domain.csv.strategy import Permission, Strategy, strategy_of
from shared.domain.objects import hashes, plan_record
from shared.domain.objects.install_plan import FINISHED
from shared.domain.objects.ownership import owner_labels, owner_reference
from shared.kinds import Kind

_ENDED = ("Complete", "Failed")


def objects_for(csv: Csv, namespace: str) -> tuple[Manifest, ...]:
    """The objects that the operator needs before it runs, in the order in which OLM creates them.

    Per ServiceAccount: the account (unless it is `default`), then the Roles, RoleBindings, ClusterRoles and
    ClusterRoleBindings of its permissions (resolver.md §10.6). Owner references have no uid when the
    ClusterServiceVersion has none yet. An unsupported strategy needs no objects.
    """
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return ()
    kind = kinds.CLUSTER_SERVICE_VERSION
    # The apiVersion, kind and namespace in a bundle are not always correct; the owner is the stored object.
    identity = {"apiVersion": kind.api_version, "kind": kind.kind}
    owner = Csv({**csv.raw, **identity, "metadata": {**csv.metadata, "namespace": namespace}})
    return tuple(_objects(owner, strategy))


def created_by_plans(csv: Csv, plans: Iterable[InstallPlan]) -> frozenset[tuple[str, str]]:
    """Kind and name of the objects that InstallPlans created for a version; role names contain a hash of the rules.

    A plan of ours counts while it is what we wrote and approved: who may write only its status must not add rights by
    it. OLM's plans have no record. Of a failed plan the steps count that were carried out.
    """
    ended = (plan for plan in plans if plan.phase in _ENDED)
    believed = (one for one in ended if (plan_record.is_intact(one) and one.is_approved) or not plan_record.noted(one))
    steps = (step for plan in believed for step in plan.steps if step.status in FINISHED)
    return frozenset((step.kind, step.name) for step in steps if step.csv == csv.name)


def _objects(csv: Csv, strategy: Strategy) -> Iterator[Manifest]:
    for account in strategy.service_accounts:
        if account != "default":
            yield _service_account(csv, account)
        pairs = [_role_and_binding(csv, one) for one in strategy.permissions if one.service_account == account]
        cluster = strategy.cluster_permissions
        cluster_pairs = [_cluster_role_and_binding(csv, one) for one in cluster if one.service_account == account]
        for listed in (pairs, cluster_pairs):
            yield from (role for role, _ in listed)
            yield from (binding for _, binding in listed)


def _role_and_binding(csv: Csv, permission: Permission) -> tuple[Manifest, Manifest]:
    meta = {"namespace": csv.namespace, "ownerReferences": [owner_reference(csv)]}
    meta["name"] = hashes.role_name(csv.name, permission.manifest)
    return _pair((kinds.ROLE, kinds.ROLE_BINDING), meta, csv, permission)


def _cluster_role_and_binding(csv: Csv, permission: Permission) -> tuple[Manifest, Manifest]:
    """A ClusterRole and its binding, with owner labels only: cluster-scoped objects cannot have a namespaced owner."""
    meta = {"name": hashes.cluster_role_name(csv.name, csv.namespace, permission.manifest)}
    return _pair((kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING), meta, csv, permission)


def _pair(pair: tuple[Kind, Kind], meta: Manifest, csv: Csv, permission: Permission) -> tuple[Manifest, Manifest]:
    role, binding = pair
    role_ref = {"apiGroup": role.group, "kind": role.kind, "name": meta["name"]}
    account = kinds.SERVICE_ACCOUNT.kind
    subjects = [{"kind": account, "name": permission.service_account, "namespace": csv.namespace}]
    granted = _object(role, meta, csv, hashes.rules_hash(permission.manifest["rules"]))
    bound = _object(binding, meta, csv, hashes.binding_hash(role_ref, subjects))
    return granted | {"rules": list(permission.rules)}, bound | {"roleRef": role_ref, "subjects": subjects}


def _object(kind: Kind, meta: Manifest, csv: Csv, digest: str) -> Manifest:
    labels = owner_labels(csv) | {names.PERMISSIONS_HASH: digest, names.MANAGED: "true"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**meta, "labels": labels}}


def _service_account(csv: Csv, name: str) -> Manifest:
    kind = kinds.SERVICE_ACCOUNT
    meta = {"name": name, "namespace": csv.namespace, "ownerReferences": [owner_reference(csv)]}
    labels = {names.MANAGED: "true"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**meta, "labels": labels}}
