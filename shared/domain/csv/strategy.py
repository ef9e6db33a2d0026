"""The install strategy of a ClusterServiceVersion, parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.api.manifest import ReadOnly
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import PLAIN


@dataclass(frozen=True, slots=True)
class Permission:
    """The permissions of one ServiceAccount of the operator."""

    service_account: str
    rules: tuple[ReadOnly, ...]
    manifest: ReadOnly
    """The permission as OLM reads it, without fields unknown to OLM: the names of its roles are hashes of this."""


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
    """A strategy that is not supported."""

    message: str = "unrecognized install strategy"


def strategy_of(csv: ReadOnly) -> Strategy | UnknownStrategy:
    """The install strategy of a ClusterServiceVersion."""
    install = (csv.get("spec") or {}).get("install") or {}
    if install.get("strategy") != "deployment":
        return UnknownStrategy()
    spec = install.get("spec") or {}
    try:
        permissions, cluster_permissions = (
            tuple(map(_permission, spec.get(field) or ())) for field in ("permissions", "clusterPermissions")
        )
    except MisfitError as error:
        return UnknownStrategy(f"install strategy: {error}")
    return Strategy(
        permissions,
        cluster_permissions,
        tuple(
            Component(str(item.get("name") or ""), item.get("spec") or {}, item.get("label") or {})
            for item in spec.get("deployments") or ()
        ),
    )


def _permission(item: ReadOnly) -> Permission:
    manifest = PLAIN.read(item, "StrategyDeploymentPermissions")
    return Permission(manifest["serviceAccountName"], tuple(manifest["rules"] or ()), manifest)
