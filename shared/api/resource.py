"""What every custom resource model shares, and how a kind is declared to the API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

GROUP = "operators.coreos.com"
KEPT: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}

Time: TypeAlias = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""An RFC 3339 instant, kept as the text that was read."""
IntOrString: TypeAlias = Annotated[int | str, WithJsonSchema({"x-kubernetes-int-or-string": True})]
"""A number, a percentage or a quantity."""
Embedded: TypeAlias = Annotated[Mapping[str, Any], WithJsonSchema({"type": "object", **KEPT})]
"""A Kubernetes type embedded as it is (a pod template, an affinity); the API server keeps every field of it."""


class Model(BaseModel):
    """A typed view of one JSON object: wrong types are refused, unknown fields survive, null means absent."""

    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _null_means_absent(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: item for key, item in value.items() if item is not None}
        return value


class Open(Model):
    """A model whose unknown fields the API server keeps, too."""

    model_config = ConfigDict(json_schema_extra=KEPT)


class Resource(Model):
    """A whole object as the API server stores it."""

    api_version: str
    """Group and version of this form of the object."""
    kind: str
    """What the object is."""
    metadata: Mapping[str, Any]


class ObjectReference(Model):
    """A pointer to one object at one moment."""

    api_version: str = ""
    """Group and version of the object."""
    kind: str = ""
    """Kind of the object."""
    namespace: str = ""
    """Namespace of the object; empty where it has none."""
    name: str = ""
    """Name of the object."""
    uid: str = ""
    """Identity of the object: another one of the same name has a different one."""
    resource_version: str = ""
    """The version of the object that was seen."""
    field_path: str = ""
    """The part of the object that is meant; empty: all of it."""


class Condition(Model):
    """A condition as Kubernetes defines it: one per type."""

    type: str = Field(max_length=316)
    """What is stated; each type occurs once."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: str = Field(min_length=1, max_length=1024, pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    """Why, as one word for programs."""
    message: str = Field(max_length=32768)
    """Why, as a sentence for people."""
    last_transition_time: Time
    """When `status` last changed."""
    observed_generation: int | None = Field(None, ge=0)
    """The `metadata.generation` that this was stated about; a lower one than the object's is out of date."""


def keyed_by(*keys: str) -> dict[str, Any]:
    """Schema facts of a list that is a map: server-side apply merges it by these keys."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def defaults_to(value: Any) -> dict[str, Any]:
    """Schema fact of a field that the API server fills in when it is absent."""
    return {"x-default": value}


def ruled_by(*rules: tuple[str, str]) -> dict[str, Any]:
    """Schema fact of a value that fulfils rules in CEL: pairs of what refuses it says, and the rule."""
    return {"x-kubernetes-validations": [{"message": message, "rule": rule} for message, rule in rules]}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    path: str
    description: str
    type: Literal["string", "boolean", "date"] = "string"


@dataclass(frozen=True, slots=True)
class Version:
    """One served version of a kind; the one that is stored stands first."""

    name: str
    model: type[Resource]


@dataclass(frozen=True, slots=True)
class Definition:
    """What a CustomResourceDefinition says besides the schema."""

    kind: str
    plural: str
    versions: tuple[Version, ...]
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    group: str = GROUP
    categories: tuple[str, ...] = ("olm",)

    @property
    def name(self) -> str:
        """The name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"
