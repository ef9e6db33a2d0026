"""ClusterCatalog: where the packages of OLM v1 come from (v1.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import ConfigDict, Field

from shared.api import expressions as cel
from shared.api.resource import (
    Column,
    Condition,
    Definition,
    Model,
    Resource,
    Time,
    Version,
    defaults_to,
    keyed_by,
    ruled_by,
)

_REF = (cel.DOMAIN, cel.NAME, cel.DIGEST_OR_TAG, cel.TAG_LENGTH, cel.TAG, *cel.DIGEST_RULES)
_CANONICAL = (cel.DOMAIN, cel.NAME, cel.DIGEST, *cel.DIGEST_RULES)
_IMAGE = ruled_by(cel.union("image", "Image", of="source "))
_POLLS_TAGS = (
    "cannot specify pollIntervalMinutes while using digest-based image",
    "self.ref.find('@.*:') == '' || !has(self.pollIntervalMinutes)",
)
_INT32 = 2**31


class ImageCatalog(Model):
    """An image that holds a file-based catalog."""

    model_config = ConfigDict(json_schema_extra=ruled_by(_POLLS_TAGS))

    ref: str = Field(max_length=1000, json_schema_extra=ruled_by(*_REF))
    """The image, by tag or by digest."""
    poll_interval_minutes: int | None = Field(None, ge=1)
    """How often a tag is looked up; absent: only when this object changes."""


class ClusterCatalogSource(Model):
    """Where the content of a catalog is."""

    model_config = ConfigDict(json_schema_extra=_IMAGE)

    type: Literal["Image"]
    """The only kind of source: an image."""
    image: ImageCatalog | None = None
    """The image."""


class ClusterCatalogSpec(Model):
    """Where the catalog is, and whether it is offered."""

    source: ClusterCatalogSource
    """Where the content is."""
    priority: int = Field(0, ge=-_INT32, le=_INT32 - 1, json_schema_extra={"format": "int32", **defaults_to(0)})
    """The higher one wins where several catalogs offer the same."""
    availability_mode: Literal["Unavailable", "Available"] = Field(
        "Available", json_schema_extra=defaults_to("Available")
    )
    """`Unavailable`: nothing is served, as if the catalog did not exist."""


class ResolvedImage(Model):
    """An image by digest."""

    ref: str = Field(max_length=1000, json_schema_extra=ruled_by(*_CANONICAL))
    """The image that is served, by digest."""


class ResolvedCatalogSource(Model):
    """What is served now."""

    model_config = ConfigDict(json_schema_extra=_IMAGE)

    type: Literal["Image"]
    """The only kind of source: an image."""
    image: ResolvedImage
    """The image."""


class CatalogUrls(Model):
    """Where the catalog is served."""

    base: str = Field(max_length=525, json_schema_extra=ruled_by(cel.URL, cel.HTTP))
    """What all addresses of this catalog begin with."""


class ClusterCatalogStatus(Model):
    """What is served now, and how the work at it goes."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """`Serving` and `Progressing`."""
    resolved_source: ResolvedCatalogSource | None = None
    """What is served now."""
    urls: CatalogUrls | None = None
    """Where it is served."""
    last_unpacked: Time | None = None
    """When the content that is served was unpacked."""


class ClusterCatalog(Resource):
    """A file-based catalog that is served to the whole cluster."""

    spec: ClusterCatalogSpec
    """Where the catalog is, and whether it is offered."""
    status: ClusterCatalogStatus | None = None
    """What is served now."""


DEFINITION = Definition(
    kind="ClusterCatalog",
    plural="clustercatalogs",
    versions=(Version("v1", ClusterCatalog),),
    columns=(
        Column("LastUnpacked", ".status.lastUnpacked", "When the content was unpacked", "date"),
        Column("Serving", '.status.conditions[?(@.type=="Serving")].status', "Whether it is served"),
        Column("Age", ".metadata.creationTimestamp", "How old the object is", "date"),
    ),
    scope="Cluster",
    group=cel.V1,
    categories=(),
)
