"""The objects that a watch has seen, and the events that follow from the next change; no I/O."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from eventing.events import event as events
from eventing.events.event import Event, Owner, change_id
from eventing.events.hints import hints
from eventing.events.trace import begun_by
from eventing.routes import jobs_for
from eventing.watch.namespaced import Key, ListedKeys, Namespaced
from eventing.watch.older_lists import newest_of
from shared import kinds, names
from shared.api.manifest import ReadOnly, labels_of, name_of, namespace_of, resource_version_of, uid_of
from shared.kinds import Kind, Ref

Verb = Literal["add", "update", "delete"]
_TYPES: Mapping[Verb, str] = {"add": names.ADDED, "update": names.UPDATED, "delete": names.DELETED}


@dataclass(frozen=True, slots=True)
class Facts:
    """What many objects have in common."""

    hints: Mapping[str, str]
    is_managed: bool
    """The object has the label `olm.managed`."""


@dataclass(frozen=True, slots=True)
class KnownObject:
    """The stored facts about one object."""

    revision: str
    """Its version and uid, as one text: two take half as much memory again."""
    facts: Facts

    @property
    def version(self) -> str:
        """Its resourceVersion."""
        return self.revision.partition(" ")[0]

    @property
    def uid(self) -> str:
        """Its uid."""
        return self.revision.partition(" ")[2]

    @property
    def hints(self) -> Mapping[str, str]:
        """The hints of its events."""
        return self.facts.hints


@dataclass(slots=True)
class KnownObjects:
    """The objects of one kind, by namespace and name."""

    kind: Kind
    source: str
    """Address of the API server: the `source` of the events."""
    objects: MutableMapping[Key, KnownObject] = field(default_factory=Namespaced)
    has_listed: bool = False

    def observe(self, change: str, manifest: ReadOnly) -> tuple[Event, ...]:
        """The events of one line of a watch; `change` is ADDED, MODIFIED or DELETED."""
        if change == "DELETED":
            return self._lost(manifest)
        return self._present(manifest)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> tuple[Event, ...]:
        """The events of one page of a list, for new and changed objects; all its objects are added to `listed`.

        After a gap also for unchanged versions (not copies): somebody may have deleted in it what we made for one.
        """
        found: list[Event] = []
        for item in items:
            listed.add(key := self._key(item))
            found_events = self._present(item)
            if (
                not found_events
                and self.has_listed
                and key in self.objects
                and self.objects[key].hints.get(events.COPIED) == "false"
            ):
                found_events = self._event("add", key, self.objects[key], None)
            found += found_events
        return tuple(found)

    def settle(self, listed: ListedKeys) -> tuple[Event, ...]:
        """After the last page: the deletion events of known objects that are not in the list."""
        self.has_listed = True
        gone = [key for key in self.objects if key not in listed]
        return tuple(event for key in gone for event in self._forget(key))

    @property
    def has_any(self) -> bool:
        """Whether there are any."""
        return bool(self.objects)

    def newest(self, most: int) -> list[tuple[Key, str]]:
        """(namespace, name) and version of the objects that changed last, the newest first; of those with an order."""
        return newest_of(((key, known.version) for key, known in self.objects.items()), most)

    def _present(self, manifest: ReadOnly) -> tuple[Event, ...]:
        key = self._key(manifest)
        before = self.objects.get(key)
        now = self._seen(manifest)
        if before and before.revision == now.revision:
            return ()
        replaced: tuple[Event, ...] = ()
        if before and before.uid != now.uid:
            replaced, before = self._event("delete", key, before, before), None
        found = replaced + self._event("update" if before else "add", key, now, before)
        # why only now: an object that no event can be made of is not known either
        self.objects[key] = now
        return found

    def _lost(self, manifest: ReadOnly) -> tuple[Event, ...]:
        key = self._key(manifest)
        found = self._event("delete", key, self._seen(manifest), self.objects.get(key))
        self.objects.pop(key, None)
        return found

    def _forget(self, key: tuple[str, str]) -> tuple[Event, ...]:
        before = self.objects.pop(key)
        return self._event("delete", key, before, before)

    def _seen(self, manifest: ReadOnly) -> KnownObject:
        # why: items of a list, and metadata fetched alone, do not state their kind
        values = hints({**manifest, "apiVersion": self.kind.api_version, "kind": self.kind.kind})
        facts = _shared(tuple(values.items()), names.MANAGED in labels_of(manifest))
        return KnownObject(f"{resource_version_of(manifest)} {uid_of(manifest)}", facts)

    def _key(self, manifest: ReadOnly) -> Key:
        """The name of a version is one text for all its copies."""
        name = name_of(manifest)
        return namespace_of(manifest), sys.intern(name) if self.kind == kinds.CLUSTER_SERVICE_VERSION else name

    def _event(
        self, verb: Verb, key: tuple[str, str], now: KnownObject, before: KnownObject | None
    ) -> tuple[Event, ...]:
        event_id = change_id(now.uid, now.version, verb)
        namespace, name = key
        ref = Ref(self.kind.api_version, self.kind.kind, name, namespace)
        values = _with_former(now.hints, before.hints if before else {})
        event = Event(event_id, _TYPES[verb], self.source, ref, values, begun_by(event_id))
        is_managed = now.facts.is_managed or (before is not None and before.facts.is_managed)
        return () if not is_managed and self._is_bystander(event) else (event,)

    def _is_bystander(self, event: Event) -> bool:
        """Whether the object does not affect any of our objects (see the docstring of the package)."""
        if self.kind not in kinds.HIGH_CARDINALITY:
            return False
        is_just_there = not self.has_listed and self.kind in kinds.COMPONENTS and not event.hints[events.OWNERS]
        return is_just_there or not jobs_for(event)


@lru_cache(maxsize=4096)
def _shared(hints_of_it: tuple[tuple[str, str], ...], is_managed: bool) -> Facts:
    """The same facts as one object: most of the many objects of a cluster, which are not ours, say the same."""
    return Facts(MappingProxyType(dict(hints_of_it)), is_managed)


def _with_former(now: Mapping[str, str], before: Mapping[str, str]) -> Mapping[str, str]:
    """The hints with the former owners, Operators and limits added: who heeds them must learn that they are gone."""
    found = now
    present, former = now.get(events.OWNERS, ""), before.get(events.OWNERS, "")
    if former not in ("", present):
        found = {**found, events.OWNERS: Owner.joined((*Owner.split(present), *Owner.split(former)))}
    present, former = now.get(events.COMPONENTS, ""), before.get(events.COMPONENTS, "")
    if former not in ("", present):
        found = {**found, events.COMPONENTS: ",".join(filter(None, (present, former)))}
    if before.get(events.LIMITED) == "true":
        found = {**found, events.LIMITED: "true"}
    return found
