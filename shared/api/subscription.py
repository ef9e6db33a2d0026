"""Subscription: the wish to have a package, and to keep it up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from shared.api.resource import (
    Column,
    Definition,
    Embedded,
    Model,
    ObjectReference,
    Open,
    Resource,
    Time,
    Version,
)


class SubscriptionConfig(Open):
    """Overrides for the Deployments of the operator."""

    selector: Embedded | None = None
    """Accepted, without effect."""
    node_selector: Mapping[str, str] | None = None
    tolerations: Sequence[Embedded] = ()
    resources: Embedded | None = None
    env_from: Sequence[Embedded] = ()
    env: Sequence[Embedded] = ()
    volumes: Sequence[Embedded] = ()
    volume_mounts: Sequence[Embedded] = ()
    affinity: Embedded | None = None
    annotations: Mapping[str, str] | None = None


class SubscriptionSpec(Model):
    """Which package, from which catalog, on which channel."""

    source: str
    """Name of the CatalogSource."""
    source_namespace: str
    """Namespace of the CatalogSource."""
    name: str
    """Name of the package."""
    channel: str = ""
    """Empty: the default channel of the package."""
    starting_csv: str = Field("", alias="startingCSV")
    """The first version to install, where nothing is installed yet."""
    install_plan_approval: str = ""
    """`Manual`: somebody approves every InstallPlan. Anything else: `Automatic`."""
    config: SubscriptionConfig | None = None


class CatalogHealth(Model):
    """How a catalog that this Subscription may use is doing."""

    catalog_source_ref: ObjectReference
    last_updated: Time
    healthy: bool


class InstallPlanReference(Model):
    """The older form of `installPlanRef`."""

    api_version: str
    kind: str
    name: str
    uuid: str


class SubscriptionCondition(Open):
    """Something about the Subscription that matters now."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None


class SubscriptionStatus(Open):
    """What is installed, what comes next, and what stands in the way."""

    last_updated: Time
    current_csv: str = Field("", alias="currentCSV")
    """The version that resolution chose last."""
    installed_csv: str = Field("", alias="installedCSV")
    """The version that is installed."""
    install_plan_ref: ObjectReference | None = None
    install_plan_generation: int = 0
    installplan: InstallPlanReference | None = None
    state: str = ""
    """Empty, `UpgradePending`, `AtLatestKnown`, `UpgradeFailed` or `UpgradeAvailable`."""
    reason: str = ""
    catalog_health: Sequence[CatalogHealth] = ()
    conditions: Sequence[SubscriptionCondition] = ()


class Subscription(Resource):
    """Keeps one package installed and up to date in its namespace."""

    spec: SubscriptionSpec
    status: SubscriptionStatus | None = None


DEFINITION = Definition(
    kind="Subscription",
    plural="subscriptions",
    versions=(Version("v1alpha1", Subscription),),
    short_names=("sub", "subs"),
    columns=(
        Column("Package", ".spec.name", "The package wanted"),
        Column("Source", ".spec.source", "The catalog it comes from"),
        Column("Channel", ".spec.channel", "The channel that is followed"),
    ),
)
