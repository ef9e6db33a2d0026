"""Computes the tables that `kubectl get` prints: columns and cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import orjson

from eventing.local.apiserver.failures import bad_request
from eventing.local.apiserver.forms import render
from eventing.local.apiserver.resources import Node, Resource
from eventing.local.apiserver.store import Stored
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of
from shared.domain.durations import age

Cell = Callable[[ReadOnly], Any]
NAME: Node = {"name": "Name", "type": "string", "format": "name", "priority": 0}
AGE: Node = {"name": "Age", "type": "date", "format": "", "priority": 0, "jsonPath": ".metadata.creationTimestamp"}


def table(resource: Resource, found: Sequence[Stored], meta: Manifest, query: Mapping[str, str]) -> bytes:
    """Objects as a table; each row carries the metadata, the whole object or nothing."""
    columns = resource.columns or (NAME, AGE)
    include = query.get("includeObject", "Metadata")
    rows = [
        {"cells": [_cell(resource, column, one.manifest) for column in columns], **_included(include, resource, one)}
        for one in found
    ]
    shown = [{"description": "", **{key: value for key, value in c.items() if key != "jsonPath"}} for c in columns]
    return orjson.dumps(
        {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": shown, "rows": rows}
    )


def _included(include: str, resource: Resource, stored: Stored) -> Manifest:
    if include == "None":
        return {"object": None}
    if include == "Object":
        return {"object": orjson.Fragment(stored.at(resource.api_version))}
    return {"object": orjson.Fragment(render("metadata", resource, stored))}


def _cell(resource: Resource, column: Node, manifest: ReadOnly) -> Any:
    if path := column.get("jsonPath"):
        return _printed(json_path(path, manifest), column["type"])
    name = column["name"]
    if name == "Name":
        return name_of(manifest)
    if name == "Age":
        return _age(metadata(manifest).get("creationTimestamp"))
    special = CELLS.get(resource.kind, {}).get(name)
    return special(manifest) if special else "<none>"


def _age(created: object) -> str:
    return age(created, datetime.now(UTC))


def _printed(values: list[Any], kind: str) -> Any:
    if not values:
        return None
    if kind == "date":
        return _age(values[0]) if isinstance(values[0], str) else None
    value: Any = values[0]
    if kind == "string":
        if len(values) > 1:
            return ",".join(map(_text, values))
        return _text(value)
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


_STEP = re.compile(r"\.?(?P<name>(?:[\w-]|\\\.)+)|\['(?P<quoted>[^']+)'\]|\[(?P<index>\d+)\]|\[(?P<all>\*)\]"
                   r"|\[\?\(@\.(?P<field>[\w.]+)\s*==\s*[\"'](?P<value>[^\"']*)[\"']\)\]")  # fmt: skip


def json_path(path: str, value: Any) -> list[Any]:
    """The values at a JSON path, with the syntax of printer columns."""
    found, position = [value], 0
    path = path.strip("{}")
    while position < len(path):
        step = _STEP.match(path, position)
        if not step:
            raise bad_request(f"unsupported JSON path {path!r}")
        found = [below for one in found for below in _step(step, one)]
        position = step.end()
    return found


def _step(step: re.Match[str], value: Any) -> list[Any]:
    name = step["quoted"] or (step["name"] or "").replace("\\.", ".")
    if name:
        return [value[name]] if isinstance(value, Mapping) and value.get(name) is not None else []
    if not isinstance(value, list):
        return list(value.values()) if step["all"] and isinstance(value, Mapping) else []
    if step["all"]:
        return value
    if step["index"]:
        return value[int(step["index"]) : int(step["index"]) + 1]
    return [one for one in value if json_path(f".{step['field']}", one) == [step["value"]]]


def _at(*path: str, default: Any = "<none>") -> Cell:
    def cell(manifest: ReadOnly) -> Any:
        value: Any = manifest
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return default if value is None else value

    return cell


def _count(*names: str) -> Cell:
    return lambda manifest: sum(len(manifest.get(name) or ()) for name in names)


def _ratio(done: Cell, want: Cell) -> Cell:
    return lambda manifest: f"{done(manifest)}/{want(manifest)}"


def _pairs(cell: Cell) -> Cell:
    def joined(manifest: ReadOnly) -> str:
        labels = cell(manifest)
        return (
            ",".join(f"{k}={v}" for k, v in sorted(labels.items()))
            if isinstance(labels, Mapping) and labels
            else "<none>"
        )

    return joined


def _selector(*path: str) -> Cell:
    """A label selector in the syntax of requests: its requirements by key, `a in (b,c),d=e,!f`."""
    found = _at(*path, default={})

    def joined(manifest: ReadOnly) -> str:
        selector = found(manifest)
        required = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
        required += [(one["key"], _requirement(one)) for one in selector.get("matchExpressions") or ()]
        return ",".join(text for _, text in sorted(required, key=itemgetter(0))) or "<none>"

    return joined


def _requirement(expression: ReadOnly) -> str:
    form = {"Exists": "{key}", "DoesNotExist": "!{key}", "In": "{key} in ({values})", "NotIn": "{key} notin ({values})"}
    values = ",".join(sorted(expression.get("values") or ()))
    return form.get(expression["operator"], "<error>").format(key=expression["key"], values=values)


def _containers(name: str) -> Cell:
    spec = _at("spec", "template", "spec", "containers", default=[])
    return lambda manifest: ",".join(str(one.get(name)) for one in spec(manifest))


def _ports(manifest: ReadOnly) -> str:
    ports = (manifest.get("spec") or {}).get("ports") or []
    return ",".join(f"{port['port']}/{port.get('protocol', 'TCP')}" for port in ports) or "<none>"


def _job_status(manifest: ReadOnly) -> str:
    conditions = (manifest.get("status") or {}).get("conditions") or []
    true = {condition.get("type") for condition in conditions if condition.get("status") == "True"}
    return next((name for name in ("Complete", "Failed", "Suspended") if name in true), "Running")


def _role(manifest: ReadOnly) -> str:
    return f"{manifest['roleRef']['kind']}/{manifest['roleRef']['name']}"


def _involved(manifest: ReadOnly) -> str:
    thing = manifest.get("involvedObject") or {}
    return f"{str(thing.get('kind', '')).lower()}/{thing.get('name', '')}"


def _pod_ready(manifest: ReadOnly) -> str:
    statuses = (manifest.get("status") or {}).get("containerStatuses") or []
    return f"{sum(bool(one.get('ready')) for one in statuses)}/{len(manifest['spec'].get('containers', ()))}"


def _restarts(manifest: ReadOnly) -> str:
    statuses = (manifest.get("status") or {}).get("containerStatuses") or []
    return str(sum(one.get("restartCount", 0) for one in statuses))


def _workload(**more: Cell) -> dict[str, Cell]:
    return {"Containers": _containers("name"), "Images": _containers("image"),
            "Selector": _selector("spec", "selector"), **more}  # fmt: skip


_READY, _WANT = _at("status", "readyReplicas", default=0), _at("spec", "replicas", default=0)
_ROLE_CELLS: dict[str, Cell] = {"Role": _role}
CELLS: dict[str, dict[str, Cell]] = {
    "Namespace": {"Status": _at("status", "phase")},
    "ConfigMap": {"Data": _count("data", "binaryData")},
    "Secret": {"Type": _at("type"), "Data": _count("data")},
    "Service": {
        "Type": _at("spec", "type"), "Cluster-IP": _at("spec", "clusterIP"), "External-IP": lambda _: "<none>",
        "Port(s)": _ports, "Selector": _pairs(_at("spec", "selector")),
    },
    "Pod": {
        "Ready": _pod_ready, "Status": _at("status", "phase", default="Unknown"), "Restarts": _restarts,
        "IP": _at("status", "podIP"), "Node": _at("spec", "nodeName"),
    },
    "Event": {
        "Last Seen": lambda one: _age(one.get("lastTimestamp") or one.get("eventTime")), "Type": _at("type"),
        "Reason": _at("reason"), "Object": _involved, "Message": lambda one: str(one.get("message", "")).strip(),
        "First Seen": lambda one: _age(one.get("firstTimestamp")), "Count": _at("count", default=1),
        "Source": _at("source", "component", default=""), "Subobject": _at("involvedObject", "fieldPath", default=""),
    },
    "Deployment": _workload(**{
        "Ready": _ratio(_READY, _WANT), "Up-to-date": _at("status", "updatedReplicas", default=0),
        "Available": _at("status", "availableReplicas", default=0),
    }),
    "ReplicaSet": _workload(Desired=_WANT, Current=_at("status", "replicas", default=0), Ready=_READY),
    "StatefulSet": _workload(Ready=_ratio(_READY, _WANT)),
    "Job": _workload(Status=_job_status, Completions=_ratio(
        _at("status", "succeeded", default=0), _at("spec", "completions", default=1)
    )),
    "CronJob": {"Schedule": _at("spec", "schedule"), "Suspend": lambda one: str(_at("spec", "suspend")(one))},
    "Role": {"Created At": _at("metadata", "creationTimestamp")},
    "ClusterRole": {"Created At": _at("metadata", "creationTimestamp")},
    "RoleBinding": _ROLE_CELLS, "ClusterRoleBinding": _ROLE_CELLS,
    "CustomResourceDefinition": {"Created At": _at("metadata", "creationTimestamp")},
    "ServiceAccount": {"Secrets": _count("secrets")},
    "Lease": {"Holder": _at("spec", "holderIdentity")},
    "PriorityClass": {"Value": _at("value"), "Global-Default": lambda one: bool(one.get("globalDefault"))},
    "ValidatingWebhookConfiguration": {"Webhooks": _count("webhooks")},
    "MutatingWebhookConfiguration": {"Webhooks": _count("webhooks")},
    "NetworkPolicy": {"Pod-Selector": _selector("spec", "podSelector")},
}  # fmt: skip
"""The functions for cells of built-in kinds, by kind and column."""
