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
    """Labels that a node must have; takes the place of what the Deployment says."""
    tolerations: Sequence[Embedded] = ()
    """Added to those of the Deployment."""
    resources: Embedded | None = None
    """Requests and limits of every container; takes the place of what it says."""
    env_from: Sequence[Embedded] = ()
    """ConfigMaps and Secrets whose keys become environment variables of every container."""
    env: Sequence[Embedded] = ()
    """Environment variables of every container, each in the place of one of the same name."""
    volumes: Sequence[Embedded] = ()
    """Volumes of the pods, each in the place of one of the same name."""
    volume_mounts: Sequence[Embedded] = ()
    """Volume mounts of every container, each in the place of one of the same name."""
    affinity: Embedded | None = None
    """Each part that is given takes the place of that of the Deployment; `{}` removes it."""
    annotations: Mapping[str, str] | None = None
    """Added to the Deployments and their pods, where they do not say otherwise themselves."""


class SubscriptionSpec(Model):
    """Which package, from which catalog, on which channel."""

    source: str
    """Name of the CatalogSource."""
    source_namespace: str
    """Namespace of the CatalogSource."""
    name: str
    """Name of the package."""
    channel: str = ""
    """Empty: first the default channel of the package; an update may lead to any other."""
    starting_csv: str = Field("", alias="startingCSV")
    """The first version to install, where nothing is installed yet."""
    install_plan_approval: str = ""
    """`Manual`: somebody approves every InstallPlan. Anything else: `Automatic`."""
    config: SubscriptionConfig | None = None
    """What to change in the Deployments that the operator brings."""


class CatalogHealth(Model):
    """How a catalog that this Subscription may use is doing."""

    catalog_source_ref: ObjectReference
    """The CatalogSource."""
    last_updated: Time
    """When its health last changed."""
    healthy: bool
    """Whether it can be read."""


class InstallPlanReference(Model):
    """The older form of `installPlanRef`."""

    api_version: str
    """Group and version of the plan."""
    kind: str
    """`InstallPlan`."""
    name: str
    """Name of the plan."""
    uuid: str
    """Identity of the plan."""


class SubscriptionCondition(Open):
    """Something about the Subscription that matters now."""

    type: str
    """What is stated, e.g. `ResolutionFailed`, `BundleUnpacking`, `InstallPlanPending` or `CatalogSourcesUnhealthy`."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: str = ""
    """Why, as one word for programs."""
    message: str = ""
    """Why, as a sentence for people."""
    last_heartbeat_time: Time | None = None
    """When this was last looked at."""
    last_transition_time: Time | None = None
    """When `status` last changed."""


class SubscriptionStatus(Open):
    """What is installed, what comes next, and what stands in the way."""

    last_updated: Time
    """When this status was last written."""
    current_csv: str = Field("", alias="currentCSV")
    """The version that resolution chose last."""
    installed_csv: str = Field("", alias="installedCSV")
    """The version that is installed."""
    install_plan_ref: ObjectReference | None = None
    """The InstallPlan that installs `currentCSV`."""
    install_plan_generation: int = 0
    """Its `spec.generation`."""
    installplan: InstallPlanReference | None = None
    """`installPlanRef` for older readers."""
    state: str = ""
    """Empty, `UpgradePending`, `AtLatestKnown`, `UpgradeFailed` or `UpgradeAvailable`."""
    reason: str = ""
    """Why the state is as it is, as one word."""
    catalog_health: Sequence[CatalogHealth] = ()
    """How the catalogs that this namespace may use are doing."""
    conditions: Sequence[SubscriptionCondition] = ()
    """What stands in the way, one statement per type."""


class Subscription(Resource):
    """Keeps one package installed and up to date in its namespace."""

    spec: SubscriptionSpec
    """Which package is wanted, and from where."""
    status: SubscriptionStatus | None = None
    """What is installed, and what comes next."""


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
