"""ServiceAccounts, and the roles that give them what a bundle asks for (v1.md §18.1, §18.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.extension.render.model import Bundle, Plan
from shared.domain.extension.render.naming import role_name
from shared.kinds import Kind

_DEFAULT: Final = "default"
_WATCH_NAMESPACES: Final = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]}
"""What operators may do in addition when they watch all namespaces."""


def service_accounts(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """One per account that a permission names, by name."""
    for name in sorted({_account(one) for one in (*_permissions(bundle), *_cluster_permissions(bundle))} - {_DEFAULT}):
        yield _object(kinds.SERVICE_ACCOUNT, name, plan.install_namespace)


def roles(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """What is granted in the namespaces that are watched, unless that is all of them."""
    if plan.is_global:
        return
    for namespace in plan.targets:
        for permission in _permissions(bundle):
            yield from _granted((kinds.ROLE, kinds.ROLE_BINDING), permission, bundle, plan, namespace=namespace)


def cluster_roles(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """What is granted everywhere; with all namespaces watched that is everything."""
    for permission in (*_cluster_permissions(bundle), *(_promoted(bundle) if plan.is_global else ())):
        yield from _granted((kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING), permission, bundle, plan)


def _permissions(bundle: Bundle) -> list[Manifest]:
    return bundle.strategy.get("permissions") or []


def _cluster_permissions(bundle: Bundle) -> list[Manifest]:
    return bundle.strategy.get("clusterPermissions") or []


def _promoted(bundle: Bundle) -> Iterable[Manifest]:
    return ({**one, "rules": [*(one["rules"] or ()), _WATCH_NAMESPACES]} for one in _permissions(bundle))


def _account(permission: ReadOnly) -> str:
    return permission["serviceAccountName"] or _DEFAULT


def _granted(
    pair: tuple[Kind, Kind], permission: ReadOnly, bundle: Bundle, plan: Plan, *, namespace: str = ""
) -> tuple[Manifest, Manifest]:
    role, binding = pair
    account = _account(permission)
    name = role_name(bundle.name, account, permission)
    subject = {"kind": kinds.SERVICE_ACCOUNT.kind, "name": account, "namespace": plan.install_namespace}
    reference = {"apiGroup": role.group, "kind": role.kind, "name": name}
    return (
        _object(role, name, namespace) | {"rules": permission["rules"]},
        _object(binding, name, namespace) | {"subjects": [subject], "roleRef": reference},
    )


def _object(kind: Kind, name: str, namespace: str) -> Manifest:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
