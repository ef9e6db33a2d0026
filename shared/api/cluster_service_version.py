"""ClusterServiceVersion: one version of an operator, and where its installation stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from shared.api.described import ApiServiceDescriptions, CrdDescriptions, GroupVersionKind, WebhookDescription
from shared.api.resource import (
    Column,
    Definition,
    Embedded,
    Open,
    Resource,
    Time,
    Version,
)


class Permissions(Open):
    """What a service account of the operator may do."""

    service_account_name: str
    """Name of the service account, made where it is missing."""
    rules: Sequence[Embedded]
    """What it may do, as in a Role."""


class DeploymentSpec(Open):
    """One Deployment of the operator."""

    name: str
    """Name of the Deployment."""
    spec: Embedded
    """Its spec."""
    label: Mapping[str, str] | None = None
    """Its labels."""


class StrategyDetails(Open):
    """The Deployments and the rights they need."""

    deployments: Sequence[DeploymentSpec]
    """What the operator runs as."""
    permissions: Sequence[Permissions] = ()
    """Rights in the namespaces that the operator watches."""
    cluster_permissions: Sequence[Permissions] = ()
    """Rights in the whole cluster."""


class InstallStrategy(Open):
    """How the operator is installed; `deployment` is the only way."""

    strategy: str
    """`deployment`."""
    spec: StrategyDetails | None = None
    """What to run, with which rights."""


class InstallMode(Open):
    """Whether the operator can watch namespaces that way."""

    type: str
    """`OwnNamespace`, `SingleNamespace`, `MultiNamespace` or `AllNamespaces`."""
    supported: bool
    """Whether an OperatorGroup that selects that way is accepted."""


class Cleanup(Open):
    """Accepted, without effect."""

    enabled: bool
    """Without effect."""


class Icon(Open):
    """A logo."""

    base64data: str = Field(alias="base64data")
    """The picture, in base64."""
    mediatype: str
    """Its media type, e.g. `image/png`."""


class Link(Open):
    """A link for people."""

    name: str = ""
    """What to call it."""
    url: str = ""
    """Where it leads."""


class Maintainer(Open):
    """Somebody to ask."""

    name: str = ""
    """Who it is."""
    email: str = ""
    """How to reach them."""


class RelatedImage(Open):
    """An image the operator may run."""

    name: str
    """What the image is for."""
    image: str
    """The image, best by digest: mirrors copy these."""


class ClusterServiceVersionSpec(Open):
    """What the version is, needs, provides and runs."""

    display_name: str
    """The name that people see."""
    install: InstallStrategy
    """What to run, and with which rights."""
    version: str = ""
    """The version of the operator, e.g. `1.2.3`."""
    release: str = Field("", max_length=20)
    """Tells builds of one version apart."""
    replaces: str = ""
    """The version that this one is an upgrade of."""
    skips: Sequence[str] = ()
    """Versions that may be upgraded to this one directly, and that nobody installs any more."""
    install_modes: Sequence[InstallMode] = ()
    """Which selections of namespaces the operator can work with."""
    customresourcedefinitions: CrdDescriptions | None = Field(None, alias="customresourcedefinitions")
    """CustomResourceDefinitions that it owns and requires."""
    apiservicedefinitions: ApiServiceDescriptions | None = Field(None, alias="apiservicedefinitions")
    """Aggregated APIs that it owns and requires."""
    webhookdefinitions: Sequence[WebhookDescription] = Field((), alias="webhookdefinitions")
    """Webhooks that it serves."""
    native_apis: Sequence[GroupVersionKind] = Field((), alias="nativeAPIs")
    """APIs of the cluster that must be there."""
    min_kube_version: str = ""
    """The oldest Kubernetes that it runs on, e.g. `1.25.0`."""
    cleanup: Cleanup | None = None
    """Accepted, without effect."""
    annotations: Mapping[str, str] | None = None
    """For consoles; not written to anything."""
    labels: Mapping[str, str] | None = None
    """For consoles; not written to anything."""
    selector: Embedded | None = None
    """For consoles: labels of what belongs to the operator."""
    description: str = ""
    """What the operator does, in Markdown."""
    keywords: Sequence[str] = ()
    """Words to find it by."""
    maintainers: Sequence[Maintainer] = ()
    """Whom to ask."""
    provider: Link | None = None
    """Who makes the operator."""
    links: Sequence[Link] = ()
    """Where to read more."""
    icon: Sequence[Icon] = ()
    """Logos, for consoles."""
    maturity: str = ""
    """How far it is developed, e.g. `alpha` or `stable`."""
    related_images: Sequence[RelatedImage] = ()
    """All images that the operator may run, for mirroring."""


class PhaseCondition(Open):
    """One entry of the history of phases."""

    phase: str = ""
    """`Pending`, `InstallReady`, `Installing`, `Succeeded`, `Failed`, `Replacing` or `Deleting`."""
    message: str = ""
    """Why, or what is waited for, as a sentence."""
    reason: str = ""
    """The same as one word for programs."""
    last_update_time: Time | None = None
    """When this was last looked at."""
    last_transition_time: Time | None = None
    """When the phase was entered."""


class DependentStatus(Open):
    """A part of a requirement, e.g. one rule of a service account."""

    group: str
    """API group of the part."""
    version: str
    """API version of the part."""
    kind: str
    """Kind of the part, e.g. `PolicyRule`."""
    status: str
    """`Satisfied` or `NotSatisfied`."""
    uuid: str = ""
    """Identity of the object, where there is one."""
    message: str = ""
    """What the part is, or why it is not there."""


class RequirementStatus(Open):
    """Whether one requirement is met."""

    group: str
    """API group of what is required."""
    version: str
    """Its API version."""
    kind: str
    """Its kind."""
    name: str
    """Its name."""
    status: str
    """`Present`, `NotPresent`, `PresentNotSatisfied` or another word for the state."""
    message: str
    """What is known about it, as a sentence."""
    uuid: str = ""
    """Its identity, once it is there."""
    dependents: Sequence[DependentStatus] = ()
    """Its parts, each with its own state."""


class ClusterServiceVersionStatus(PhaseCondition):
    """Where the installation stands, and what it waits for."""

    conditions: Sequence[PhaseCondition] = ()
    """The phases that were gone through, the latest last."""
    requirement_status: Sequence[RequirementStatus] = ()
    """What the version needs before it is installed, and whether it is there."""
    certs_last_updated: Time | None = None
    """When the certificates of its APIs and webhooks were made."""
    certs_rotate_at: Time | None = None
    """When they are made anew."""
    cleanup: Embedded | None = None
    """Objects that cleaning up waits for."""


class ClusterServiceVersion(Resource):
    """One version of an operator in its namespace."""

    spec: ClusterServiceVersionSpec
    """What the version is, needs, provides and runs."""
    status: ClusterServiceVersionStatus | None = None
    """Where its installation stands."""


DEFINITION = Definition(
    kind="ClusterServiceVersion",
    plural="clusterserviceversions",
    versions=(Version("v1alpha1", ClusterServiceVersion),),
    short_names=("csv", "csvs"),
    columns=(
        Column("Display", ".spec.displayName", "The name to show"),
        Column("Version", ".spec.version", "The version of the operator"),
        Column("Release", ".spec.release", "The release of that version"),
        Column("Replaces", ".spec.replaces", "What this version is an upgrade of"),
        Column("Phase", ".status.phase", "Where the installation stands"),
    ),
)
