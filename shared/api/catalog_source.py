"""CatalogSource: where packages come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from shared.api.resource import (
    Column,
    Condition,
    Definition,
    Embedded,
    IntOrString,
    Model,
    Open,
    Resource,
    Time,
    Version,
    keyed_by,
)


class ExtractContent(Model):
    """The catalog image holds content only; a server image serves it."""

    catalog_dir: str
    """Folder of the file-based catalog inside the image."""
    cache_dir: str = ""
    """Folder of a pre-built cache inside the image."""


class GrpcPodConfig(Open):
    """How the pod of a catalog is scheduled and secured, where a catalog has a pod."""

    node_selector: Mapping[str, str] | None = None
    """Labels that a node must have to run the pod."""
    tolerations: Sequence[Embedded] = ()
    """Taints of nodes that the pod may run on all the same."""
    affinity: Embedded | None = None
    """Which nodes and which neighbours the pod prefers or needs."""
    priority_class_name: str | None = None
    """The PriorityClass of the pod."""
    security_context_config: Literal["legacy", "restricted"] | None = None
    """Absent: what the namespace enforces."""
    memory_target: IntOrString | None = None
    """Memory that the pod is meant to need, as a quantity such as `30Mi`."""
    extract_content: ExtractContent | None = None
    """Set: take the catalog out of the image instead of running the image."""


class RegistryPoll(Model):
    """How often an image given by tag is looked up."""

    interval: str = ""
    """A duration such as `45m` or `1h30m`."""


class UpdateStrategy(Model):
    """How a newer catalog is noticed."""

    registry_poll: RegistryPoll | None = None
    """Set: look `spec.image` up again and again."""


class CatalogIcon(Model):
    """The logo of a catalog."""

    base64data: str = Field("", alias="base64data")
    """The picture, in base64."""
    mediatype: str = ""
    """Its media type, e.g. `image/svg+xml`."""


class CatalogSourceSpec(Model):
    """Where the catalog is and how it is shown."""

    source_type: str
    """`grpc`, `configmap` or `internal`."""
    priority: int = 0
    """The higher one wins where several catalogs offer the same package."""
    config_map: str = ""
    """The ConfigMap that holds the catalog (`configmap` and `internal`)."""
    address: str = ""
    """`host:port` of a running registry server (`grpc`)."""
    image: str = ""
    """The catalog image (`grpc`)."""
    grpc_pod_config: GrpcPodConfig | None = None
    """For the pod of the catalog; a catalog that is read without a pod ignores it."""
    update_strategy: UpdateStrategy | None = None
    """When to look for a newer catalog; absent: never, until this object changes."""
    secrets: Sequence[str] = ()
    """Image pull secrets in the namespace of the catalog."""
    display_name: str = ""
    """The name that people see."""
    description: str = ""
    """What the catalog offers, for people."""
    publisher: str = ""
    """Who publishes the catalog, for people."""
    icon: CatalogIcon | None = None
    """A logo, for consoles."""
    run_as_root: bool = False
    """Kept for old manifests; without effect."""


class ConfigMapReference(Model):
    """The ConfigMap a catalog was read from."""

    name: str
    """Name of the ConfigMap."""
    namespace: str
    """Namespace of the ConfigMap."""
    uid: str = ""
    """Identity of the ConfigMap."""
    resource_version: str = ""
    """The version that was read."""
    last_update_time: Time | None = None
    """When it was read."""


class RegistryService(Model):
    """The Service by which a catalog is asked over gRPC."""

    protocol: str = ""
    """How the Service is spoken to: `grpc`."""
    service_name: str = ""
    """Name of the Service."""
    service_namespace: str = ""
    """Namespace of the Service."""
    port: str = ""
    """Port of the Service."""
    created_at: Time | None = None
    """When the Service was made."""


class ConnectionState(Model):
    """Whether the catalog can be read."""

    last_observed_state: str
    """`READY` when it can."""
    address: str = ""
    """Where its content is served over gRPC; what was read, by digest, is in the condition `ResolvedContent`."""
    last_connect: Time | None = None
    """When the state was last entered."""


class CatalogSourceStatus(Open):
    """What was last seen of the catalog; reason and message are set only in error."""

    message: str = ""
    """What is wrong and what to do, as a sentence; also remarks about parts of a catalog that is served."""
    reason: str = ""
    """The same as one word for programs."""
    latest_image_registry_poll: Time | None = None
    """When polling last found another image."""
    config_map_reference: ConfigMapReference | None = None
    """The ConfigMap that the catalog was read from."""
    registry_service: RegistryService | None = None
    """The Service of the catalog; of a server by address only what it speaks."""
    connection_state: ConnectionState | None = None
    """Whether the catalog can be read, and where it is served."""
    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """Further statements about the catalog, one per type."""


class CatalogSource(Resource):
    """A repository of packages that Subscriptions name."""

    spec: CatalogSourceSpec
    """Where the catalog is, and how it is shown."""
    status: CatalogSourceStatus | None = None
    """What was last seen of the catalog."""


DEFINITION = Definition(
    kind="CatalogSource",
    plural="catalogsources",
    versions=(Version("v1alpha1", CatalogSource),),
    short_names=("catsrc",),
    columns=(
        Column("Display", ".spec.displayName", "The name to show"),
        Column("Type", ".spec.sourceType", "How the catalog is served"),
        Column("Publisher", ".spec.publisher", "Who publishes it"),
        Column("Age", ".metadata.creationTimestamp", "How old the object is", "date"),
    ),
)
