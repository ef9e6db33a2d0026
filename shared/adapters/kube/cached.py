"""A client that caches what it read until an event reports that another client changed it.

The receiver of events keeps, for each kind and namespace, the sum of weights (hashes) of the resourceVersions of all
reported changes (`Changes`). An answer is cached together with the sum at that time. The answer to a write of this
client contains the new resourceVersion, so the sum that its event will lead to is known before the event arrives; any
other sum means that another client wrote, and the next read asks the API server. Between such a change and its event
the cache is as old as that of an informer; the event enqueues the step again, and every write is guarded by the
resourceVersion that was read.

Workers do not wait for the events of each other's writes: a step that a run enqueues by an emitted event may run before
them, and nothing would enqueue it again. So each write is counted (`Changes.wrote`) before its run can end, and a
worker whose count of its own writes differs asks the API server. After a refused write the cached object is dropped.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from shared.adapters.kube.client import JSON, KubeClient, Propagation, Query
from shared.adapters.kube.connection import Connection
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.inventory import named
from shared.adapters.kube.written import Written
from shared.api.manifest import Manifest, labels_of, metadata, resource_version_of
from shared.kinds import API_SERVICE, BY_IDENTITY, CUSTOM_RESOURCE_DEFINITION, Kind, Ref
from shared.names import MANAGED
from shared.resource_versions import weight

GOOD_SECONDS = 10.0
"""Maximum age of a cached answer: a bound for lost events."""
MODULUS = 2**48
"""Of the sums; the arithmetic of every writer is exact up to it."""
MAX_CACHE_ENTRIES = 128
MAX_OBJECTS = 200
"""A longer list is not cached."""
DEFINING = (CUSTOM_RESOURCE_DEFINITION, API_SERVICE)
"""Kinds whose objects change what the API server serves."""
MANY = frozenset({CUSTOM_RESOURCE_DEFINITION})
"""Kinds of which many objects are looked up before they are created: the second miss lists the names of all."""
_ALL, _NAMES = "", "*"
"""In place of a name: all objects, and the names of all objects. No object can have such a name."""
_PRESENT: Manifest = {}


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The reported changes of one kind in one namespace."""

    total: int = 0
    """The sum of the `weight` of every change, modulo `MODULUS`."""
    newest: str = ""
    """The newest resourceVersion; empty when none is a decimal number."""
    writes: int = 0
    """The number of writes of all workers, each counted before its event."""


class Changes(Protocol):
    """The changes that events reported, and the writes of the workers."""

    def counts(self, kind: Kind, namespace: str) -> ChangeCounts:
        """The changes of the kind in the namespace (empty: in all namespaces); zeros without any."""
        ...

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        ...


class _Key(NamedTuple):
    """One cached request; without a namespace about all, with `_ALL` or `_NAMES` for a name about many objects."""

    kind: Kind
    namespace: str
    name: str


@dataclass(slots=True)
class _CacheEntry:
    """Objects that were read together, and the sums at which they are still current."""

    objects: dict[Ref, Manifest | None]
    totals: list[int]
    writes: int
    read_at: float
    is_list: bool
    """It holds all objects of the kind in the namespace (or their names); otherwise one object."""

    def add(self, ref: Ref, answer: Manifest) -> None:
        """Update the entry after a counted write of this client to an object of the kind in the namespace."""
        self.writes += 1
        known = self.objects.get(ref)
        if known is not None and resource_version_of(known) == resource_version_of(answer):
            return  # nothing changed, so there will be no event
        self.totals.append((self.totals[-1] + weight(resource_version_of(answer))) % MODULUS)
        if self.is_list or ref in self.objects:
            self.objects[ref] = answer


@dataclass(slots=True)
class _Cache:
    """All cached answers, the oldest first."""

    _by_key: OrderedDict[_Key, _CacheEntry] = field(default_factory=OrderedDict)

    def __contains__(self, key: _Key) -> bool:
        return key in self._by_key

    def get(self, key: _Key) -> _CacheEntry | None:
        return self._by_key.get(key)

    def put(self, key: _Key, entry: _CacheEntry) -> None:
        """Add an entry, and drop those that are too old or too many: objects may be large."""
        self._by_key[key] = entry
        self._by_key.move_to_end(key)
        oldest = next(iter(self._by_key.values()))
        while len(self._by_key) > MAX_CACHE_ENTRIES or entry.read_at - oldest.read_at > GOOD_SECONDS:
            self._by_key.popitem(last=False)
            oldest = next(iter(self._by_key.values()))

    def drop(self, key: _Key) -> None:
        self._by_key.pop(key, None)

    def touching(self, kind: Kind, namespace: str) -> list[tuple[_Key, _CacheEntry]]:
        """The entries that may hold an object of the kind in the namespace."""
        return [
            (key, entry) for key, entry in self._by_key.items() if key.kind == kind and key.namespace in ("", namespace)
        ]


