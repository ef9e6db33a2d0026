"""Serves watches: the changes since a revision as a stream of JSON lines; one write sends many changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import orjson

from eventing.local.apiserver import conversion, tables
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.failures import Cause, Failure, bad_option, expired, unexplained
from eventing.local.apiserver.forms import Form, form_of, render
from eventing.local.apiserver.numbers import not_unsigned
from eventing.local.apiserver.selectors import Predicate
from eventing.local.apiserver.store import Change, Feed, Stored
from eventing.local.apiserver.verbs import matching
from eventing.local.apiserver.world import World

INITIAL_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class Watch:
    """One open watch."""

    call: Call
    world: World
    feed: Feed
    initial: tuple[Stored, ...]
    form: Form
    is_match: Predicate
    ends_initial: bool
    seconds: float

    async def changes(self) -> AsyncIterator[list[Change]]:
        """The changes after the first part of the stream, until the timeout; none, when a bookmark is due."""
        end = time.monotonic() + self.seconds
        while not self.feed.is_over and (left := end - time.monotonic()) > 0:
            try:
                await asyncio.wait_for(self.feed.wake.wait(), min(left, self.world.bookmark_seconds))
            except TimeoutError:
                yield []
                continue
            yield self.feed.take()

    def lines_of(self, changes: Sequence[Change]) -> bytes:
        """The part of the stream for changes; may be empty. A conversion that fails ends the watch."""
        if not changes:
            return self._bookmark({}) if self.call.has("allowWatchBookmarks") else b""
        try:
            return self._events(list(filter(None, map(self._seen, changes))))
        except Failure as failure:
            self.feed.is_over = True
            return b'{"type":"ERROR","object":%s}\n' % orjson.dumps(failure.status)

    def first(self) -> bytes:
        """What was there, and its end, if they were asked for."""
        piece = self._events([("ADDED", stored) for stored in self.initial])
        if self.ends_initial:
            piece += self._bookmark({"annotations": {INITIAL_END: "true"}})
        return piece

    def _events(self, seen: Sequence[tuple[str, Stored]]) -> bytes:
        shown = conversion.shown(self.call, [stored for _, stored in seen])
        return b"".join(self._event(kind, stored) for (kind, _), stored in zip(seen, shown, strict=True))

    def _seen(self, change: Change) -> tuple[str, Stored] | None:
        """What a change is for a watcher with selectors; None when they do not match."""
        if self.call.namespace not in ("", change.now.key[1]):
            return None
        is_in = change.type != "DELETED" and self.is_match(change.now.manifest)
        was_in = change.before is not None and self.is_match(change.before.manifest)
        if is_in:
            return "MODIFIED" if was_in else "ADDED", change.now
        return ("DELETED", change.now) if was_in else None

    def _event(self, kind: str, stored: Stored) -> bytes:
        if self.form == "table":
            meta = {"resourceVersion": str(stored.revision)}
            raw = tables.table(self.call.resource, [stored], meta, self.call.query)
        else:
            raw = render(self.form, self.call.resource, stored)
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), raw)

    def _bookmark(self, meta: dict[str, object]) -> bytes:
        resource = self.call.resource
        shown: dict[str, object] = {
            "kind": "PartialObjectMetadata" if self.form == "metadata" else resource.kind,
            "apiVersion": "meta.k8s.io/v1" if self.form == "metadata" else resource.api_version,
            "metadata": {"resourceVersion": str(self.world.store.revision), **meta},
        }  # fmt: skip
        return orjson.dumps({"type": "BOOKMARK", "object": shown}) + b"\n"


def open_watch(call: Call, world: World, accept: str) -> Watch:
    """Begin a watch; it starts with the changes that the caller missed."""
    query, store = call.query, world.store
    revision = _revision(query.get("resourceVersion", ""))
    sends_initial = call.has("sendInitialEvents")
    if sends_initial and query.get("resourceVersionMatch") != "NotOlderThan":
        why = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise bad_option("List", Cause("resourceVersionMatch", "FieldValueForbidden", why))
    from_start = sends_initial or (revision == 0 and query.get("sendInitialEvents", "") not in ("false", "0"))
    if not from_start and revision and not store.reaches(revision):
        raise expired(revision, store.oldest)
    is_match, seconds = matching(call), call.number("timeoutSeconds") or 1800
    feed = store.subscribe(call.resource.table, store.revision if from_start or not revision else revision)
    found = store.list(call.resource.table, call.namespace) if from_start else []
    return Watch(
        call, world, feed, tuple(one for one in found if is_match(one.manifest)), form_of(accept), is_match,
        from_start and call.has("allowWatchBookmarks"), seconds,
    )  # fmt: skip


def _revision(text: str) -> int:
    if text and (why := not_unsigned(text)):
        raise unexplained(f'resourceVersion: Invalid value: "{text}": {why}')
    return int(text or 0)
