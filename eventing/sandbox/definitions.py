"""The life of a CustomResourceDefinition: names accepted, established, served, and its objects gone before it is."""

from __future__ import annotations

from typing import Any

from eventing.sandbox.resources import Node, Registry, Resource
from eventing.sandbox.schema import object_schema
from eventing.sandbox.store import Change, Store
from eventing.sandbox.tables import AGE, NAME
from eventing.sandbox.world import World, now
from shared.api.manifest import Manifest, ReadOnly, name_of

TABLE = "apiextensions.k8s.io/customresourcedefinitions"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def resources_of(definition: ReadOnly) -> list[Resource]:
    """The resources that a definition asks to serve."""
    spec = definition["spec"]
    names = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
    return [_resource(spec, names, version) for version in spec["versions"] if version.get("served")]


def _resource(spec: ReadOnly, names: ReadOnly, version: Node) -> Resource:
    below = version.get("subresources") or {}
    structural = (version.get("schema") or {}).get("openAPIV3Schema") or {"x-kubernetes-preserve-unknown-fields": True}
    if spec.get("preserveUnknownFields"):
        structural = {**structural, "x-kubernetes-preserve-unknown-fields": True}
    return Resource(
        spec["group"], version["name"], names["plural"], names["kind"], names["singular"],
        spec["scope"] == "Namespaced", _VERBS, object_schema(structural), frozenset(below),
        tuple(names.get("shortNames") or ()), tuple(names.get("categories") or ()),
        _columns(version.get("additionalPrinterColumns")), is_custom=True, scale=below.get("scale"),
        list_kind=names["listKind"],
    )  # fmt: skip


def _columns(given: list[Node] | None) -> tuple[Node, ...]:
    if not given:
        return (NAME, AGE)
    return (NAME, *({"format": "", "priority": 0, "description": "", **column} for column in given))


def restore(store: Store, registry: Registry) -> None:
    """Serve what was defined when the sandbox stopped."""
    for stored in store.list(TABLE):
        registry.define(name_of(stored.manifest), resources_of(stored.manifest))


def follow(change: Change, world: World) -> None:
    """Serve what a changed definition says, and write into its status that it is served."""
    name = change.now.key[2]
    if change.type == "DELETED":
        world.registry.define(name, ())
        return
    definition = change.now.copy()
    taken = _taken_names(definition, world.registry)
    if _report(definition, taken):
        world.store.put(change.now.key, definition)
        return  # the change that this makes comes back here
    if not taken:
        world.registry.define(name, resources_of(definition))


def _taken_names(definition: Manifest, registry: Registry) -> str:
    """The kind or a short name that another definition of the group has, as a sentence."""
    spec = definition["spec"]
    mine = spec["names"]
    for other in registry.all():
        if other.group != spec["group"] or other.plural == mine["plural"]:
            continue
        if other.kind == mine["kind"]:
            return f'"{mine["kind"]}" is already in use'
        if shared := sorted({*other.short, other.singular} & {*mine.get("shortNames", ()), mine["singular"]}):
            return f'"{shared[0]}" is already in use'
    return ""


def _report(definition: Manifest, taken: str) -> bool:
    """Bring the status up to date; whether it changed."""
    status = definition.setdefault("status", {})
    before = {condition["type"]: condition for condition in status.get("conditions", [])}
    names: Any = definition["spec"]["names"]
    wanted = [
        ("NamesAccepted", "False" if taken else "True", "KindConflict" if taken else "NoConflicts", taken or "no conflicts found"),
        ("Established", "False" if taken else "True", "NotAccepted" if taken else "InitialNamesAccepted",
         "not all names are accepted" if taken else "the initial names have been accepted"),
    ]  # fmt: skip
    conditions = [
        dict(one) for one in status.get("conditions", []) if one["type"] not in ("NamesAccepted", "Established")
    ]
    fresh = [_condition(before.get(kind), kind, *rest) for kind, *rest in wanted]
    changed = bool(
        status.get("conditions", []) != fresh + conditions or (not taken and status.get("acceptedNames") != names)
    )
    status["conditions"] = fresh + conditions
    if not taken:
        status["acceptedNames"] = names
    return changed


def _condition(before: Manifest | None, kind: str, status: str, reason: str, message: str) -> Manifest:
    if before and before["status"] == status:
        return before
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now()}
