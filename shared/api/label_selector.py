"""The label selector of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field

from shared.api.resource import Model

ATOMIC: dict[str, Any] = {"x-kubernetes-list-type": "atomic"}


class LabelRequirement(Model):
    """A statement about one label."""

    key: str
    """The label."""
    operator: str
    """`In`, `NotIn`, `Exists` or `DoesNotExist`."""
    values: Sequence[str] = Field((), json_schema_extra=ATOMIC)
    """Its values, for `In` and `NotIn`."""


class LabelSelector(Model):
    """Which labels an object must have; all statements hold."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    match_labels: Mapping[str, str] | None = None
    """Labels with their values."""
    match_expressions: Sequence[LabelRequirement] = Field((), json_schema_extra=ATOMIC)
    """Further statements."""
