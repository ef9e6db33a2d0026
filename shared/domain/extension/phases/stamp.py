"""The objects of a revision as they are written, and how the cluster's differ from them (v1.md §21.7)."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata
from shared.api.views import ClusterObjectSet, ManagedFields, Object
from shared.domain.extension.phases.actions import Drift
from shared.domain.subset import covers

_SEEN_BY_LABEL: Final = frozenset((kind.api_version, kind.kind) for kind in kinds.HIGH_CARDINALITY)
"""Kinds of which a cluster has many: the audit, and Knative's source, look at those with our label alone."""
_IDENTITY: Final = ("name", "namespace")
Fields: TypeAlias = Mapping[str, Any]  # why: a tree of `fieldsV1`
"""Fields as `managedFields` lists them."""


def stamped(
    manifest: ReadOnly, revision: ClusterObjectSet, actual: ReadOnly | None, *, is_namespaced: bool
) -> Manifest:
    """The object as the revision writes it: marked as its own, and without a controller besides it."""
    labels = {**labels_of(manifest), names.V1_MANAGED_BY: names.V1_MANAGER}
    if revision.owner:
        labels[names.V1_OWNER_NAME] = revision.owner
    if (manifest.get("apiVersion"), manifest.get("kind")) in _SEEN_BY_LABEL:
        labels[names.MANAGED] = "true"
    annotations = {**annotations_of(manifest), names.V1_REVISION: str(revision.number)}
    others = [one for one in Object(actual or {}).owners if one.uid != revision.uid]
    released = [{**one.raw, "controller": False} if one.is_controller else dict(one.raw) for one in others]
    meta = {
        **metadata(manifest), "labels": labels, "annotations": annotations,
        "ownerReferences": [*released, dict(revision.reference)],
    }  # fmt: skip
    if not is_namespaced:
        meta.pop("namespace", None)
    return {**_stored(manifest), "metadata": meta}


def _stored(manifest: ReadOnly) -> ReadOnly:
    """The object with the text of a Secret where the API server puts it: nobody could find it at its own place."""
    texts = manifest.get("stringData")
    if (manifest.get("apiVersion"), manifest.get("kind")) != ("v1", "Secret") or not isinstance(texts, Mapping):
        return manifest
    encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
    kept = {key: value for key, value in manifest.items() if key != "stringData"}
    return {**kept, "data": {**(manifest.get("data") or {}), **encoded}}


def released(actual: ReadOnly, uid: str) -> Manifest:
    """The patch that takes the owner reference of a revision off an object."""
    return {"metadata": {"ownerReferences": [dict(one.raw) for one in Object(actual).owners if one.uid != uid]}}


def unmarked() -> Manifest:
    """The patch that takes the marks of a revision off an object that outlives it."""
    return {"metadata": {"labels": {names.V1_MANAGED_BY: None}, "annotations": {names.V1_REVISION: None}}}


def drift(desired: ReadOnly, actual: ReadOnly) -> Drift:
    """How the cluster's object differs: which of our fields others hold, and which nobody holds as it should be.

    What we hold is as we wrote it, even where the server spells it in another way.
    """
    ours, theirs = _owned(actual, is_ours=True), _owned(actual, is_ours=False)
    if not ours and not theirs:  # a server that keeps no account of fields
        return Drift(is_modified=not covers(actual, _fields_of(desired)))
    lost = list(_lost(_fields_of(desired), actual, ours))
    return Drift(
        is_modified=any(not one.is_there for one in lost),
        is_contested=any(_covers(theirs, one.path) for one in lost),
    )


def last_applied(actual: ReadOnly) -> datetime | None:
    """When an object was last changed by an apply of ours; None when it never was."""
    times = (one.since for one in Object(actual).managed if _is_ours(one) and one.operation == "Apply")
    return max(filter(None, times), default=None)


