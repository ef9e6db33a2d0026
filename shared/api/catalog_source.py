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
    tolerations: Sequence[Embedded] = ()
    affinity: Embedded | None = None
    priority_class_name: str | None = None
    security_context_config: Literal["legacy", "restricted"] | None = None
    """Absent: what the namespace enforces."""
    memory_target: IntOrString | None = None
    extract_content: ExtractContent | None = None


class RegistryPoll(Model):
    """How often an image given by tag is looked up."""

    interval: str = ""
    """A duration such as `45m` or `1h30m`."""


class UpdateStrategy(Model):
    """How a newer catalog is noticed."""

    registry_poll: RegistryPoll | None = None


class CatalogIcon(Model):
    """The logo of a catalog."""

    base64data: str = Field("", alias="base64data")
    mediatype: str = ""


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
    update_strategy: UpdateStrategy | None = None
    secrets: Sequence[str] = ()
    """Image pull secrets in the namespace of the catalog."""
    display_name: str = ""
    description: str = ""
    publisher: str = ""
    icon: CatalogIcon | None = None
    run_as_root: bool = False
    """Kept for old manifests; without effect."""


class ConfigMapReference(Model):
    """The ConfigMap a catalog was read from."""

    name: str
    namespace: str
    uid: str = ""
    resource_version: str = ""
    last_update_time: Time | None = None


class RegistryService(Model):
    """The Service in front of the pod of a catalog."""

    protocol: str = ""
    service_name: str = ""
    service_namespace: str = ""
    port: str = ""
    created_at: Time | None = None


class ConnectionState(Model):
    """Whether the catalog can be read."""

    last_observed_state: str
    """`READY` when it can."""
    address: str = ""
    last_connect: Time | None = None


class CatalogSourceStatus(Open):
    """What was last seen of the catalog; reason and message are set only in error."""

    message: str = ""
    reason: str = ""
    latest_image_registry_poll: Time | None = None
    config_map_reference: ConfigMapReference | None = None
    registry_service: RegistryService | None = None
    connection_state: ConnectionState | None = None
    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))


class CatalogSource(Resource):
    """A repository of packages that Subscriptions name."""

    spec: CatalogSourceSpec
    status: CatalogSourceStatus | None = None


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
