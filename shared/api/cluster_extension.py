"""ClusterExtension: a package that OLM v1 installs and keeps up to date (v1.md §10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from shared.api import expressions as cel
from shared.api.label_selector import LabelSelector
from shared.api.resource import (
    KEPT,
    Column,
    Condition,
    Definition,
    Model,
    Resource,
    Version,
    defaults_to,
    keyed_by,
    ruled_by,
)

_RANGE_WORD = r"(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*"
_META = r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*"
_FIRST = r"(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*]))?(\.(0|[1-9]\d*|x|X|\*))?"
_NEXT = r"(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*))?(\.(0|[1-9]\d*|x|X|\*]))?"
_RANGE = rf"^(\s*{_RANGE_WORD}{_FIRST}{_META})((?:\s+|,\s*|\s*\|\|\s*){_RANGE_WORD}{_NEXT}{_META})*$"
"""What passes as a range of versions at admission; who resolves says more (v1.md §15.7, with its quirks)."""
_VERSION = (
    r"^([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([-0-9A-Za-z]+(\.[-0-9A-Za-z]+)*))?(\+([-0-9A-Za-z]+(-\.[-0-9A-Za-z]+)*))?"
)
_IDENTIFIER = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_RELEASE = rf"^$|^{_IDENTIFIER}(\.{_IDENTIFIER})*$"
_RELEASE_WHY = (
    "release must be empty or consist of dot-separated identifiers (numeric without leading zeros, or alphanumeric)"
)


class CatalogFilter(Model):
    """Which bundles of which catalogs may be installed."""

    package_name: str = Field(
        max_length=253, json_schema_extra=ruled_by(cel.immutable("packageName"), cel.subdomain_of("packageName"))
    )
    """The package."""
    version: str | None = Field(
        None,
        max_length=64,
        json_schema_extra=ruled_by(("invalid version expression", f"self.matches(r'{_RANGE}')")),
    )
    """A version or a range of versions; empty: any."""
    channels: Sequence[
        Annotated[
            str,
            Field(
                max_length=253,
                json_schema_extra=ruled_by(cel.subdomain("channels entries must be valid DNS1123 subdomains")),
            ),
        ]
    ] = Field((), max_length=256)
    """Channels of the package; empty: all."""
    selector: LabelSelector | None = None
    """Labels of the catalogs; empty: all catalogs."""
    upgrade_constraint_policy: Literal["CatalogProvided", "SelfCertified"] = Field(
        "CatalogProvided", json_schema_extra=defaults_to("CatalogProvided")
    )
    """`SelfCertified`: whoever writes this answers for upgrades and downgrades that the catalog does not offer."""


class ExtensionSource(Model):
    """Where the package comes from."""

    model_config = ConfigDict(json_schema_extra=ruled_by(cel.union("catalog", "Catalog", "sourceType")))

    source_type: Literal["Catalog"]
    """The only kind of source: catalogs."""
    catalog: CatalogFilter | None = None
    """Which bundles of which catalogs."""


class ExtensionAccount(Model):
    """A ServiceAccount; without effect."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    name: str | None = Field(
        None,
        min_length=1,
        max_length=253,
        json_schema_extra=ruled_by(
            ("name is immutable once set but may be cleared", "self == oldSelf"), cel.subdomain_of("name")
        ),
    )
    """Its name."""


class CrdUpgradeSafety(Model):
    """The check of new versions of definitions."""

    enforcement: Literal["None", "Strict"]
    """`None`: it is left out."""


class Preflight(Model):
    """Checks before anything is installed."""

    model_config = ConfigDict(json_schema_extra=ruled_by(cel.some_of("crdUpgradeSafety", "preflight")))

    crd_upgrade_safety: CrdUpgradeSafety
    """The check of new versions of definitions."""


class ExtensionInstall(Model):
    """How the package is installed."""

    model_config = ConfigDict(json_schema_extra=ruled_by(cel.some_of("preflight", "install")))

    preflight: Preflight | None = None
    """Checks before anything is installed."""


class ExtensionConfig(Model):
    """What the bundle is told."""

    model_config = ConfigDict(json_schema_extra=ruled_by(cel.union("inline", "Inline", "configType")))

    config_type: Literal["Inline"]
    """The only kind of configuration: written here."""
    inline: Mapping[str, Any] | None = Field(None, json_schema_extra={**KEPT, "type": "object", "minProperties": 1})
    """The configuration, as the schema of the bundle has it."""


class ClusterExtensionSpec(Model):
    """What is installed, and where."""

    namespace: str = Field(
        max_length=63,
        json_schema_extra=ruled_by(cel.immutable("namespace"), cel.label("namespace must be a valid DNS1123 label")),
    )
    """Where the objects of the bundle go that are in a namespace; it must exist."""
    service_account: ExtensionAccount | None = None
    """Kept for old manifests; without effect."""
    source: ExtensionSource
    """Where the package comes from."""
    install: ExtensionInstall | None = None
    """How the package is installed."""
    config: ExtensionConfig | None = None
    """What the bundle is told."""
    progress_deadline_minutes: int | None = Field(None, ge=10, le=720, json_schema_extra={"format": "int32"})
    """How long a roll-out may take; absent: for ever."""


class InstalledBundle(Model):
    """A bundle."""

    name: str = Field(json_schema_extra=ruled_by(cel.subdomain_of("packageName")))
    """Its name."""
    version: str = Field(
        json_schema_extra=ruled_by(("version must be well-formed semver", f"self.matches(r'{_VERSION}')"))
    )
    """Its version."""
    release: str | None = Field(
        None, max_length=20, json_schema_extra=ruled_by((_RELEASE_WHY, f"self.matches(r'{_RELEASE}')"))
    )
    """Its release; empty: none, absent: not known."""


class ExtensionInstallStatus(Model):
    """What is installed."""

    bundle: InstalledBundle
    """The bundle."""


class ActiveRevision(Model):
    """A revision that is not archived."""

    name: str
    """Name of the ClusterObjectSet."""
    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """What it says of itself, while it is rolled out."""


class ClusterExtensionStatus(Model):
    """What is installed, and how the work at it goes."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """`Installed`, `Progressing`, and what is deprecated."""
    install: ExtensionInstallStatus | None = None
    """What is installed."""
    active_revisions: Sequence[ActiveRevision] = Field((), json_schema_extra=keyed_by("name"))
    """The revisions that are not archived: the installed one, then those that are rolled out."""


class ClusterExtension(Resource):
    """A package that is installed for the whole cluster."""

    spec: ClusterExtensionSpec | None = None
    """What is installed, and where."""
    status: ClusterExtensionStatus | None = None
    """What is installed, and how the work at it goes."""


DEFINITION = Definition(
    kind="ClusterExtension",
    plural="clusterextensions",
    versions=(Version("v1", ClusterExtension),),
    columns=(
        Column("Installed Bundle", ".status.install.bundle.name", "The bundle that is installed"),
        Column("Version", ".status.install.bundle.version", "Its version"),
        Column("Installed", ".status.conditions[?(@.type=='Installed')].status", "Whether one is installed"),
        Column("Progressing", ".status.conditions[?(@.type=='Progressing')].status", "Whether the work goes on"),
        Column("Age", ".metadata.creationTimestamp", "How old the object is", "date"),
    ),
    scope="Cluster",
    group=cel.V1,
    categories=(),
)