def claimed(actual: ReadOnly, before: Collection[str] = (names.V1_HELM_MANAGER,)) -> Manifest | None:
    """The patch that makes fields which we, or the managers `before` us, wrote ones that we apply; None without any.

    Only what was applied goes when it is not applied any more.
    """
    entries = Object(actual).managed
    created = [one for one in entries if _is_created(one, before)]
    if not created:
        return None
    mine = [one for one in entries if _is_ours(one) or one in created]
    together: Manifest = {}
    for one in mine:
        _unite(together, one.tree)
    applied = {**created[0].raw, "manager": names.V1_MANAGER, "operation": "Apply", "fieldsV1": together}
    return {"metadata": {"managedFields": [applied, *(one.raw for one in entries if one not in mine)]}}


def _is_created(entry: ManagedFields, before: Collection[str]) -> bool:
    """Whether we wrote these fields without applying them, or somebody did before us."""
    is_created = _is_ours(entry) and entry.operation == "Update"
    return is_created or (entry.manager in before and not entry.subresource)


def _is_ours(entry: ManagedFields) -> bool:
    return entry.manager == names.V1_MANAGER and not entry.subresource


def _owned(actual: ReadOnly, *, is_ours: bool) -> Manifest:
    found: Manifest = {}
    for entry in Object(actual).managed:
        if _is_ours(entry) == is_ours and entry.subresource != "status":
            _unite(found, entry.tree)
    return found


def _unite(into: Manifest, other: ReadOnly) -> None:
    for key, value in other.items():
        _unite(into.setdefault(key, {}), value)


def _fields_of(desired: ReadOnly) -> Manifest:
    """What a manifest states besides what the object is."""
    meta = {key: value for key, value in metadata(desired).items() if key not in _IDENTITY}
    return {**{key: value for key, value in desired.items() if key not in ("apiVersion", "kind")}, "metadata": meta}


@dataclass(frozen=True, slots=True)
class _Lost:
    """A field that is stated and that we do not hold."""

    path: tuple[str, ...]
    """Keys of `fieldsV1` from the top."""
    is_there: bool
    """Whether the object has what is stated."""


def _lost(desired: Any, found: Any, owned: Fields, path: tuple[str, ...] = ()) -> Iterator[_Lost]:
    for key, value, there in _parts(desired, found, owned):
        inner = owned.get(key)
        if inner:
            yield from _lost(value, there, inner, (*path, key))
        elif inner is None or (isinstance(value, Mapping) and not covers(there, value)):
            # An object is held as a whole, or what is left of it once others took the rest: then it tells nothing.
            yield _Lost((*path, key), covers(there, value))


def _parts(desired: Any, found: Any, owned: Fields) -> Iterator[tuple[str, Any, Any]]:
    """The parts of an object or a list: the key under which each is held; what is stated, and what is there."""
    if isinstance(desired, Mapping):
        there = found if isinstance(found, Mapping) else {}
        yield from ((f"f:{key}", value, there.get(key)) for key, value in desired.items() if value is not None)
    elif isinstance(desired, list):
        for item in desired:
            key = next((one for one in owned if _is_key_of(one, item)), f"v:{json.dumps(item)}")
            same = (one for one in found or () if _is_key_of(key, one)) if isinstance(found, list) else ()
            yield key, item, next(iter(same), None)


def _is_key_of(key: str, item: Any) -> bool:
    """Whether an item of a list is held under that key; what it leaves out of its identity, the server filled in."""
    mark, _, text = key.partition(":")
    if mark == "v":
        return bool(json.loads(text) == item)
    if mark != "k" or not isinstance(item, Mapping):
        return False
    identity = json.loads(text)
    return any(name in item for name in identity) and all(item.get(name, one) == one for name, one in identity.items())


def _covers(owned: Fields, path: tuple[str, ...]) -> bool:
    """Whether a field, or something inside it, is held."""
    for key in path:
        if key not in owned:
            return False
        owned = owned[key]
    return True
