"""Reads with whose rights the plans and versions of a namespace are carried out, and what may have given them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared import kinds
from shared.api.views import Object, OperatorGroup
from shared.domain.operator_groups.identity import Identity, Nobody, account_named, identity
from shared.ports import Cluster


def identity_in(namespace: str, cluster: Cluster) -> Identity | Nobody:
    """Who acts in a namespace, or why nobody may."""
    return identity_of(OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, namespace)), namespace, cluster)


def identity_of(groups: Sequence[OperatorGroup], namespace: str, cluster: Cluster) -> Identity | Nobody:
    """The same; `groups` are those of the namespace."""
    name = account_named(groups)
    return identity(groups, account_of(name, namespace, cluster))


def account_of(name: str, namespace: str, cluster: Cluster) -> Object | None:
    """The ServiceAccount that a group names; None without a name, and when there is none of that name."""
    found = Object.of(kinds.SERVICE_ACCOUNT.look_up(cluster.get, name, namespace)) if name else None
    return None if found is None or found.is_deleted else found


def witnesses(namespace: str, cluster: Cluster) -> Iterator[Object]:
    """What may have given rights that were missing: roles, the account that installs, or the group that names it."""
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, namespace))
    yield from groups
    is_scoped = any(group.service_account for group in groups)
    for kind in (kinds.SERVICE_ACCOUNT, *(kinds.RBAC if is_scoped else (kinds.ROLE, kinds.ROLE_BINDING))):
        yield from Object.each(cluster.list(kind, namespace if kind.is_namespaced else ""))
