"""ClusterObjectSet: the objects of one revision of a ClusterExtension, phase by phase (v1.md §21.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field

from shared.api import expressions as cel
from shared.api.label_selector import ATOMIC, LabelSelector
from shared.api.resource import KEPT, Column, Condition, Definition, Model, Resource, Version, keyed_by, ruled_by

Collisions = Literal["Prevent", "IfNoController", "None"]
_LABEL = cel.label(
    "the value must consist of only lowercase alphanumeric characters and hyphens, and must start and end with an "
    "alphanumeric character."
)
_PATH = ruled_by(
    (
        (
            "must contain a valid field path. valid fields contain upper or lower-case alphanumeric characters "
            'separated by the "." character.'
        ),
        r"self.matches(r'^[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)*$')",
    )
)
_ONE_OF = ("exactly one of the fields in [object ref] must be set", "has(self.object) != has(self.ref)")
_ONE_MATCH = (
    "exactly one of matchLabels or matchExpressions must be set",
    "has(self.matchExpressions) != has(self.matchLabels)",
)
_NO_WAY_BACK = ("cannot un-archive", "oldSelf == 'Active' || self == oldSelf")
_DIGEST = ("digest must be in the format '<algorithm>:<hex>'", "self.matches('^[a-z0-9]+:[a-f0-9]+$')")


class PackedObject(Model):
    """An object in a Secret."""

    name: str = Field(min_length=1, max_length=253)
    """Name of the Secret."""
    namespace: str | None = Field(None, max_length=63)
    """Its namespace."""
    key: str = Field(min_length=1, max_length=253)
    """Where in the Secret the object is."""


class PhaseObject(Model):
    """One object of a phase, written here or in a Secret."""

    model_config = ConfigDict(json_schema_extra=ruled_by(_ONE_OF))

    object: Mapping[str, Any] | None = Field(
        None, json_schema_extra={**KEPT, "type": "object", "x-kubernetes-embedded-resource": True}
    )
    """The object."""
    ref: PackedObject | None = None
    """Where the object is."""
    collision_protection: Collisions | None = None
    """What becomes of an object that is there already; absent: as the phase says."""


class ObjectSetPhase(Model):
    """Objects that are applied together, after those of the phases before."""

    name: str = Field(min_length=1, max_length=63, json_schema_extra=ruled_by(_LABEL))
    """Its name."""
    objects: Sequence[PhaseObject] = Field(max_length=50)
    """Its objects."""
    collision_protection: Collisions | None = None
    """What becomes of objects that are there already; absent: as the set says."""


class ProbedGroupKind(Model):
    """A kind, whatever its version."""

    group: str
    """API group; empty: the core group."""
    kind: str
    """The kind."""


class ProbedLabels(LabelSelector):
    """Labels, or statements about labels."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic", **ruled_by(_ONE_MATCH)})


class ProbeSelector(Model):
    """Which objects a probe is about."""

    model_config = ConfigDict(
        json_schema_extra=ruled_by(cel.union("groupKind", "GroupKind"), cel.union("label", "Label"))
    )

    type: Literal["GroupKind", "Label"]
    """Which field says it."""
    group_kind: ProbedGroupKind | None = None
    """Objects of a kind."""
    label: ProbedLabels | None = None
    """Objects with labels."""


class ConditionEqual(Model):
    """A condition has a status."""

    type: str = Field(min_length=1, max_length=200)
    """The condition."""
    status: Literal["True", "False"]
    """Its status."""


class FieldsEqual(Model):
    """Two fields are equal."""

    field_a: str = Field(min_length=1, max_length=200, json_schema_extra=_PATH)
    """One field."""
    field_b: str = Field(min_length=1, max_length=200, json_schema_extra=_PATH)
    """The other field."""


class FieldValue(Model):
    """A field has a value."""

    field_path: str = Field(min_length=1, max_length=200, json_schema_extra=_PATH)
    """The field."""
    value: str = Field(min_length=1, max_length=200)
    """Its value, as text."""


