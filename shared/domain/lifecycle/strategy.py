"""The install strategy of a ClusterServiceVersion, parsed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.api.manifest import ReadOnly


@dataclass(frozen=True, slots=True)
class Permission:
    """What a ServiceAccount of the operator may do."""

    service_account: str
    rules: tuple[ReadOnly, ...]
    manifest: ReadOnly
    """As the ClusterServiceVersion states it: the names of its roles are hashes of this."""


@dataclass(frozen=True, slots=True)
class Component:
    """One Deployment of the operator."""

    name: str
    spec: ReadOnly
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Strategy:
    """The strategy `deployment`."""

    permissions: tuple[Permission, ...]
    cluster_permissions: tuple[Permission, ...]
    components: tuple[Component, ...]

    @property
    def service_accounts(self) -> tuple[str, ...]:
        """The ServiceAccounts that hold permissions, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(item.service_account for item in (*self.permissions, *self.cluster_permissions)))


@dataclass(frozen=True, slots=True)
class UnknownStrategy:
    """A strategy that nobody can install."""

    message: str = "unrecognized install strategy"


def strategy_of(csv: ReadOnly) -> Strategy | UnknownStrategy:
    """The install strategy of a ClusterServiceVersion."""
    install = (csv.get("spec") or {}).get("install") or {}
    if install.get("strategy") != "deployment":
        return UnknownStrategy()
    spec = install.get("spec") or {}
    return Strategy(
        _permissions(spec.get("permissions") or ()),
        _permissions(spec.get("clusterPermissions") or ()),
        tuple(
            Component(str(item.get("name") or ""), item.get("spec") or {}, item.get("label") or {})
            for item in spec.get("deployments") or ()
        ),
    )


def _permissions(items: Iterable[ReadOnly]) -> tuple[Permission, ...]:
    return tuple(
        Permission(str(item.get("serviceAccountName") or ""), tuple(item.get("rules") or ()), item) for item in items
    )
