"""OperatorCondition: how an operator tells that it must not be upgraded now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from shared.api.resource import Condition, Definition, Model, Open, Resource, Time, Version, keyed_by


class OverrideCondition(Model):
    """A condition that an administrator sets; the time may be left out."""

    type: str = Field(max_length=316)
    """The condition that is overridden, e.g. `Upgradeable`."""
    status: Literal["True", "False", "Unknown"]
    """What counts instead of the report."""
    reason: str = Field(min_length=1, max_length=1024, pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    """Why, as one word for programs."""
    message: str = Field(max_length=32768)
    """Why, as a sentence for people."""
    last_transition_time: Time | None = None
    """When this was decided."""
    observed_generation: int | None = Field(None, ge=0)
    """The `metadata.generation` that this was decided for."""


class Reporters(Model):
    """Who may report, and what the administrator overrides."""

    service_accounts: Sequence[str] = ()
    """Service accounts of the operator: they may write the report."""
    deployments: Sequence[str] = ()
    """Deployments of the operator."""
    overrides: Sequence[OverrideCondition] = Field((), json_schema_extra=keyed_by("type"))
    """What the administrator decides instead of the operator; one statement per type."""


class OperatorConditionSpec(Reporters):
    """What the operator reports."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """Written by the operator."""


class OperatorConditionStatus(Open):
    """What was taken over from the operator's report."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """What counts of the report, one statement per type."""


class OperatorCondition(Resource):
    """The conditions of one installed operator."""

    spec: OperatorConditionSpec | None = None
    """What the operator reports, and what the administrator overrides."""
    status: OperatorConditionStatus | None = None
    """What counts of the report."""


class OperatorConditionV1(Resource):
    """The older version: the operator writes the status."""

    spec: Reporters | None = None
    """Who may report, and what the administrator overrides."""
    status: OperatorConditionStatus | None = None
    """What the operator reports."""


DEFINITION = Definition(
    kind="OperatorCondition",
    plural="operatorconditions",
    versions=(Version("v2", OperatorCondition), Version("v1", OperatorConditionV1)),
    short_names=("condition",),
)
