"""A client that caches what it read until an event reports that another client changed it.

The receiver of events keeps, for each kind and namespace, the sum of weights (hashes) of the resourceVersions of all
reported changes (`Changes`). An answer is cached together with the sum at that time. The answer to a write of this
client contains the new resourceVersion, so the sum that its event will lead to is known before the event arrives; any
other sum means that another client wrote, and the next read asks the API server. Between such a change and its event
the cache is as old as that of an informer; the event rings the step again, and every write is guarded by the
resourceVersion that was read.

Workers do not wait for the events of each other's writes: a step that a run rings by an emitted event may run before
them, and nothing would ring it again. So each write is counted (`Changes.wrote`) before its run can end, and a worker
whose count of its own writes differs asks the API server. After a refused write the cached object is dropped.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from shared.adapters.kube.client import JSON, KubeClient, Propagation, Query
from shared.adapters.kube.connection import Connection
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.inventory import METADATA
from shared.adapters.kube.paths import path_of
from shared.api.manifest import Manifest, metadata, name_of, namespace_of, resource_version_of
from shared.kinds import API_SERVICE, BY_IDENTITY, CUSTOM_RESOURCE_DEFINITION, Kind, Ref
from shared.resource_versions import weight

GOOD_SECONDS = 10.0
"""Maximum age of a cached answer: a bound for lost events."""
MODULUS = 2**48
"""Of the sums; the arithmetic of every writer is exact up to it."""
MAX_SHELVES = 128
MAX_OBJECTS = 200
"""A longer list is not cached."""
DEFINING = (CUSTOM_RESOURCE_DEFINITION, API_SERVICE)
"""Kinds whose objects change what the API server serves."""
MANY = frozenset({CUSTOM_RESOURCE_DEFINITION})
"""Kinds of which many objects are looked up before they are created: the second miss lists the names of all."""
_ALL = ""
_NAMES = "*"
"""In place of a name: all objects, and the names of all objects. No object can have such a name."""


@dataclass(frozen=True, slots=True)
class Told:
    """The reported changes of one kind in one namespace."""

    total: int = 0
    """The sum of the `weight` of every change, modulo `MODULUS`."""
    newest: str = ""
    """The newest resourceVersion; empty when none is a decimal number."""
    writes: int = 0
    """The number of writes of all workers, each counted before its event."""


class Changes(Protocol):
    """The changes that events reported, and the writes of the workers."""

    def told(self, kind: Kind, namespace: str) -> Told:
        """The changes of the kind in the namespace (empty: in all namespaces); zeros without any."""
        ...

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        ...


class _Key(NamedTuple):
    """One cached request."""

    kind: Kind
    namespace: str
    """Empty: all namespaces."""
    name: str
    """The name of one object, or `_ALL`, or `_NAMES`."""


@dataclass(slots=True)
class _Shelf:
    """Objects that were read together, and the sums at which they are still current."""

    objects: dict[Ref, Manifest | None]
    totals: list[int]
    writes: int
    read_at: float
    is_list: bool
    """It holds all objects of the kind in the namespace (or their names); otherwise one object."""

    def add(self, ref: Ref, answer: Manifest) -> None:
        """Update the shelf after a counted write of this client to an object of the kind in the namespace."""
        self.writes += 1
        known = self.objects.get(ref)
        if known is not None and resource_version_of(known) == resource_version_of(answer):
            return  # nothing changed, so there will be no event
        self.totals.append((self.totals[-1] + weight(resource_version_of(answer))) % MODULUS)
        if self.is_list or ref in self.objects:
            self.objects[ref] = answer


@dataclass(slots=True)
class _Shelves:
    """All cached answers, the oldest first."""

    _by_key: OrderedDict[_Key, _Shelf] = field(default_factory=OrderedDict)

    def __contains__(self, key: _Key) -> bool:
        return key in self._by_key

    def get(self, key: _Key) -> _Shelf | None:
        return self._by_key.get(key)

    def put(self, key: _Key, shelf: _Shelf) -> None:
        """Add a shelf, and drop those that are too old or too many: objects may be large."""
        self._by_key[key] = shelf
        self._by_key.move_to_end(key)
        oldest = next(iter(self._by_key.values()))
        while len(self._by_key) > MAX_SHELVES or shelf.read_at - oldest.read_at > GOOD_SECONDS:
            self._by_key.popitem(last=False)
            oldest = next(iter(self._by_key.values()))

    def drop(self, key: _Key) -> None:
        self._by_key.pop(key, None)

    def touching(self, kind: Kind, namespace: str) -> list[tuple[_Key, _Shelf]]:
        """The shelves that may hold an object of the kind in the namespace."""
        return [
            (key, shelf) for key, shelf in self._by_key.items() if key.kind == kind and key.namespace in ("", namespace)
        ]


class CachedClient(KubeClient):
    """A `KubeClient` for one thread that caches reads of some kinds."""

    def __init__(
        self,
        connection: Connection,
        changes: Changes,
        kinds: Collection[Kind],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`kinds` are the kinds of which `changes` reports every change."""
        super().__init__(connection)
        self._changes = changes
        self._remembered = frozenset(kinds)
        self._now = now
        self._shelves = _Shelves()
        self._definitions: tuple[Told, ...] = ()

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None. Discovery is asked again after a change of any definition or APIService."""
        if (api_version, kind) not in BY_IDENTITY:
            told = tuple(self._changes.told(kind, "") for kind in DEFINING)
            if told != self._definitions:
                self._kinds.forget()
                self._definitions = told
        return super().find(api_version, kind)

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind not in self._remembered or kind is None:
            return super().get(ref)
        told = self._changes.told(kind, ref.namespace)
        shelf = self._good(_Key(kind, ref.namespace, ref.name), told) or self._listed(kind, ref.namespace, told)
        if shelf is not None:
            return shelf.objects.get(ref)
        if self._is_absent(kind, ref, told):
            return None
        found = super().get(ref)
        self._remember(_Key(kind, ref.namespace, ref.name), told, {ref: found})
        return found

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        """All objects of a kind, sorted by name; none when the kind is not served."""
        if kind not in self._remembered or labels:
            return super().list(kind, namespace, labels=labels)
        told = self._changes.told(kind, namespace)
        if (shelf := self._listed(kind, namespace, told)) is not None:
            wanted = (item for item in shelf.objects.items() if namespace in ("", item[0].namespace))
            return tuple(found for _, found in sorted(wanted, key=_by_place) if found is not None)
        self._freshness.at_least(kind, told.newest)
        listed = super().list(kind, namespace)
        if len(listed) <= MAX_OBJECTS:
            self._remember(_Key(kind, namespace, _ALL), told, {Ref.of(each): each for each in listed})
        return listed

    def delete(self, ref: Ref, *, uid: str = "", propagation: Propagation = "Background") -> None:
        """DELETE; with `uid`, only the object with that uid."""
        self._forget(ref)
        super().delete(ref, uid=uid, propagation=propagation)
        self._count(ref)

    def _is_absent(self, kind: Kind, ref: Ref, told: Told) -> bool:
        """Whether the list of names lacks the object; it is read when a second object of the kind is missing."""
        if kind not in MANY:
            return False
        names = self._good(_Key(kind, ref.namespace, _NAMES), told)
        if names is None:
            missed = (None in shelf.objects.values() for _, shelf in self._shelves.touching(kind, ref.namespace))
            if not any(missed):
                return False
            self._freshness.at_least(kind, told.newest)
            path, fresh = path_of(kind, ref.namespace), self._freshness.query(kind)
            items = self.request("GET", path, query=fresh, accept=METADATA).get("items") or ()
            listed: dict[Ref, Manifest | None] = {kind.ref(name_of(item), namespace_of(item)): item for item in items}
            names = self._remember(_Key(kind, ref.namespace, _NAMES), told, listed)
        return ref not in names.objects

    def _listed(self, kind: Kind, namespace: str, told: Told) -> _Shelf | None:
        """A current list of the whole namespace; `told` are the changes of the namespace."""
        if (shelf := self._good(_Key(kind, namespace, _ALL), told)) is not None or not namespace:
            return shelf
        everywhere = _Key(kind, "", _ALL)
        return self._good(everywhere, self._changes.told(kind, "")) if everywhere in self._shelves else None

    def _good(self, key: _Key, told: Told) -> _Shelf | None:
        shelf = self._shelves.get(key)
        if shelf is None:
            return None
        is_foreign = told.total not in shelf.totals or told.writes != shelf.writes
        if is_foreign or self._now() - shelf.read_at > GOOD_SECONDS:
            self._shelves.drop(key)
            return None
        return shelf

    def _remember(self, key: _Key, told: Told, objects: dict[Ref, Manifest | None]) -> _Shelf:
        shelf = _Shelf(objects, [told.total], told.writes, self._now(), is_list=key.name in (_ALL, _NAMES))
        self._shelves.put(key, shelf)
        return shelf

    def _write(
        self,
        method: str,
        ref: Ref,
        body: Manifest,
        *,
        subresource: str = "",
        query: Query = None,
        content_type: str = JSON,
    ) -> Manifest:
        try:
            answer = super()._write(method, ref, body, subresource=subresource, query=query, content_type=content_type)
        except ApiError:
            self._forget(ref)  # an outdated answer may be the cause; and a write without answer may have happened
            raise
        if (kind := self._count(ref)) is not None:
            if metadata(answer).get("deletionTimestamp"):
                self._forget(ref)  # this write may have removed it, with its last finalizer
            for _, shelf in self._shelves.touching(kind, ref.namespace):
                shelf.add(ref, answer)
        return answer

    def _count(self, ref: Ref) -> Kind | None:
        """Count a write for the other workers; returns its kind if that is cached."""
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind not in self._remembered or kind is None:
            return None
        self._changes.wrote(kind, ref.namespace)
        return kind

    def _forget(self, ref: Ref) -> None:
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind is not None:
            for key, _ in self._shelves.touching(kind, ref.namespace):
                self._shelves.drop(key)


def _by_place(item: tuple[Ref, Manifest | None]) -> tuple[str, str]:
    return item[0].namespace, item[0].name
