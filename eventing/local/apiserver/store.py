"""Stores objects in memory, with one revision for all, and the history for watches that resume."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import orjson
import structlog

from eventing.local.apiserver.journal_file import JournalFile
from shared.api.manifest import Manifest, ReadOnly

log = structlog.get_logger()

Key: TypeAlias = tuple[str, str, str]
"""Table, namespace (empty for cluster-scoped objects), name."""
ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]
HISTORY = 20_000
"""Maximum number of changes in the history for watches that resume."""
HISTORY_BYTES = 16 * 1024 * 1024
"""Maximum size of their JSON, in bytes."""
PENDING_BYTES = 4 * HISTORY_BYTES
"""Maximum size of the changes that wait for one reader."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """One state of one object; never changed in place."""

    key: Key
    revision: int
    manifest: ReadOnly
    raw: bytes

    def copy(self) -> Manifest:
        """A copy of the object that may be changed."""
        loaded: Manifest = orjson.loads(self.raw)
        return loaded

    def at(self, api_version: str) -> bytes:
        """The object as JSON in one of its served versions (conversion changes nothing but the version)."""
        if self.manifest["apiVersion"] == api_version:
            return self.raw
        return orjson.dumps({**self.manifest, "apiVersion": api_version})


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One write: the new state (for a deletion: the last state) and the state before."""

    type: ChangeType
    now: Stored
    before: Stored | None


@dataclass(eq=False)
class Feed:
    """The stream of changes of one table for one reader."""

    table: str
    pending: list[Change] = field(default_factory=list)
    pending_bytes: int = 0
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False

    def add(self, change: Change) -> None:
        """Append a change. A reader that is too slow gets no more: it has to ask again."""
        if self.is_over:
            return
        self.pending.append(change)
        self.pending_bytes += len(change.now.raw)
        if len(self.pending) > HISTORY or self.pending_bytes > PENDING_BYTES:
            self.is_over = True
            self.pending.clear()
        self.wake.set()

    def take(self) -> list[Change]:
        """The changes since the last call."""
        taken, self.pending, self.pending_bytes = self.pending, [], 0
        self.wake.clear()
        return taken


class Store:
    """The storage of all objects. All methods are synchronous, so each is one transaction."""

    def __init__(self, file: JournalFile | None = None) -> None:
        self.revision = 1
        self._tables: dict[str, dict[tuple[str, str], Stored]] = {}
        self._history: deque[Change] = deque()
        self._history_bytes = 0
        self._feeds: dict[str, set[Feed]] = {}
        self._observers: list[Callable[[Change], None]] = []
        self._file = file
        for line in file.read() if file else ():
            self.revision, table, namespace, name, manifest = line
            if manifest is None:
                self._tables.setdefault(table, {}).pop((namespace, name), None)
            else:
                self._keep(_stored((table, namespace, name), self.revision, manifest))
        self.oldest = self.revision
        """The revision after which the history begins."""

    def compact(self) -> None:
        """Rewrite the file with the present objects."""
        if self._file:
            last = [self.revision, "", "", "", None]
            self._file.rewrite(
                [*(_line(stored.revision, stored.key, stored.raw) for stored in self.all()), orjson.dumps(last)]
            )

    def all(self) -> list[Stored]:
        """All objects, in the order of their last writes."""
        return sorted((one for table in self._tables.values() for one in table.values()), key=lambda one: one.revision)

    def get(self, key: Key) -> Stored | None:
        """One object, or None."""
        return self._tables.get(key[0], {}).get(key[1:])

    def list(self, table: str, namespace: str = "") -> list[Stored]:
        """The objects of a table in the order of namespace and name; an empty namespace means all."""
        found = self._tables.get(table, {})
        return [found[key] for key in sorted(key for key in found if namespace in ("", key[0]))]

    def in_namespace(self, namespace: str) -> Iterator[Stored]:
        """All objects of a namespace."""
        for table in list(self._tables):
            yield from self.list(table, namespace)

    def _keep(self, stored: Stored) -> None:
        self._tables.setdefault(stored.key[0], {})[stored.key[1:]] = stored

    def put(self, key: Key, manifest: Manifest) -> Stored:
        """Store an object with a new resourceVersion; the store takes ownership of `manifest`."""
        before = self.get(key)
        now = self._next(key, manifest)
        self._commit(Change("MODIFIED" if before else "ADDED", now, before), now.raw)
        return now

    def remove(self, key: Key) -> Stored:
        """Delete an object; its last state carries the revision of the deletion."""
        before = self._tables[key[0]][key[1:]]
        now = self._next(key, before.copy())
        self._commit(Change("DELETED", now, before), b"null")
        return now

    def _next(self, key: Key, manifest: Manifest) -> Stored:
        revision = self.revision + 1
        manifest["metadata"]["resourceVersion"] = str(revision)
        return _stored(key, revision, manifest)

    def _commit(self, change: Change, raw: bytes) -> None:
        """Write a change to the file, then to memory and to readers. When the file fails (OSError), nothing changes."""
        now = change.now
        if self._file:
            self._file.append(_line(now.revision, now.key, raw))
        self.revision = now.revision
        if change.type == "DELETED":
            del self._tables[now.key[0]][now.key[1:]]
        else:
            self._keep(now)
        self._remember(change)
        for feed in self._feeds.get(now.key[0], ()):
            feed.add(change)
        for observer in self._observers:
            observer(change)
        if self._file and self._file.is_due:
            self._try_compact()

    def _try_compact(self) -> None:
        """Rewrite the file; when that fails, every line is still in it, and it is due again after it has grown."""
        try:
            self.compact()
        except OSError as error:
            log.warning("journal_not_rewritten", error=str(error))

    def _remember(self, change: Change) -> None:
        self._history.append(change)
        self._history_bytes += len(change.now.raw)
        while len(self._history) > HISTORY or self._history_bytes > HISTORY_BYTES:
            forgotten = self._history.popleft().now
            self._history_bytes -= len(forgotten.raw)
            self.oldest = forgotten.revision

    def observe(self, observer: Callable[[Change], None]) -> None:
        """Call `observer` within every write."""
        self._observers.append(observer)

    def end_feeds(self) -> None:
        """End all feeds, because no more changes will come."""
        for feed in [feed for feeds in self._feeds.values() for feed in feeds]:
            feed.is_over = True
            feed.wake.set()

    def close(self) -> None:
        """Close the file; no more writes are possible."""
        if self._file:
            self._file.close()

    def subscribe(self, table: str, after: int) -> Feed:
        """A feed of the changes of a table after a revision, which must be in the history (see `reaches`)."""
        feed = Feed(table)
        for change in reversed(self._history):
            if change.now.revision <= after:
                break
            if change.now.key[0] == table:
                feed.pending.append(change)
        feed.pending.reverse()
        if feed.pending:
            feed.wake.set()
        self._feeds.setdefault(table, set()).add(feed)
        return feed

    def unsubscribe(self, feed: Feed) -> None:
        """Remove the feed of a reader that has gone."""
        self._feeds.get(feed.table, set()).discard(feed)

    def reaches(self, revision: int) -> bool:
        """Whether the history contains every change after a revision."""
        return revision >= self.oldest


def _stored(key: Key, revision: int, manifest: Manifest) -> Stored:
    return Stored(key, revision, manifest, orjson.dumps(manifest))


def _line(revision: int, key: Key, raw: bytes) -> bytes:
    return orjson.dumps([revision, *key, orjson.Fragment(raw)])
