"""Operator: everything that belongs to one installed package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shared.api.resource import Definition, Embedded, Model, ObjectReference, Open, Resource, Time, Version


class ComponentCondition(Open):
    """A condition of a component, as the component states it."""

    type: str
    """What is stated."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: str = ""
    """Why, as one word for programs."""
    message: str = ""
    """Why, as a sentence for people."""
    last_update_time: Time | None = None
    """When this was last looked at."""
    last_transition_time: Time | None = None
    """When `status` last changed."""


class ComponentReference(ObjectReference):
    """One component."""

    conditions: Sequence[ComponentCondition] = ()
    """What the component says about itself."""


class Components(Model):
    """How components are found, and those that were found."""

    label_selector: Embedded | None = None
    """The label that components carry."""
    refs: Sequence[ComponentReference] = ()
    """The components."""


class OperatorStatus(Open):
    """The components."""

    components: Components | None = None
    """The objects that belong to the package."""


class OperatorSpec(Open):
    """Nothing can be set."""


class Operator(Resource):
    """One package installed in one namespace, with all its components."""

    spec: OperatorSpec | None = None
    """Nothing can be set."""
    status: OperatorStatus | None = None
    """What belongs to the package."""


DEFINITION = Definition(kind="Operator", plural="operators", versions=(Version("v1", Operator),), scope="Cluster")
