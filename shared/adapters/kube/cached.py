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

Of kinds that nobody need watch, objects of revisions are cached like this for the few seconds of a roll-out: most
are watched as long as a revision has some; of the others nobody would be told either if they changed a moment later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice

from shared.adapters.kube.answers import (
    BRIEF_SECONDS,
    GOOD_SECONDS,
    Cache,
    CacheEntry,
    ChangeCounts,
    Changes,
    Key,
    Moment,
    is_of_revision,
)
from shared.adapters.kube.client import JSON, KubeClient, Propagation, Query
from shared.adapters.kube.connection import Connection
from shared.adapters.kube.discovery import FRESH_SECONDS, KindIndex
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.inventory import named
from shared.adapters.kube.transport import Transport
from shared.adapters.kube.written import Written
from shared.api.manifest import Manifest, labels_of, metadata, resource_version_of
from shared.kinds import API_SERVICE, BY_IDENTITY, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, Kind, Ref
from shared.names import MANAGED
from shared.resource_versions import is_newer

MAX_OBJECTS = 200
"""A longer list is not cached."""
MAX_NAMESPACES = 1_000
"""Not even of these, which are small, and which each run for a group of all namespaces lists."""
DEFINING = (CUSTOM_RESOURCE_DEFINITION, API_SERVICE)
"""Kinds whose objects change what the API server serves."""
MANY = frozenset({CUSTOM_RESOURCE_DEFINITION})
"""Kinds of which many objects are looked up before they are created: the second miss lists the names of all."""
_ALL, _NAMES = "", "*"
"""In place of a name: all objects, and the names of all objects. No object can have such a name."""
_PRESENT: Manifest = {}


