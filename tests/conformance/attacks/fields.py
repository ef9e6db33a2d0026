"""Every place where a tenant may write text, from the schemas of the CRDs and of the kinds that are built in."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import orjson
import yaml

from shared.kinds import KINDS, SECRET, Kind

Json: TypeAlias = Any
Steps: TypeAlias = tuple[str, ...]
ROOT = Path(__file__).parents[3]
CRDS = ROOT / "k8s" / "crds"
BUILT_IN = ROOT / "eventing" / "local" / "apiserver" / "builtin.json"
ITEM, VALUE, KEY, ANY = "[]", "{}", "{key}", "{any}"
"""Steps of a path: an item of a list, a value or a key of a map, a field that the schema does not name."""
KINDS_OF_TENANTS = (*(kind for kind in KINDS if kind.watch and kind.is_namespaced), SECRET)
"""Every kind that we watch and that is in a namespace; and Secrets, which we read."""
KINDS_OF_OTHERS = tuple(kind for kind in KINDS if kind.watch and not kind.is_namespaced)
"""The rest of what we watch: no tenant may write it."""
_META = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_HEAD = {"apiVersion", "kind", "status"}
"""Whatever else these hold, they decide what the object is; a status has a door of its own, which no tenant may use."""
_UNNAMED = {
    ("ClusterServiceVersion", ("install", "spec", "deployments", ITEM, "spec")): "io.k8s.api.apps.v1.DeploymentSpec",
    ("OperatorGroup", ("selector",)): "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
    ("Subscription", ("config", "selector")): "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
    ("Subscription", ("config", "resources")): "io.k8s.api.core.v1.ResourceRequirements",
    ("Subscription", ("config", "affinity")): "io.k8s.api.core.v1.Affinity",
    ("Subscription", ("config", "tolerations", ITEM)): "io.k8s.api.core.v1.Toleration",
    ("Subscription", ("config", "env", ITEM)): "io.k8s.api.core.v1.EnvVar",
    ("Subscription", ("config", "envFrom", ITEM)): "io.k8s.api.core.v1.EnvFromSource",
    ("Subscription", ("config", "volumes", ITEM)): "io.k8s.api.core.v1.Volume",
    ("Subscription", ("config", "volumeMounts", ITEM)): "io.k8s.api.core.v1.VolumeMount",
}
"""What the schemas of our kinds leave open under `spec`, and we read as this type."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one text goes in the objects of a kind."""

    kind: Kind
    path: Steps
    is_free: bool
    """Whether the schema accepts any text there: it is one of ours, and names no form."""

    def __str__(self) -> str:
        return f"{self.kind.kind} {'.'.join(self.path)}"


@cache
def places() -> tuple[Place, ...]:
    """All places of all kinds that a tenant may write."""
    return tuple(place for kind in KINDS_OF_TENANTS for place in _of_kind(kind))


def _of_kind(kind: Kind) -> Iterator[Place]:
    is_ours = "." in kind.group and kind.definition in _definitions()
    for path, leaf in _texts(schema_of(kind), ()):
        is_free = is_ours and path[0] != "metadata" and not {"enum", "pattern", "format"} & leaf.keys()
        yield Place(kind, path, is_free)


@cache
def schema_of(kind: Kind) -> Json:
    """The schema of the objects of a kind, without their status."""
    found = _definitions().get(kind.definition)
    if found is None:
        whole = _types()[_built_in()[kind.api_version, kind.kind]]
    else:
        [version] = [each for each in found["spec"]["versions"] if each["name"] == kind.version]
        whole = copy.deepcopy(version["schema"]["openAPIV3Schema"])
        for (name, path), reference in _UNNAMED.items():
            if name == kind.kind:
                _reach(whole["properties"]["spec"], path)["$ref"] = reference
    fields = {key: field for key, field in whole["properties"].items() if key not in _HEAD}
    return {**whole, "properties": {**fields, "metadata": _META}}


def _reach(schema: Json, path: Steps) -> Json:
    for step in path:
        schema = schema["items"] if step == ITEM else schema["properties"][step]
    return schema


