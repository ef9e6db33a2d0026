"""A client that caches what it read until an event reports that another client changed it.

The receiver of events keeps, for each kind and namespace (or API group: `place_of`), the sum of weights (hashes) of the
resourceVersions of all reported changes (`Changes`). An answer is cached together with the sum at that time. The answer
to a write of this client contains the new resourceVersion, so the sum that its event will lead to is known before the
event arrives; any other sum means that another client wrote, and the next read asks the API server. Between such a
change and its event the cache is as old as that of an informer; the event enqueues the step again, a write of what was
read is guarded by its resourceVersion, and a step that deletes one object because of another asks anew before.

Workers do not wait for the events of each other's writes: a step that a run enqueues by an emitted event may run before
them, and nothing would enqueue it again. So what a run wrote is counted (`ReportedChanges.wrote`) before others may run
what it enqueued, and a worker asks the API server where the count of the others has grown. After a refused write the
cached object is dropped.

Of kinds that nobody need watch, objects of revisions are cached like this for the few seconds of a roll-out: most
are watched as long as a revision has some; of the others nobody would be told either if they changed a moment later.
"""

from __future__ import annotations

import math
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
    by_place,
    is_of_revision,
    place_of,
)
from shared.adapters.kube.client import JSON, KubeClient, Propagation, Query
from shared.adapters.kube.connection import Connection
from shared.adapters.kube.discovery import FRESH_SECONDS, KindIndex
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.inventory import named
from shared.adapters.kube.reported import ReportedChanges
from shared.adapters.kube.transport import Transport
from shared.adapters.kube.written import Written
from shared.api.manifest import Manifest, labels_of, metadata, resource_version_of
from shared.kinds import API_SERVICE, BY_IDENTITY, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, Kind, Ref
from shared.names import MANAGED

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

    What was reported is compared with what is cached under a lock, and so is the answer to a write added; requests, to
    the API server and for what was reported, are sent outside of it. An answer is not cached if this client wrote to
    the kind meanwhile: nobody could say whether the write is in it.
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
        self._kinds = KindIndex(lambda path: self.request("GET", path), now, absent=FRESH_SECONDS)
        self._remembered = frozenset((*kinds, *labelled))
        self._reported = ReportedChanges(changes, self._remembered, self._freshness.at_least, now)
        self._labelled = frozenset(labelled)
        self._now = now
        self._found = dict(BY_IDENTITY)
        self._cache = Cache()
        self._definitions, self._defined_until = tuple[ChangeCounts, ...](), -math.inf
        self._lock = threading.RLock()
        self._written = Written()

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None. Discovery is asked again after a change of any definition or APIService."""
        if (api_version, kind) not in BY_IDENTITY:
            reported = [self._reported.of(kind, "") for kind in DEFINING]
            counts, until = tuple(one.counts for one in reported), min(one.until for one in reported)
            with self._lock:
                if counts != self._definitions and until >= self._defined_until:  # another run may know less
                    self._kinds.forget()
                    self._definitions, self._defined_until = counts, until
        if found := super().find(api_version, kind):
            self._found[api_version, kind] = found
        return found

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        kind = self._found.get((ref.api_version, ref.kind)) or self.find(ref.api_version, ref.kind)
        if kind is None or self._acting_as:  # why: its answers are what we may read
            return super().get(ref)
        key, moments = Key(kind, place := place_of(ref), ref.name), self._moments(kind, place)
        with self._lock:
            if (entry := self._good(key, moments[place]) or self._listed(kind, moments)) is not None:
                return entry.objects.get(ref)
        if self._is_absent(kind, ref):
            return None
        found = super().get(ref)
        if self._is_reported(kind, found):
            self._remember(key, moments[place], {ref: found})
        return found

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        """All objects of a kind, sorted by name; none when the kind is not served."""
        if kind not in self._remembered or kind in self._labelled or self._acting_as:
            return super().list(kind, namespace, labels=labels, most=most)
        key = Key(kind, namespace, _ALL, tuple(sorted((labels or {}).items())))
        moments = self._moments(kind, namespace)
        with self._lock:
            if (entry := self._good(key, moments[namespace]) or self._listed(kind, moments)) is not None:
                desired = (item for item in entry.objects.items() if namespace in ("", item[0].namespace))
                found = (each for _, each in sorted(desired, key=by_place) if each is not None)
                return tuple(islice(filter(key.selects, found), most or None))
        listed = super().list(kind, namespace, labels=labels, most=most)
        longest = MAX_NAMESPACES if kind == NAMESPACE else MAX_OBJECTS
        if len(listed) <= longest and not 0 < most <= len(listed):  # why: a part of a list is none
            self._remember(key, moments[namespace], {Ref.of(each): each for each in listed})
        return listed

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "", field_manager: str = "") -> Manifest:
        """JSON merge patch; it may be sent by the thread of another run, and counts for this one, too."""
        answer = super().merge(ref, patch, subresource=subresource, field_manager=field_manager)
        if (kind := self._countable(ref, answer)) is not None:
            self._reported.wrote_also(kind, place_of(ref))
        return answer

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "", propagation: Propagation = "Background"
    ) -> None:
        """DELETE; with `uid` or `resource_version`, only the object that has these."""
        self._forget(ref)
        try:
            super().delete(ref, uid=uid, resource_version=resource_version, propagation=propagation)
        finally:
            self._forget(ref)  # another thread may have read it meanwhile
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

    def _is_absent(self, kind: Kind, ref: Ref) -> bool:
        """Whether the list of names lacks the object; it is read when a second object of its place is missing."""
        if kind not in MANY:
            return False
        key, moment = Key(kind, "", _NAMES), self._moment(kind, "")
        with self._lock:
            names = self._good(key, moment)
            missed = any(None in entry.objects.values() for _, entry in self._cache.touching(kind, place_of(ref)))
        if names is None:
            if not missed:
                return False
            listed = named(self, kind, self._freshness.query(kind))
            names = self._remember(key, moment, dict.fromkeys(listed, _PRESENT))
        return ref not in names.objects

    def pages(
        self, kind: Kind, path: str, query: Mapping[str, str], *, first: Query = None, accept: str = JSON
    ) -> Iterator[Manifest]:
        """Every item of a collection; none is older than what events told of the kind."""
        if kind.watch:
            self._reported.of(kind, "")
        return super().pages(kind, path, query, first=first, accept=accept)

    def check_age(self, kind: Kind, page: Manifest, seen: str) -> None:
        """As the watcher has it, which saw what became of known objects: it says when the server was restored."""
        try:
            super().check_age(kind, page, seen)
        except ApiError:
            if not self._reported.is_restored(kind, resource_version_of(page)):
                raise
            self._freshness.forget(kind)

    def _moment(self, kind: Kind, namespace: str) -> Moment:
        """Now: what was reported, and then what this client wrote last."""
        reported = self._reported.of(kind, namespace)
        return Moment(kind, reported.counts, self._written.last(kind, namespace), reported.until, self._now())

    def _moments(self, kind: Kind, namespace: str) -> dict[str, Moment]:
        """By namespace: of the namespace, and where a list of all might answer, of all."""
        places = (namespace, "") if Key(kind, "", _ALL) in self._cache else (namespace,)
        return {place: self._moment(kind, place) for place in places}

    def _listed(self, kind: Kind, moments: Mapping[str, Moment]) -> CacheEntry | None:
        """A current list of the whole namespace, or of all."""
        found = (self._good(Key(kind, place, _ALL), moment) for place, moment in moments.items())
        return next((entry for entry in found if entry is not None), None)

    def _good(self, key: Key, moment: Moment) -> CacheEntry | None:
        """An entry that was asked for later, or is as it was at that moment."""
        entry = self._cache.get(key)
        if entry is None:
            return None
        is_foreign = not entry.is_at(moment.counts.total) or moment.counts.writes != entry.writes
        if (is_foreign and entry.asked_at <= moment.reported_at) or self._now() - entry.read_at > entry.seconds:
            self._cache.drop(key)
            return None
        return entry

    def _remember(self, key: Key, moment: Moment, objects: dict[Ref, Manifest | None]) -> CacheEntry:
        counts, is_list = moment.counts, key.name in (_ALL, _NAMES)
        with self._lock:
            totals = self._cache.sums(key, counts)
            entry = CacheEntry(objects, totals, counts.writes, moment.at, self._now(), is_list=is_list)
            entry.seconds = self._seconds(key, objects)
            if self._written.last(key.kind, key.namespace) == moment.written:
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
        before = self._before(ref, body) if method == "POST" else None
        try:
            answer = super()._write(method, ref, body, subresource=subresource, query=query, content_type=content_type)
        except ApiError:
            self._forget(ref)  # an outdated answer may be the cause; and a write without answer may have happened
            raise
        with self._lock:
            if before is not None and self._is_reported(before.kind, answer):
                self._expect(ref, before)
            if (kind := self._countable(ref, answer)) is None:
                self._forget(ref)
            else:
                self._count(ref)
                if metadata(answer).get("deletionTimestamp") or not self._is_reported(kind, answer):
                    self._forget(ref)  # this write may have removed it, with its last finalizer, or its label
                for key, entry in self._cache.touching(kind, place_of(ref)):
                    entry.add(ref, answer, is_selected=key.selects(answer))
        return answer

    def _before(self, ref: Ref, body: Manifest) -> Moment | None:
        """The moment before an object is made that may be cached."""
        kind = self._found.get((ref.api_version, ref.kind))
        if kind is None or self._acting_as or not self._is_reported(kind, body):
            return None
        return self._moment(kind, place_of(ref))

    def _expect(self, ref: Ref, before: Moment) -> None:
        """An object that was just made is cached as one that was absent before."""
        key = Key(before.kind, place_of(ref), ref.name)
        if key not in self._cache:
            self._remember(key, before, {ref: None})

    def _countable(self, ref: Ref, answer: Manifest) -> Kind | None:
        """The kind of an answer that some worker may cache."""
        kind = self._found.get((ref.api_version, ref.kind))
        return kind if kind and (kind in self._remembered or self._is_reported(kind, answer)) else None

    def _count(self, ref: Ref) -> None:
        """Count a write for the other workers, if its kind may be cached."""
        if kind := self._found.get((ref.api_version, ref.kind)):
            self._reported.wrote(kind, place_of(ref))
            self._written.note(kind, place_of(ref))
            if kind in DEFINING:
                self._kinds.forget()

    def _forget(self, ref: Ref) -> None:
        if kind := self._found.get((ref.api_version, ref.kind)):
            with self._lock:
                self._written.note(kind, place_of(ref))
                for key, _ in self._cache.touching(kind, place_of(ref)):
                    self._cache.drop(key)
