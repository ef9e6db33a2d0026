"""Operator: everything that belongs to one installed package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shared.api.resource import Definition, Embedded, Model, ObjectReference, Open, Resource, Time, Version


class ComponentCondition(Open):
    """A condition of a component, as the component states it."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_update_time: Time | None = None
    last_transition_time: Time | None = None


class ComponentReference(ObjectReference):
    """One component."""

    conditions: Sequence[ComponentCondition] = ()


class Components(Model):
    """How components are found, and those that were found."""

    label_selector: Embedded | None = None
    refs: Sequence[ComponentReference] = ()


class OperatorStatus(Open):
    """The components."""

    components: Components | None = None


class OperatorSpec(Open):
    """Nothing can be set."""


class Operator(Resource):
    """One package installed in one namespace, with all its components."""

    spec: OperatorSpec | None = None
    status: OperatorStatus | None = None


DEFINITION = Definition(kind="Operator", plural="operators", versions=(Version("v1", Operator),), scope="Cluster")
