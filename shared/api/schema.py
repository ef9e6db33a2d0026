"""CustomResourceDefinitions made from the models: structural schemas, columns, names."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from shared.api.manifest import Manifest
from shared.api.resource import Definition, Model, Resource, Version

_DROPPED = frozenset({"title", "default", "$defs"})
_RENAMED = {"x-default": "default"}


def custom_resource_definition(definition: Definition) -> Manifest:
    """The CustomResourceDefinition of a kind."""
    names: Manifest = {
        "kind": definition.kind,
        "listKind": f"{definition.kind}List",
        "plural": definition.plural,
        "singular": definition.kind.lower(),
    }
    if definition.categories:
        names["categories"] = list(definition.categories)
    if definition.short_names:
        names["shortNames"] = list(definition.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": definition.name},
        "spec": {
            "group": definition.group,
            "names": names,
            "scope": definition.scope,
            "versions": [_version(definition, version) for version in definition.versions],
        },
    }


def _version(definition: Definition, version: Version) -> Manifest:
    served: Manifest = {
        "name": version.name,
        "served": True,
        "storage": version is definition.versions[0],
        "schema": {"openAPIV3Schema": structural_schema(version.model)},
        "subresources": {"status": {}},
    }
    if definition.columns:
        served["additionalPrinterColumns"] = [
            {"name": column.name, "type": column.type, "jsonPath": column.path, "description": column.description}
            for column in definition.columns
        ]
    return served


def structural_schema(model: type[Resource]) -> Manifest:
    """The schema of a whole object, without references, as the API server wants it."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    for cls in (model, *_descendants(Model)):
        target = schema if cls is model else definitions.get(cls.__name__)
        if target is not None:
            _describe(cls, target)
    whole: Manifest = _structural(schema, definitions)
    whole["properties"]["metadata"] = {"type": "object"}
    whole["required"] = [name for name in whole["required"] if name not in {"apiVersion", "kind"}]
    return whole


def _descendants(cls: type[Model]) -> Iterator[type[Model]]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)


def _describe(cls: type[Model], schema: Manifest) -> None:
    """Add the docstring of each field, its own class's before a parent's."""
    for parent in reversed([base for base in cls.__mro__ if issubclass(base, Model)]):
        for name, text in _field_docstrings(parent).items():
            alias = cls.model_fields[name].alias or name
            schema["properties"][alias] = {**schema["properties"][alias], "description": text}


@cache
def _field_docstrings(cls: type[Model]) -> Mapping[str, str]:
    found = {}
    body = _classes(cls.__module__)[cls.__name__].body
    for field, text in pairwise(body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[name] = inspect.cleandoc(words)
    return found


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """The classes of a module as they are written."""
    written = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in written.body if isinstance(node, ast.ClassDef)}


def _structural(schema: Any, definitions: Mapping[str, Manifest]) -> Any:
    """Pydantic's JSON schema without what a structural schema must not have."""
    if isinstance(schema, list):
        return [_structural(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    merged = _resolve(schema, definitions)
    result: Manifest = {}
    for key, value in merged.items():
        if key == "properties" and not value:
            continue  # why: the API server does not store it, and `kubectl apply` would find a change each time
        if key == "properties":
            result[key] = {name: _structural(item, definitions) for name, item in value.items()}
        elif key == "const":
            result["enum"] = [value]
        elif key in _RENAMED:
            result[_RENAMED[key]] = value
        elif key not in _DROPPED and not (key == "additionalProperties" and value is True):
            result[key] = _structural(value, definitions)
    return result


def _resolve(schema: Manifest, definitions: Mapping[str, Manifest]) -> Manifest:
    """Follow references and drop the alternative null, which Kubernetes treats as absent."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            target: Manifest = definitions[schema["$ref"].rpartition("/")[2]]
        else:
            (target,) = (option for option in schema["anyOf"] if option != {"type": "null"})
        own = {key: value for key, value in schema.items() if key not in {"$ref", "anyOf"}}
        schema = {**target, **own}
    return schema