class CachedClient(KubeClient):
    """A `KubeClient` that caches reads of some kinds; threads share it.

    What was told is looked up, and compared with what is cached, under a lock, and so are a write counted and its
    answer added; only requests to the API server are sent outside of it. An answer is not cached if this client wrote
    to the kind meanwhile: nobody could say whether the write is in it.
    """

    def __init__(
        self,
        connection: Connection,
        changes: Changes,
        kinds: Collection[Kind],
        labelled: Collection[Kind] = (),
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`changes` reports every change of the `kinds`; of the `labelled` ones those of objects labelled as ours."""
        super().__init__(connection)
        self._changes = changes
        self._remembered = frozenset((*kinds, *labelled))
        self._labelled = frozenset(labelled)
        self._now = now
        self._cache = _Cache()
        self._definitions: tuple[ChangeCounts, ...] = ()
        self._lock = threading.RLock()
        self._written = Written()

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None. Discovery is asked again after a change of any definition or APIService."""
        if (api_version, kind) not in BY_IDENTITY:
            counts = tuple(self._changes.counts(kind, "") for kind in DEFINING)
            with self._lock:
                if counts != self._definitions:
                    self._kinds.forget()
                    self._definitions = counts
        return super().find(api_version, kind)

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind not in self._remembered or kind is None or self._acting_as:  # why: its answers are what we may read
            return super().get(ref)
        with self._lock:
            counts, written = self._changes.counts(kind, ref.namespace), self._written.last(kind, ref.namespace)
            entry = self._good(_Key(kind, ref.namespace, ref.name), counts) or self._listed(kind, ref.namespace, counts)
            if entry is not None:
                return entry.objects.get(ref)
        if self._is_absent(kind, ref, counts, written):
            return None
        found = super().get(ref)
        if self._is_reported(kind, found):
            self._remember(_Key(kind, ref.namespace, ref.name), counts, {ref: found}, written)
        return found

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        """All objects of a kind, sorted by name; none when the kind is not served."""
        if kind not in self._remembered or kind in self._labelled or labels or self._acting_as:
            return super().list(kind, namespace, labels=labels)
        with self._lock:
            counts, written = self._changes.counts(kind, namespace), self._written.last(kind, namespace)
            if (entry := self._listed(kind, namespace, counts)) is not None:
                desired = (item for item in entry.objects.items() if namespace in ("", item[0].namespace))
                return tuple(found for _, found in sorted(desired, key=_by_place) if found is not None)
        self._freshness.at_least(kind, counts.newest)
        listed = super().list(kind, namespace)
        if len(listed) <= MAX_OBJECTS:
            self._remember(_Key(kind, namespace, _ALL), counts, {Ref.of(each): each for each in listed}, written)
        return listed

    def delete(self, ref: Ref, *, uid: str = "", propagation: Propagation = "Background") -> None:
        """DELETE; with `uid`, only the object with that uid."""
        self._forget(ref)
        super().delete(ref, uid=uid, propagation=propagation)
        with self._lock:
            self._count(ref)

    def _is_reported(self, kind: Kind, found: Manifest | None) -> bool:
        return kind not in self._labelled or (found is not None and MANAGED in labels_of(found))

    def _is_absent(self, kind: Kind, ref: Ref, counts: ChangeCounts, written: int) -> bool:
        """Whether the list of names lacks the object; it is read when a second object of the kind is missing."""
        if kind not in MANY:
            return False
        with self._lock:
            names = self._good(_Key(kind, ref.namespace, _NAMES), counts)
            missed = any(None in entry.objects.values() for _, entry in self._cache.touching(kind, ref.namespace))
        if names is None:
            if not missed:
                return False
            self._freshness.at_least(kind, counts.newest)
            listed = named(self, kind, self._freshness.query(kind))
            names = self._remember(_Key(kind, ref.namespace, _NAMES), counts, dict.fromkeys(listed, _PRESENT), written)
        return ref not in names.objects

    def _listed(self, kind: Kind, namespace: str, counts: ChangeCounts) -> _CacheEntry | None:
        """A current list of the whole namespace; `counts` are the changes of the namespace."""
        if (entry := self._good(_Key(kind, namespace, _ALL), counts)) is not None or not namespace:
            return entry
        everywhere = _Key(kind, "", _ALL)
        return self._good(everywhere, self._changes.counts(kind, "")) if everywhere in self._cache else None

    def _good(self, key: _Key, counts: ChangeCounts) -> _CacheEntry | None:
        entry = self._cache.get(key)
        if entry is None:
            return None
        is_foreign = counts.total not in entry.totals or counts.writes != entry.writes
        if is_foreign or self._now() - entry.read_at > GOOD_SECONDS:
            self._cache.drop(key)
            return None
        return entry

    def _remember(
        self, key: _Key, counts: ChangeCounts, objects: dict[Ref, Manifest | None], written: int
    ) -> _CacheEntry:
        entry = _CacheEntry(objects, [counts.total], counts.writes, self._now(), is_list=key.name in (_ALL, _NAMES))
        with self._lock:
            if self._written.last(key.kind, key.namespace) == written:
                self._cache.put(key, entry)
        return entry

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
        with self._lock:
            if (kind := self._count(ref)) is not None:
                if metadata(answer).get("deletionTimestamp") or not self._is_reported(kind, answer):
                    self._forget(ref)  # this write may have removed it, with its last finalizer, or its label
                for _, entry in self._cache.touching(kind, ref.namespace):
                    entry.add(ref, answer)
        return answer

    def _count(self, ref: Ref) -> Kind | None:
        """Count a write for the other workers; returns its kind if that is cached."""
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind not in self._remembered or kind is None:
            return None
        self._changes.wrote(kind, ref.namespace)
        self._written.note(kind, ref.namespace)
        return kind

    def _forget(self, ref: Ref) -> None:
        kind = BY_IDENTITY.get((ref.api_version, ref.kind))
        if kind is not None:
            with self._lock:
                self._written.note(kind, ref.namespace)
                for key, _ in self._cache.touching(kind, ref.namespace):
                    self._cache.drop(key)


def _by_place(item: tuple[Ref, Manifest | None]) -> tuple[str, str]:
    return item[0].namespace, item[0].name
