"""The controller of CustomResourceDefinitions: accepts names, establishes and serves, deletes objects first."""

from __future__ import annotations

from typing import Any

from eventing.local.apiserver import api_services
from eventing.local.apiserver.resources import Node, Registry, Resource
from eventing.local.apiserver.ruled_schema import ruled
from eventing.local.apiserver.schema import object_schema
from eventing.local.apiserver.store import Change, Store
from eventing.local.apiserver.tables import AGE, NAME
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, name_of

TABLE = "apiextensions.k8s.io/customresourcedefinitions"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def resources_of(definition: ReadOnly, *, converts: bool = True) -> list[Resource]:
    """The resources of a definition that are to be served: none until its names are accepted.

    `converts` says whether webhooks can be asked for conversions.
    """
    spec, names = definition["spec"], (definition.get("status") or {}).get("acceptedNames")
    if not names:
        return []
    conversion = spec.get("conversion") or {}
    converter = conversion if converts and conversion.get("strategy") == "Webhook" else None
    return [_resource(spec, names, version, converter) for version in spec["versions"] if version.get("served")]


def _resource(spec: ReadOnly, names: ReadOnly, version: Node, converter: Node | None) -> Resource:
    below = version.get("subresources") or {}
    structural = (version.get("schema") or {}).get("openAPIV3Schema") or {"x-kubernetes-preserve-unknown-fields": True}
    return Resource(
        spec["group"], version["name"], names["plural"], names["kind"], names["singular"],
        spec["scope"] == "Namespaced", _VERBS, object_schema(structural), frozenset(below),
        tuple(names.get("shortNames") or ()), tuple(names.get("categories") or ()),
        _columns(version.get("additionalPrinterColumns")), is_custom=True, scale=below.get("scale"),
        list_kind=names["listKind"],
        selectable=tuple(field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()),
        converter=converter, stored_version=next(one["name"] for one in spec["versions"] if one.get("storage")),
        rules=ruled(structural),
    )  # fmt: skip


def _columns(columns: list[Node] | None) -> tuple[Node, ...]:
    if not columns:
        return (NAME, AGE)
    return (NAME, *({"format": "", "priority": 0, "description": "", **column} for column in columns))


def restore(store: Store, registry: Registry) -> None:
    """Serve the definitions that existed when the sandbox stopped."""
    for stored in store.list(TABLE):
        registry.define(name_of(stored.manifest), resources_of(stored.manifest))


def follow(change: Change, world: World) -> None:
    """Serve a changed definition, and update its status."""
    name = change.now.key[2]
    if change.type == "DELETED":
        world.registry.define(name, ())
        api_services.follow(world)
        return
    definition = change.now.copy()
    taken = _has_taken_names(definition, world.registry)
    if _report(definition, world.now(), taken=taken):
        world.store.put(change.now.key, definition)
        return  # this function's own change calls it again
    if not taken:
        world.registry.define(name, resources_of(definition, converts=world.asks_others))
        api_services.follow(world)


def _has_taken_names(definition: Manifest, registry: Registry) -> bool:
    """Whether another definition of the group has the kind or a short name."""
    spec = definition["spec"]
    mine = spec["names"]
    for other in registry.all():
        if other.group != spec["group"] or other.plural == mine["plural"]:
            continue
        names = {*mine.get("shortNames", ()), mine["singular"]}
        if other.kind == mine["kind"] or names & {*other.short, other.singular}:
            return True
    return False


_ACCEPTED = (
    ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
    ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
)
_REFUSED = (
    ("NamesAccepted", "False", "KindConflict", "another definition of the group has one of the names"),
    ("Established", "False", "NotAccepted", "not all names are accepted"),
)


def _report(definition: Manifest, now: str, *, taken: bool) -> bool:
    """Update the status; returns whether it changed."""
    status = definition.setdefault("status", {})
    before = {condition.get("type"): condition for condition in status.get("conditions", [])}
    names: Any = definition["spec"]["names"]
    desired = _REFUSED if taken else _ACCEPTED
    conditions = [
        dict(one) for one in status.get("conditions", []) if one.get("type") not in ("NamesAccepted", "Established")
    ]
    fresh = [_condition(before.get(expected[0]), expected, now) for expected in desired]
    changed = bool(
        status.get("conditions", []) != fresh + conditions or (not taken and status.get("acceptedNames") != names)
    )
    status["conditions"] = fresh + conditions
    if not taken:
        status["acceptedNames"] = names
    return changed


def _condition(before: Manifest | None, expected: tuple[str, str, str, str], now: str) -> Manifest:
    kind, status, reason, message = expected
    if before and before.get("status") == status:
        return before
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
