"""The install strategy of a ClusterServiceVersion, parsed once."""

from __future__ import annotations

from dataclasses import dataclass

from shared.api.manifest import ReadOnly
from shared.api.views import Csv, DeploymentEntry
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
class Strategy:
    """The strategy `deployment`."""

    permissions: tuple[Permission, ...]
    cluster_permissions: tuple[Permission, ...]
    components: tuple[DeploymentEntry, ...]

    @property
    def service_accounts(self) -> tuple[str, ...]:
        """The ServiceAccounts that hold permissions, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(item.service_account for item in (*self.permissions, *self.cluster_permissions)))


@dataclass(frozen=True, slots=True)
class UnknownStrategy:
    """A strategy that is not supported."""

    message: str = "unrecognized install strategy"


def strategy_of(csv: Csv) -> Strategy | UnknownStrategy:
    """The install strategy of a ClusterServiceVersion."""
    install = csv.install
    if install.name != "deployment":
        return UnknownStrategy()
    try:
        permissions, cluster_permissions = (
            tuple(map(_permission, found)) for found in (install.permissions, install.cluster_permissions)
        )
    except MisfitError as error:
        return UnknownStrategy(f"install strategy: {error}")
    return Strategy(
        permissions,
        cluster_permissions,
        install.deployments,
    )


def _permission(item: ReadOnly) -> Permission:
    manifest = PLAIN.read(item, "StrategyDeploymentPermissions")
    return Permission(manifest["serviceAccountName"], tuple(manifest["rules"] or ()), manifest)
