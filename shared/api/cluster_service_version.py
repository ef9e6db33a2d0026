"""ClusterServiceVersion: one version of an operator, and where its installation stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from shared.api.resource import (
    Column,
    Definition,
    Embedded,
    IntOrString,
    Open,
    Resource,
    Time,
    Version,
    defaults_to,
)


class ApiResource(Open):
    """A resource that a provided API makes use of."""

    kind: str
    version: str
    name: str = ""


class Descriptor(Open):
    """How a console shows one field."""

    path: str
    display_name: str = ""
    description: str = ""
    x_descriptors: Sequence[str] = Field((), alias="x-descriptors")


class ApiDescription(Open):
    """What a console shows about an API."""

    version: str
    kind: str
    name: str
    display_name: str = ""
    description: str = ""
    resources: Sequence[ApiResource] = ()
    action_descriptors: Sequence[Descriptor] = ()
    spec_descriptors: Sequence[Descriptor] = ()
    status_descriptors: Sequence[Descriptor] = ()


class CrdDescription(ApiDescription):
    """A CustomResourceDefinition that is provided or needed; the name is `<plural>.<group>`."""


class ApiServiceDescription(ApiDescription):
    """An aggregated API that is provided or needed; the name is its plural."""

    group: str
    deployment_name: str = ""
    container_port: int | None = None


class CrdDescriptions(Open):
    """CustomResourceDefinitions, provided and needed."""

    owned: Sequence[CrdDescription] = ()
    required: Sequence[CrdDescription] = ()


class ApiServiceDescriptions(Open):
    """Aggregated APIs, provided and needed."""

    owned: Sequence[ApiServiceDescription] = ()
    required: Sequence[ApiServiceDescription] = ()


class GroupVersionKind(Open):
    """The coordinates of an API."""

    group: str
    version: str
    kind: str


class WebhookDescription(Open):
    """A webhook that the operator serves."""

    generate_name: str
    type: Literal["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"]
    side_effects: str
    admission_review_versions: Sequence[str]
    deployment_name: str = ""
    container_port: int = Field(443, ge=1, le=65535, json_schema_extra=defaults_to(443))
    target_port: IntOrString | None = None
    rules: Sequence[Embedded] = ()
    failure_policy: str | None = None
    match_policy: str | None = None
    object_selector: Embedded | None = None
    timeout_seconds: int | None = None
    reinvocation_policy: str | None = None
    webhook_path: str | None = None
    conversion_crds: Sequence[str] = Field((), alias="conversionCRDs")


class Permissions(Open):
    """What a service account of the operator may do."""

    service_account_name: str
    rules: Sequence[Embedded]


class DeploymentSpec(Open):
    """One Deployment of the operator."""

    name: str
    spec: Embedded
    label: Mapping[str, str] | None = None


class StrategyDetails(Open):
    """The Deployments and the rights they need."""

    deployments: Sequence[DeploymentSpec]
    permissions: Sequence[Permissions] = ()
    cluster_permissions: Sequence[Permissions] = ()


class InstallStrategy(Open):
    """How the operator is installed; `deployment` is the only way."""

    strategy: str
    spec: StrategyDetails | None = None


class InstallMode(Open):
    """Whether the operator can watch namespaces that way."""

    type: str
    """`OwnNamespace`, `SingleNamespace`, `MultiNamespace` or `AllNamespaces`."""
    supported: bool


class Cleanup(Open):
    """Accepted, without effect."""

    enabled: bool


class Icon(Open):
    """A logo."""

    base64data: str = Field(alias="base64data")
    mediatype: str


class Link(Open):
    """A link for people."""

    name: str = ""
    url: str = ""


class Maintainer(Open):
    """Somebody to ask."""

    name: str = ""
    email: str = ""


class RelatedImage(Open):
    """An image the operator may run."""

    name: str
    image: str


class ClusterServiceVersionSpec(Open):
    """What the version is, needs, provides and runs."""

    display_name: str
    install: InstallStrategy
    version: str = ""
    release: str = Field("", max_length=20)
    replaces: str = ""
    """The version that this one is an upgrade of."""
    skips: Sequence[str] = ()
    install_modes: Sequence[InstallMode] = ()
    customresourcedefinitions: CrdDescriptions | None = Field(None, alias="customresourcedefinitions")
    apiservicedefinitions: ApiServiceDescriptions | None = Field(None, alias="apiservicedefinitions")
    webhookdefinitions: Sequence[WebhookDescription] = Field((), alias="webhookdefinitions")
    native_apis: Sequence[GroupVersionKind] = Field((), alias="nativeAPIs")
    min_kube_version: str = ""
    cleanup: Cleanup | None = None
    annotations: Mapping[str, str] | None = None
    labels: Mapping[str, str] | None = None
    selector: Embedded | None = None
    description: str = ""
    keywords: Sequence[str] = ()
    maintainers: Sequence[Maintainer] = ()
    provider: Link | None = None
    links: Sequence[Link] = ()
    icon: Sequence[Icon] = ()
    maturity: str = ""
    related_images: Sequence[RelatedImage] = ()


class PhaseCondition(Open):
    """One entry of the history of phases."""

    phase: str = ""
    message: str = ""
    reason: str = ""
    last_update_time: Time | None = None
    last_transition_time: Time | None = None


class DependentStatus(Open):
    """A part of a requirement, e.g. one rule of a service account."""

    group: str
    version: str
    kind: str
    status: str
    uuid: str = ""
    message: str = ""


class RequirementStatus(Open):
    """Whether one requirement is met."""

    group: str
    version: str
    kind: str
    name: str
    status: str
    message: str
    uuid: str = ""
    dependents: Sequence[DependentStatus] = ()


class ClusterServiceVersionStatus(PhaseCondition):
    """Where the installation stands, and what it waits for."""

    conditions: Sequence[PhaseCondition] = ()
    requirement_status: Sequence[RequirementStatus] = ()
    certs_last_updated: Time | None = None
    certs_rotate_at: Time | None = None
    cleanup: Embedded | None = None


class ClusterServiceVersion(Resource):
    """One version of an operator in its namespace."""

    spec: ClusterServiceVersionSpec
    status: ClusterServiceVersionStatus | None = None


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
