"""Cached answers of the API server, and the changes that outdate them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from shared.api.manifest import Manifest, carries, labels_of, resource_version_of
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, Kind, Ref
from shared.names import V1_MANAGED_BY, V1_MANAGER, V1_REVISION_NAME
from shared.resource_versions import weight

GOOD_SECONDS = 10.0
"""Maximum age of a cached answer: a bound for lost events."""
BRIEF_SECONDS = 3.0
"""Maximum age of a cached object of a revision whose kind nobody need watch: within a roll-out, little more."""
MODULUS = 2**48
"""Of the sums; the arithmetic of every writer is exact up to it."""
MAX_CACHE_ENTRIES = 128


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The reported changes of one kind in one namespace."""

    total: int = 0
    """The sum of the `weight` of every change, modulo `MODULUS`."""
    newest: str = ""
    """The newest resourceVersion; empty when none is a decimal number."""
    writes: int = 0
    """The number of runs of other workers that wrote, each counted before what it enqueued can run."""
    restored: str = ""
    """Of a kind in all namespaces: which time it was that the API server went back to an older state."""


Place: TypeAlias = tuple[Kind, str]
"""A kind in a namespace; empty: in all namespaces. Of definitions an API group is in place of it (`place_of`)."""


def place_of(ref: Ref) -> str:
    """Where the changes of an object are counted: in its namespace; those of a definition in the API group it defines.

    Each definition that is installed changes four times within a second, which outdates no other operator's.
    """
    is_definition = (ref.api_version, ref.kind) == (
        CUSTOM_RESOURCE_DEFINITION.api_version,
        CUSTOM_RESOURCE_DEFINITION.kind,
    )
    return ref.name.partition(".")[2] if is_definition else ref.namespace


OWN = "*"
"""In place of the namespace of a run; no namespace can have such a name."""


class Changes(Protocol):
    """The changes that events reported, and the writes of the workers."""

    def counts(self, places: Sequence[Place]) -> Sequence[ChangeCounts]:
        """The changes of each kind in its namespace (empty: in all namespaces); zeros without any."""
        ...

    def expect(self, step: str, kind: Kind, namespace: str) -> None:
        """The runs of a step read these: after the next `counts`, claims bring them (`OWN`: of their namespace)."""
        ...

    def forget(self, kind: Kind) -> None:
        """Forget what was told of the kind, in all namespaces: the API server was restored from a backup."""
        ...

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        ...


class Key(NamedTuple):
    """One cached request; without a namespace about all, with `_ALL` or `_NAMES` for a name about many objects."""

    kind: Kind
    namespace: str
    name: str
    labels: tuple[tuple[str, str], ...] = ()
    """Of a list: what the objects in it have."""

    def selects(self, manifest: Manifest) -> bool:
        """Whether an object of the kind in the namespace belongs to it."""
        return carries(manifest, dict(self.labels))


class Moment(NamedTuple):
    """When something was asked for: the changes of the kind in the namespace until then, and our last write there."""

    kind: Kind
    counts: ChangeCounts
    written: int
    reported_at: float
    """When that was reported."""
    at: float


@dataclass(slots=True)
class CacheEntry:
    """Objects that were read together, and the sums at which they are still current."""

    objects: dict[Ref, Manifest | None]
    totals: list[int]
    writes: int
    """Of other workers."""
    asked_at: float
    read_at: float
    is_list: bool
    """It holds all objects of the kind in the namespace (or their names); otherwise one object."""
    seconds: float = GOOD_SECONDS
    """Its maximum age."""
    late: int = field(init=False)
    """What the event adds that told of the version that was read: it may come later, and says nothing new."""

    def __post_init__(self) -> None:
        found = None if self.is_list else next(iter(self.objects.values()))
        self.late = weight(resource_version_of(found)) if found else 0

    def is_at(self, total: int) -> bool:
        """Whether it is current at that sum."""
        return total in self.totals or (total - self.late) % MODULUS in self.totals

    def add(self, ref: Ref, answer: Manifest, *, is_selected: bool) -> None:
        """Update the entry after a write of this client to an object of the kind in the namespace."""
        known = self.objects.get(ref)
        if known is not None and resource_version_of(known) == resource_version_of(answer):
            return  # nothing changed, so there will be no event
        self.totals.append((self.totals[-1] + weight(resource_version_of(answer))) % MODULUS)
        if not is_selected:
            self.objects.pop(ref, None)
        elif self.is_list or ref in self.objects:
            self.objects[ref] = answer


@dataclass(slots=True)
class Cache:
    """All cached answers, the oldest first."""

    _by_key: OrderedDict[Key, CacheEntry] = field(default_factory=OrderedDict)

    def __contains__(self, key: Key) -> bool:
        return key in self._by_key

    def get(self, key: Key) -> CacheEntry | None:
        """The entry, current or not."""
        return self._by_key.get(key)

    def sums(self, key: Key, counts: ChangeCounts) -> list[int]:
        """The sum now, and those that it will have when events tell of our own writes there of which none told yet."""
        for (_, namespace, *_), entry in self.touching(key.kind, key.namespace):
            if namespace == key.namespace and entry.writes == counts.writes and counts.total in entry.totals:
                return entry.totals[entry.totals.index(counts.total) :]
        return [counts.total]

    def put(self, key: Key, entry: CacheEntry) -> None:
        """Add an entry, and drop those that are too old or too many: objects may be large."""
        self._by_key[key] = entry
        self._by_key.move_to_end(key)
        oldest = next(iter(self._by_key.values()))
        while len(self._by_key) > MAX_CACHE_ENTRIES or entry.read_at - oldest.read_at > GOOD_SECONDS:
            self._by_key.popitem(last=False)
            oldest = next(iter(self._by_key.values()))

    def drop(self, key: Key) -> None:
        """Forget an entry, if there is one."""
        self._by_key.pop(key, None)

    def touching(self, kind: Kind, namespace: str) -> list[tuple[Key, CacheEntry]]:
        """The entries that may hold an object of the kind in the namespace."""
        return [
            (key, entry) for key, entry in self._by_key.items() if key.kind == kind and key.namespace in ("", namespace)
        ]


def is_of_revision(manifest: Manifest | None) -> bool:
    """Whether an object says that a revision of OLM v1 consists of it, or lies in it."""
    labels = labels_of(manifest or {})
    return labels.get(V1_MANAGED_BY) == V1_MANAGER or V1_REVISION_NAME in labels


def by_place(item: tuple[Ref, Manifest | None]) -> tuple[str, str]:
    """How a list is sorted: by namespace and name."""
    return item[0].namespace, item[0].name
