"""Extract the table of built-in kinds that the sandbox serves from a real API server.

`python -m tests.conformance.facts KUBECONFIG MODULES > eventing/local/apiserver/builtin.json`, where MODULES is the
folder of
the Go modules `k8s.io/*` (for the field numbers that kubectl's binary bodies use). Only names, types and numbers are
kept; no descriptions.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import orjson

from tests.conformance.http import Api

Json = dict[str, Any]

SERVED = {
    "v1": (
        "namespaces", "configmaps", "secrets", "services", "serviceaccounts", "pods", "events", "nodes", "endpoints",
        "persistentvolumeclaims", "persistentvolumes", "resourcequotas", "limitranges", "replicationcontrollers",
    ),
    "apps/v1": ("deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"),
    "batch/v1": ("jobs", "cronjobs"),
    "rbac.authorization.k8s.io/v1": ("roles", "rolebindings", "clusterroles", "clusterrolebindings"),
    "apiextensions.k8s.io/v1": ("customresourcedefinitions",),
    "apiregistration.k8s.io/v1": ("apiservices",),
    "admissionregistration.k8s.io/v1": ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
    "networking.k8s.io/v1": ("networkpolicies", "ingresses", "ingressclasses"),
    "policy/v1": ("poddisruptionbudgets",),
    "scheduling.k8s.io/v1": ("priorityclasses",),
    "coordination.k8s.io/v1": ("leases",),
    "authorization.k8s.io/v1": (
        "subjectaccessreviews", "selfsubjectaccessreviews", "localsubjectaccessreviews", "selfsubjectrulesreviews",
    ),
    "authentication.k8s.io/v1": ("tokenreviews", "selfsubjectreviews"),
    "autoscaling/v2": ("horizontalpodautoscalers",),
    "storage.k8s.io/v1": ("storageclasses",),
}  # fmt: skip
BODIES = [
    "io.k8s.api.authentication.v1.TokenRequest", "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
]  # fmt: skip
"""Types of bodies that are not stored; the document of `v1` has all of them."""
DROPPED = {"description", "x-kubernetes-unions"}
SUBRESOURCES = {"status", "scale", "token"}


def resources(api: Api, api_version: str) -> list[Json]:
    """The served resources of one group version, subresources folded in."""
    prefix = "/api/v1" if api_version == "v1" else f"/apis/{api_version}"
    listed = api.get(prefix).body["resources"]
    found = []
    for plural in SERVED[api_version]:
        (entry,) = (one for one in listed if one["name"] == plural)
        below = [one["name"].split("/")[1] for one in listed if one["name"].startswith(f"{plural}/")]
        found.append({
            "version": api_version, "plural": plural, "kind": entry["kind"], "singular": entry["singularName"],
            "namespaced": entry["namespaced"], "verbs": entry["verbs"], "short": entry.get("shortNames", []),
            "categories": entry.get("categories", []), "subresources": sorted(SUBRESOURCES & set(below)),
            "columns": columns(api, f"{prefix}/{plural}") if "list" in entry["verbs"] else [],
        })  # fmt: skip
    return found


def columns(api: Api, path: str) -> list[Json]:
    """The table columns of a resource."""
    answer = api.get(f"{path}?limit=1", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    return [
        {key: value for key, value in column.items() if key in ("name", "type", "format", "priority")}
        for column in answer.body["columnDefinitions"]
    ]


def compact(node: Any) -> Any:
    """A schema without prose, defaults that say nothing, and wrappers around references."""
    if isinstance(node, list):
        return [compact(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: compact(value) for key, value in node.items() if key not in DROPPED or not isinstance(value, str)}
    if kept.get("default") in ("", {}, 0, False):
        del kept["default"]
    if isinstance(kept.get("allOf"), list) and "$ref" in kept["allOf"][0]:
        kept["$ref"] = kept.pop("allOf")[0]["$ref"].rpartition("/")[2]
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = kept["$ref"].rpartition("/")[2]
    kept.pop("x-kubernetes-group-version-kind", None)
    return kept


def reachable(schemas: Json, names: list[str]) -> Json:
    """The schemas that the named ones need."""
    found: Json = {}
    while names:
        name = names.pop()
        if name not in found:
            found[name] = compact(schemas[name])
            names += [
                ref.rpartition("/")[2] for ref in re.findall(r'"\$ref":"([^"]+)"', orjson.dumps(found[name]).decode())
            ]
    return found


def messages(modules: Path) -> dict[str, list[tuple[str, str, int]]]:
    """Every protobuf message of the modules: fields as (type, name, number)."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    for file in modules.glob("*/**/generated.proto"):
        text = re.sub(r"//.*", "", file.read_text())
        package = re.search(r"package ([\w.]+);", text)
        assert package
        place = package[1].removeprefix("k8s.io.")
        for underscored in ("apiextensions_apiserver", "kube_aggregator"):
            place = place.replace(underscored, underscored.replace("_", "-"))
        prefix = f"io.k8s.{place}"
        for name, body in re.findall(r"message (\w+) \{(.*?)\n\}", text, re.DOTALL):
            fields = re.findall(r"(?:optional|repeated)?\s*(map<[^>]+>|\.?[\w.]+)\s+(\w+) = (\d+)", body)
            found[f"{prefix}.{name}"] = [
                (
                    f"{prefix}.{kind}" if "." not in kind else f"io.k8s.{kind.removeprefix('.k8s.io.')}",
                    field,
                    int(number),
                )
                for kind, field, number in fields
            ]
    return found


def numbers(types: Json, protos: dict[str, list[tuple[str, str, int]]]) -> Json:
    """Field numbers by type; a field that JSON inlines holds the numbers of its own fields."""

    def of(message: str, properties: Json) -> Json:
        table: Json = {}
        for kind, field, number in protos.get(message, []):
            known = {"port_": "port"}.get(field, field)
            if known in properties:
                table[str(number)] = known
            elif kind in protos and "JSONSchema" not in kind:
                table[str(number)] = of(kind, properties)
        return table

    return {name: table for name, node in types.items() if (table := of(name, node.get("properties", {})))}


def main() -> None:
    """Print the table."""
    api = Api.of(Path(sys.argv[1]))
    served: list[Json] = []
    types: Json = {}
    for api_version in SERVED:
        path = "/openapi/v3/api/v1" if api_version == "v1" else f"/openapi/v3/apis/{api_version}"
        schemas = api.get(path).body["components"]["schemas"]
        group, _, version = api_version.rpartition("/")
        kinds = {
            (gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in schemas.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", [])
        }
        for resource in resources(api, api_version):
            resource["type"] = kinds[group, version, resource["kind"]]
            served.append(resource)
            types |= reachable(schemas, [resource["type"]])
        if api_version == "v1":
            types |= reachable(schemas, BODIES.copy())
    table = {"resources": served, "types": types, "numbers": numbers(types, messages(Path(sys.argv[2])))}
    sys.stdout.buffer.write(orjson.dumps(table, option=orjson.OPT_SORT_KEYS) + b"\n")


if __name__ == "__main__":
    main()