class Assertion(Model):
    """What must be true of an object."""

    model_config = ConfigDict(
        json_schema_extra=ruled_by(
            cel.union("conditionEqual", "ConditionEqual"),
            cel.union("fieldsEqual", "FieldsEqual"),
            cel.union("fieldValue", "FieldValue"),
        )
    )

    type: Literal["ConditionEqual", "FieldsEqual", "FieldValue"]
    """Which field says it."""
    condition_equal: ConditionEqual | None = None
    """A condition has a status."""
    fields_equal: FieldsEqual | None = None
    """Two fields are equal."""
    field_value: FieldValue | None = None
    """A field has a value."""


class ProgressionProbe(Model):
    """When objects are as they should be, so that the next phase begins."""

    selector: ProbeSelector
    """The objects."""
    assertions: Sequence[Assertion] = Field(min_length=1, max_length=20, json_schema_extra=ATOMIC)
    """What must be true of each of them."""


class ClusterObjectSetSpec(Model):
    """The objects, and whether they are wanted."""

    lifecycle_state: Literal["Active", "Archived"] = Field(json_schema_extra=ruled_by(_NO_WAY_BACK))
    """`Archived`: the objects go, but for those that another revision has taken over."""
    revision: int = Field(ge=1, json_schema_extra={"format": "int64", **ruled_by(cel.immutable("revision"))})
    """The number of this revision; the next one is higher."""
    collision_protection: Collisions = Field(json_schema_extra=ruled_by(cel.immutable("collisionProtection")))
    """What becomes of objects that are there already: they are left alone, taken if nobody has them, or taken."""
    phases: Sequence[ObjectSetPhase] = Field(
        (), max_length=20, json_schema_extra={**keyed_by("name"), **ruled_by(cel.set_once("phases"))}
    )
    """The phases, in their order."""
    progression_probes: Sequence[ProgressionProbe] | None = Field(
        None, min_length=1, max_length=20, json_schema_extra=ATOMIC
    )
    """When objects are as they should be."""
    progress_deadline_minutes: int | None = Field(None, ge=10, le=720, json_schema_extra={"format": "int32"})
    """How long the roll-out may take; absent: for ever."""


class ObservedPhase(Model):
    """A phase as it was first seen."""

    name: str = Field(min_length=1, max_length=63, json_schema_extra=ruled_by(_LABEL))
    """Its name."""
    digest: str = Field(min_length=1, max_length=256, json_schema_extra=ruled_by(_DIGEST))
    """The digest of its objects."""


class ClusterObjectSetStatus(Model):
    """How far the objects are."""

    conditions: Sequence[Condition] = Field((), json_schema_extra=keyed_by("type"))
    """`Progressing`, `Available` and `Succeeded`."""
    observed_phases: Sequence[ObservedPhase] = Field(
        (), max_length=20, json_schema_extra={**keyed_by("name"), **ruled_by(cel.set_once("observedPhases"))}
    )
    """The phases as they were first seen."""


class ClusterObjectSet(Resource):
    """The objects of one revision."""

    spec: ClusterObjectSetSpec | None = None
    """The objects, and whether they are wanted."""
    status: ClusterObjectSetStatus | None = None
    """How far they are."""


DEFINITION = Definition(
    kind="ClusterObjectSet",
    plural="clusterobjectsets",
    versions=(Version("v1", ClusterObjectSet),),
    columns=(
        Column("Available", ".status.conditions[?(@.type=='Available')].status", "Whether all objects are there"),
        Column("Progressing", ".status.conditions[?(@.type=='Progressing')].status", "Whether the work goes on"),
        Column("Age", ".metadata.creationTimestamp", "How old the object is", "date"),
    ),
    scope="Cluster",
    group=cel.V1,
    categories=(),
)