class CachedClient(KubeClient):
    """A `KubeClient` that caches reads of some kinds; threads share it.

    What was told is looked up, and compared with what is cached, under a lock, and so are a write counted and its
    answer added; only requests to the API server are sent outside of it. An answer is not cached if this client wrote
    to the kind meanwhile: nobody could say whether the write is in it.
    """

    def __init__(
        self,
        server: Connection | Transport,
        changes: Changes,
        kinds: Collection[Kind],
        labelled: Collection[Kind] = (),
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`changes` reports every change of the `kinds`; of the `labelled` ones those of objects labelled as ours."""
        super().__init__(server)
        self._kinds = KindIndex(lambda path: self.request("GET", path), absent=FRESH_SECONDS)
        self._changes = changes
        self._remembered = frozenset((*kinds, *labelled))
        self._labelled = frozenset(labelled)
        self._now = now
        self._found = dict(BY_IDENTITY)
        self._cache = Cache()
        self._definitions: tuple[ChangeCounts, ...] = ()
        self._lock = threading.RLock()
        self._written = Written()
        self._restored: dict[Kind, str] = {}
        """What was told when the API server was last believed to be restored, or when the kind was first read."""

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None. Discovery is asked again after a change of any definition or APIService."""
        if (api_version, kind) not in BY_IDENTITY:
            counts = tuple(self._changes.counts(kind, "") for kind in DEFINING)
            with self._lock:
                if counts != self._definitions:
                    self._kinds.forget()
                    self._definitions = counts
        if found := super().find(api_version, kind):
            self._found[api_version, kind] = found
        return found

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        kind = self._found.get((ref.api_version, ref.kind)) or self.find(ref.api_version, ref.kind)
        if kind is None or self._acting_as:  # why: its answers are what we may read
            return super().get(ref)
        with self._lock:
            counts, written = self._counts(kind, ref.namespace), self._written.last(kind, ref.namespace)
            entry = self._good(Key(kind, ref.namespace, ref.name), counts) or self._listed(kind, ref.namespace, counts)
            if entry is not None:
                return entry.objects.get(ref)
        if self._is_absent(kind, ref, counts, written):
            return None
        found = super().get(ref)
        if self._is_reported(kind, found):
            self._remember(Key(kind, ref.namespace, ref.name), counts, {ref: found}, written)
        return found

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        """All objects of a kind, sorted by name; none when the kind is not served."""
        if kind not in self._remembered or kind in self._labelled or self._acting_as:
            return super().list(kind, namespace, labels=labels, most=most)
        key = Key(kind, namespace, _ALL, tuple(sorted((labels or {}).items())))
        with self._lock:
            counts, written = self._counts(kind, namespace), self._written.last(kind, namespace)
            if (entry := self._good(key, counts) or self._listed(kind, namespace, counts)) is not None:
                desired = (item for item in entry.objects.items() if namespace in ("", item[0].namespace))
                found = (each for _, each in sorted(desired, key=_by_place) if each is not None)
                return tuple(islice(filter(key.selects, found), most or None))
        self._freshness.at_least(kind, counts.newest)
        listed = super().list(kind, namespace, labels=labels, most=most)
        longest = MAX_NAMESPACES if kind == NAMESPACE else MAX_OBJECTS
        if len(listed) <= longest and not 0 < most <= len(listed):  # why: a part of a list is none
            self._remember(key, counts, {Ref.of(each): each for each in listed}, written)
        return listed

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "", propagation: Propagation = "Background"
    ) -> None:
        """DELETE; with `uid` or `resource_version`, only the object that has these."""
        self._forget(ref)
        super().delete(ref, uid=uid, resource_version=resource_version, propagation=propagation)
        with self._lock:
            self._count(ref)

    def _is_reported(self, kind: Kind, found: Manifest | None) -> bool:
        if kind not in self._remembered:
            return is_of_revision(found)
        return kind not in self._labelled or (found is not None and MANAGED in labels_of(found))

    def _seconds(self, key: Key, objects: Mapping[Ref, Manifest | None]) -> float:
        """How long an answer is good at most."""
        is_fixed = all((one or {}).get("immutable") is True for one in objects.values())
        return GOOD_SECONDS if key.kind in self._remembered or is_fixed else BRIEF_SECONDS

    def _is_absent(self, kind: Kind, ref: Ref, counts: ChangeCounts, written: int) -> bool:
        """Whether the list of names lacks the object; it is read when a second object of the kind is missing."""
        if kind not in MANY:
            return False
        with self._lock:
            names = self._good(Key(kind, ref.namespace, _NAMES), counts)
            missed = any(None in entry.objects.values() for _, entry in self._cache.touching(kind, ref.namespace))
        if names is None:
            if not missed:
                return False
            self._freshness.at_least(kind, counts.newest)
            listed = named(self, kind, self._freshness.query(kind))
            names = self._remember(Key(kind, ref.namespace, _NAMES), counts, dict.fromkeys(listed, _PRESENT), written)
        return ref not in names.objects

    def pages(
        self, kind: Kind, path: str, query: Mapping[str, str], *, first: Query = None, accept: str = JSON
    ) -> Iterator[Manifest]:
        """Every item of a collection; none is older than what events told of the kind."""
        if kind.watch:
            self._freshness.at_least(kind, self._counts(kind, "").newest)
        return super().pages(kind, path, query, first=first, accept=accept)

    def check_age(self, kind: Kind, page: Manifest) -> None:
        """As the watcher has it, which saw what became of known objects: it says when the server was restored."""
        try:
            super().check_age(kind, page)
        except ApiError:
            counts = self._counts(kind, "")
            if counts.restored == self._restored[kind] or is_newer(counts.newest, resource_version_of(page)):
                raise
            self._restored[kind] = counts.restored
            self._freshness.forget(kind)

    def _counts(self, kind: Kind, namespace: str) -> ChangeCounts:
        """What was told of the kind; a restore of before the first look has been seen by all that this client reads."""
        if kind not in self._restored:
            self._restored.setdefault(kind, self._changes.counts(kind, "").restored)
        return self._changes.counts(kind, namespace)

    def _listed(self, kind: Kind, namespace: str, counts: ChangeCounts) -> CacheEntry | None:
        """A current list of the whole namespace; `counts` are the changes of the namespace."""
        if (entry := self._good(Key(kind, namespace, _ALL), counts)) is not None or not namespace:
            return entry
        everywhere = Key(kind, "", _ALL)
        return self._good(everywhere, self._changes.counts(kind, "")) if everywhere in self._cache else None

    def _good(self, key: Key, counts: ChangeCounts) -> CacheEntry | None:
        entry = self._cache.get(key)
        if entry is None:
            return None
        is_foreign = counts.total not in entry.totals or counts.writes != entry.writes
        if is_foreign or self._now() - entry.read_at > entry.seconds:
            self._cache.drop(key)
            return None
        return entry

    def _remember(
        self, key: Key, counts: ChangeCounts, objects: dict[Ref, Manifest | None], written: int
    ) -> CacheEntry:
        entry = CacheEntry(objects, [counts.total], counts.writes, self._now(), is_list=key.name in (_ALL, _NAMES))
        entry.seconds = self._seconds(key, objects)
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
        before = self._before(ref) if method == "POST" else None
        try:
            answer = super()._write(method, ref, body, subresource=subresource, query=query, content_type=content_type)
        except ApiError:
            self._forget(ref)  # an outdated answer may be the cause; and a write without answer may have happened
            raise
        with self._lock:
            if before is not None and self._is_reported(before.kind, answer):
                self._expect(ref, before)
            if (kind := self._counted(ref, answer)) is not None:
                if metadata(answer).get("deletionTimestamp") or not self._is_reported(kind, answer):
                    self._forget(ref)  # this write may have removed it, with its last finalizer, or its label
                for key, entry in self._cache.touching(kind, ref.namespace):
                    entry.add(ref, answer, is_selected=key.selects(answer))
        return answer

    def _before(self, ref: Ref) -> Moment | None:
        """The moment before an object is made that may be cached."""
        kind = self._found.get((ref.api_version, ref.kind))
        if kind is None or self._acting_as:
            return None
        with self._lock:
            return Moment(kind, self._changes.counts(kind, ref.namespace), self._written.last(kind, ref.namespace))

    def _expect(self, ref: Ref, before: Moment) -> None:
        """An object that was just made is cached as one that was absent before."""
        key = Key(before.kind, ref.namespace, ref.name)
        if key not in self._cache:
            self._remember(key, before.counts, {ref: None}, before.written)

    def _counted(self, ref: Ref, answer: Manifest) -> Kind | None:
        """Count a write, unless no worker would cache its answer."""
        kind = self._found.get((ref.api_version, ref.kind))
        if kind is None or kind in self._remembered or self._is_reported(kind, answer):
            return self._count(ref)
        self._forget(ref)
        return None

    def _count(self, ref: Ref) -> Kind | None:
        """Count a write for the other workers; returns its kind if that may be cached."""
        kind = self._found.get((ref.api_version, ref.kind))
        if kind is None:
            return None
        self._changes.wrote(kind, ref.namespace)
        self._written.note(kind, ref.namespace)
        return kind

    def _forget(self, ref: Ref) -> None:
        kind = self._found.get((ref.api_version, ref.kind))
        if kind is not None:
            with self._lock:
                self._written.note(kind, ref.namespace)
                for key, _ in self._cache.touching(kind, ref.namespace):
                    self._cache.drop(key)


def _by_place(item: tuple[Ref, Manifest | None]) -> tuple[str, str]:
    return item[0].namespace, item[0].name
