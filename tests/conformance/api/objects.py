"""Objects that the tests send."""

from __future__ import annotations

from typing import Any

from tests.conformance.http import Api
from tests.kit.waiting import wait_for

Json = Any
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""Everything that is served, in one answer: what kubectl asks for."""


def core(namespace: str, plural: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def apps(namespace: str, name: str = "") -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments" + (f"/{name}" if name else "")


def a_config_map(name: str = "a", data: Json = None, **meta: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta}, "data": data or {"k": "v"}}


def a_deployment(name: str = "d", **spec: Json) -> Json:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }  # fmt: skip


SPEC: Json = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
        "title": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "port": {"x-kubernetes-int-or-string": True},
        "maybe": {"type": "string", "nullable": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "items": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object", "required": ["name"],
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
            },
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "words": {"type": "array", "items": {"type": "string"}},
    },
}  # fmt: skip
SCHEMA: Json = {
    "type": "object",
    "properties": {"spec": SPEC, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
}
COLUMNS: Json = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
]


def a_definition(word: str, *, scope: str = "Namespaced", **version: Json) -> Json:
    """A kind of the test's own; its group ends with `.example.com`."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{word}.example.com"},
        "spec": {
            "group": f"{word}.example.com", "scope": scope,
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": [f"w{word}"]},
            "versions": [{
                "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}}, "additionalPrinterColumns": COLUMNS, **version,
            }],
        },
    }  # fmt: skip


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def define(http: Api, definition: Json) -> str:
    """Create a definition and wait until kubectl finds it; answers with the path of its group version."""
    answer = http.post(DEFINITIONS, definition)
    assert answer.status == 201, answer.body
    path = f"{DEFINITIONS}/{definition['metadata']['name']}"
    wait_for(lambda: condition(http.get(path).body, "Established") == "True")
    base = f"/apis/{definition['spec']['group']}/v1"
    wait_for(lambda: http.get(base).status == 200)
    wait_for(lambda: definition["spec"]["group"] in str(http.get("/apis", accept=AGGREGATED).body))
    return base


def a_widget(word: str, name: str = "w", **spec: Json) -> Json:
    return {
        "apiVersion": f"{word}.example.com/v1", "kind": "Widget", "metadata": {"name": name},
        "spec": {"size": 3, **spec},
    }  # fmt: skip


def condition(manifest: Json, kind: str) -> str | None:
    found = (one["status"] for one in manifest.get("status", {}).get("conditions") or [] if one["type"] == kind)
    return next(found, None)


def end_conversions(http: Api, word: str) -> None:
    """Delete the definitions of a test that a webhook converts: without their server no namespace ever goes."""
    for one in http.get(DEFINITIONS).body["items"]:
        if word in one["metadata"]["name"] and one["spec"]["conversion"]["strategy"] == "Webhook":
            path = f"{DEFINITIONS}/{one['metadata']['name']}"
            http.patch(path, {"spec": {"conversion": {"strategy": "None", "webhook": None}}})
            http.delete(path)
