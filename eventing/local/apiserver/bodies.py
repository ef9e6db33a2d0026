"""Reads the bodies of requests: JSON, YAML or protobuf, and the objects of types that are not stored."""

from __future__ import annotations

from typing import Any

import orjson

from eventing.local.apiserver import protobuf
from eventing.local.apiserver.failures import bad_request, undecodable, unsupported_media
from eventing.local.apiserver.resources import Node, resolve
from eventing.local.apiserver.validation import misfit
from shared.api.manifest import Manifest
from shared.domain.go import yaml as goyaml
from shared.domain.merge_patch import merged

MAX_BYTES = 3 * 1024 * 1024
"""Maximum size of a body, and of an object that a patch makes by copying."""
DELETE_OPTIONS: Node = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"}
SCALE: Node = {"$ref": "io.k8s.api.autoscaling.v1.Scale"}
TOKEN_REQUEST: Node = {"$ref": "io.k8s.api.authentication.v1.TokenRequest"}


def read(body: bytes, content_type: str, schema: Node) -> Any:
    """The value of a body in any format; the schema is that of protobuf bodies."""
    if content_type.startswith(protobuf.MEDIA):
        return protobuf.decode(body, schema)
    if content_type.startswith("application/yaml"):
        return parse_yaml(body)
    if content_type and not content_type.startswith("application/json"):
        raise unsupported_media("application/json, application/yaml, application/vnd.kubernetes.protobuf")
    return parse_json(body)


def parse_json(body: bytes) -> Any:
    """The value of a JSON body."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error


def parse_yaml(body: bytes) -> Any:
    """The value of a YAML body."""
    try:
        return goyaml.load_value(body)
    except goyaml.YamlError as error:
        raise bad_request(f"error decoding YAML: {error.go_message}") from error


def typed(value: Any, schema: Node) -> Manifest:
    """A value as an object of a built-in type that is not stored, e.g. SCALE."""
    kind = schema["$ref"].rpartition(".")[2]
    if not isinstance(value, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind})")
    if why := misfit(value, resolve(schema)):
        raise undecodable(kind, "v1", why)
    return merged({}, value)  # type: ignore[no-any-return]  # without the nulls: they are the same as absent fields
