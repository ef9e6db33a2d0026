"""Maintains `managedFields`: which manager wrote which field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.fieldsets import Difference, Fields, Path, decode, encode
from eventing.local.apiserver.resources import resolve
from shared.api.manifest import Manifest, ReadOnly, metadata


@dataclass(frozen=True, slots=True)
class Manager:
    """A field manager: its name and its operation."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def is_applier(self) -> bool:
        """Whether it uses server-side apply."""
        return self.operation == "Apply"


@dataclass(frozen=True, slots=True)
class Owned:
    """The fields of a manager, and the time of its last write."""

    fields: Fields
    time: str


Owners: TypeAlias = dict[Manager, Owned]
_UNOWNED = {
    ("f:apiVersion",), ("f:kind",), ("f:metadata",),
    *(("f:metadata", f"f:{name}") for name in (
        "name", "namespace", "uid", "creationTimestamp", "selfLink", "resourceVersion", "generation", "managedFields",
        "deletionTimestamp", "deletionGracePeriodSeconds",
    )),
}  # fmt: skip


def read(manifest: ReadOnly) -> Owners:
    """The managers of an object with their fields."""
    found: Owners = {}
    for entry in metadata(manifest).get("managedFields") or ():
        if entry.get("manager"):
            manager = Manager(
                entry["manager"], entry["operation"], entry.get("apiVersion", ""), entry.get("subresource", "")
            )
            found[manager] = Owned(set(decode(entry.get("fieldsV1") or {})), entry.get("time", ""))
    return found


def write(manifest: Manifest, owners: Owners) -> None:
    """Write the managers into an object."""
    entries = []
    for manager, owned in sorted(owners.items(), key=lambda item: (not item[0].is_applier, item[1].time)):
        if not owned.fields:
            continue
        entry = {
            "manager": manager.name, "operation": manager.operation, "apiVersion": manager.api_version,
            "time": owned.time, "fieldsType": "FieldsV1", "fieldsV1": encode(owned.fields),
            "subresource": manager.subresource,
        }  # fmt: skip
        entries.append({name: value for name, value in entry.items() if value})
    manifest["metadata"]["managedFields"] = entries
    if not entries:
        del manifest["metadata"]["managedFields"]


def is_counted(path: Path, call: Call) -> bool:
    """Whether a manager may own this field by this call."""
    if path in _UNOWNED or path[:2] in _UNOWNED:
        return False
    if call.subresource == "status":
        return path[0] == "f:status"
    return path[0] != "f:status" or "status" not in call.resource.subresources


def difference(call: Call, old: ReadOnly | None, new: ReadOnly) -> Difference:
    """The fields that a write changes and that a manager may own."""
    found = Difference("all" if call.resource.is_custom else "maps")
    found.find(dict(old or {}), dict(new), resolve(call.resource.schema))
    found.written = {path for path in found.written if is_counted(path, call)}
    return found


def without(owners: Owners, fields: Fields) -> Owners:
    """The managers without the given fields."""
    return {
        manager: Owned(owned.fields - fields, owned.time) if owned.fields & fields else owned
        for manager, owned in owners.items()
    }


def record_update(call: Call, old: ReadOnly | None, manifest: Manifest) -> None:
    """Record in managedFields the fields that a write other than an apply has changed."""
    managed = metadata(manifest).get("managedFields")
    # why: kubectl edits managedFields when it starts to apply
    is_edited = bool(managed) and managed != metadata(old or {}).get("managedFields")
    owners = read(manifest if is_edited else old or {})
    if old and not owners:
        write(manifest, {})  # nobody owned anything: owners are recorded from the first apply on
        return
    change = difference(call, old, manifest)
    owners = without(owners, change.written | change.removed)
    if change.written:
        manager = Manager(call.manager[:128], "Update", call.resource.api_version, call.subresource)
        before = owners.pop(manager, None)
        owners[manager] = Owned((before.fields if before else set()) | change.written, call.time)
    write(manifest, owners)