def _texts(schema: Json, path: Steps) -> Iterator[tuple[Steps, Json]]:
    """The paths of all texts below, each with the schema of the text."""
    schema = resolved(schema)
    match kind_of(schema):
        case "string":
            yield path, schema
        case "array":
            yield from _texts(schema["items"], (*path, ITEM))
        case "object":
            fields, values = schema.get("properties") or {}, schema.get("additionalProperties")
            for name, field in fields.items():
                yield from _texts(field, (*path, name))
            if values:
                yield (*path, KEY), {}
                yield from _texts(values, (*path, VALUE))
            elif schema.get("x-kubernetes-preserve-unknown-fields") or not fields:
                yield (*path, ANY), {}


def resolved(schema: Json) -> Json:
    """The schema itself, where another one is named."""
    named = schema.get("$ref")
    return {**_types()[named], **{key: each for key, each in schema.items() if key != "$ref"}} if named else schema


def kind_of(schema: Json) -> str:
    """`string`, `object`, `array` or another type; what may be a number or a text counts as a text."""
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string" or "oneOf" in schema:
        return "string"
    return str(schema.get("type") or "object")


def put(made: Json, place: Place, text: str, *, is_fresh: bool) -> None:
    """Write the text into a valid object; what is missing on the way is made as the schema requires.

    `is_fresh`: into a new item of each list, not into the first one.
    """
    node, schema = made, schema_of(place.kind)
    for index, step in enumerate(place.path):
        schema = resolved(schema)
        below, key = _step(node, schema, step, text, is_fresh=is_fresh)
        is_last = index == len(place.path) - 1
        if is_last and step == KEY:
            node[text] = least(below)
        elif is_last:
            node[key] = _encoded(text) if resolved(below).get("format") == "byte" else text
        else:
            if (node[key] if isinstance(key, int) else node.get(key)) is None:
                node[key] = least(below)
            node, schema = node[key], below


def _step(node: Json, schema: Json, step: str, text: str, *, is_fresh: bool) -> tuple[Json, Any]:
    """The schema of what is there, and its key or index in the node."""
    if step == ITEM:
        below = schema["items"]
        if is_fresh or not node:
            node.append(least(below))
        return below, -1
    if step in (KEY, VALUE):
        return schema["additionalProperties"], next(iter(node), "a")
    return ({}, text) if step == ANY else (schema["properties"][step], step)


def found_at(made: Json, path: Steps, text: str) -> bool:
    """Whether an object has the text at a place, wherever in lists and maps."""
    if not path:
        return made in (text, _encoded(text))
    step, rest = path[0], path[1:]
    if step == ITEM:
        return isinstance(made, list) and any(found_at(each, rest, text) for each in made)
    if not isinstance(made, dict):
        return False
    if step in (KEY, ANY):
        return text in made
    if step == VALUE:
        return any(found_at(each, rest, text) for each in made.values())
    return step in made and found_at(made[step], rest, text)


def least(schema: Json) -> Json:
    """The smallest value that fits a schema."""
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    match kind_of(schema):
        case "string":
            return {"date-time": "2026-01-01T00:00:00Z", "byte": "eA==", "int-or-string": 1}.get(
                schema.get("format", ""), "x"
            )
        case "array":
            return []
        case "object":
            fields = schema.get("properties") or {}
            return {name: least(fields[name]) for name in schema.get("required") or () if name in fields}
        case "boolean":
            return False
    return 1


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode(errors="surrogatepass")).decode()


@cache
def _definitions() -> dict[str, Json]:
    found = [yaml.safe_load(file.read_text()) for file in sorted(CRDS.glob("*.*.yaml"))]
    return {each["metadata"]["name"]: each for each in found}


@cache
def _table() -> Json:
    return orjson.loads(BUILT_IN.read_bytes())


def _types() -> Json:
    return _table()["types"]


@cache
def _built_in() -> dict[tuple[str, str], str]:
    return {(each["version"], each["kind"]): each["type"] for each in _table()["resources"]}
