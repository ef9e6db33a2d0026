"""OLMConfig: what an administrator sets for the whole cluster."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from shared.api.resource import Condition, Definition, Model, Open, Resource, Version, keyed_by


class Features(Model):
    """Switches."""

    disable_copied_csvs: bool | None = Field(None, alias="disableCopiedCSVs")
    """True: operators that watch all namespaces are not copied into them."""
    package_server_sync_interval: str | None = Field(None, pattern=r"^([0-9]+(\.[0-9]+)?(s|m|h))+$")
    """How often package manifests are read again."""


class OLMConfigSpec(Model):
    """What is set."""

    features: Features | None = None
    """Switches for the whole cluster."""


class OLMConfigStatus(Open):
    """Whether the cluster is as it was set."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """Whether the switches took effect, one statement per type."""


class OLMConfig(Resource):
    """Cluster-wide settings; only the object named `cluster` counts."""

    spec: OLMConfigSpec | None = None
    """What is set."""
    status: OLMConfigStatus | None = None
    """Whether it took effect."""


DEFINITION = Definition(kind="OLMConfig", plural="olmconfigs", versions=(Version("v1", OLMConfig),), scope="Cluster")
