"""OperatorGroup: which namespaces the operators of a namespace watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from shared.api.resource import (
    Condition,
    Definition,
    Embedded,
    Model,
    ObjectReference,
    Open,
    Resource,
    Time,
    Version,
    defaults_to,
    keyed_by,
)

AS_SET: dict[str, Any] = {"x-kubernetes-list-type": "set"}


class TargetSelection(Model):
    """Which namespaces; neither a list nor a selector means all of them."""

    selector: Embedded | None = None
    """A label selector over namespaces; unused where `targetNamespaces` is given."""
    target_namespaces: Sequence[str] = Field((), json_schema_extra=AS_SET)
    """Exactly these namespaces."""
    service_account_name: str = ""
    """Whose rights an installation is limited to."""
    static_provided_apis: bool = Field(False, alias="staticProvidedAPIs")
    """The annotation `olm.providedAPIs` is the administrator's."""


class OperatorGroupSpec(TargetSelection):
    """Which namespaces, and how upgrades go."""

    upgrade_strategy: Literal["Default", "TechPreviewUnsafeFailForward"] = Field(
        "Default", json_schema_extra=defaults_to("Default")
    )
    """`TechPreviewUnsafeFailForward`: an upgrade may start from a version or a plan that failed."""


class OperatorGroupStatus(Open):
    """The namespaces that were selected."""

    last_updated: Time
    """When the selection last changed."""
    namespaces: Sequence[str] = Field((), json_schema_extra=AS_SET)
    """One empty name means all namespaces."""
    service_account_ref: ObjectReference | None = None
    """The service account that installations are limited to."""
    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """What is wrong with the group, one statement per type."""


class OperatorGroup(Resource):
    """Gives the operators of its namespace a set of namespaces to watch."""

    spec: OperatorGroupSpec | None = Field(None, json_schema_extra=defaults_to({"upgradeStrategy": "Default"}))
    """Which namespaces the operators of this namespace watch."""
    status: OperatorGroupStatus | None = None
    """The namespaces that were selected."""


class OperatorGroupV1alpha2(Resource):
    """The older version, still served."""

    spec: TargetSelection | None = None
    """Which namespaces the operators of this namespace watch."""
    status: OperatorGroupStatus | None = None
    """The namespaces that were selected."""


DEFINITION = Definition(
    kind="OperatorGroup",
    plural="operatorgroups",
    versions=(Version("v1", OperatorGroup), Version("v1alpha2", OperatorGroupV1alpha2)),
    short_names=("og",),
)
