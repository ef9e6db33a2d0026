"""The journal in Redis: a stream of events and runs, and the version of each object that an event has told of."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from eventing.events import Event
from eventing.journal.book import Book
from eventing.journal.changes import note
from eventing.journal.records import EVENT, RUN, STREAM, Recorded, Saw, pack, unpack_event, unpack_run
from eventing.journal.seen import Seen
from shared.kinds import Ref

KEY = "olmf:journal:key"
_TRIM_EVERY = 500
_LONGEST_BLOCK_MS = 5000  # the socket gives up not long after
_PAGE = 500


class Client(Protocol):
    """What the journal needs of a Redis client (bytes, not decoded)."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """One command."""
        ...

    def pipeline(self, transaction: bool = True) -> Any:
        """Several commands in one trip."""
        ...


class RedisJournal:
    """Writes events, reads everything; the runs are written by the work queue. Implements the port `Journal`."""

    def __init__(
        self,
        client: Client,
        *,
        max_bytes: int = 64 * 1024 * 1024,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        also: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        """Journal on a Redis; `also` gets each entry, e.g. `JournalFiles.append`."""
        self._client = client
        self._max_bytes = max_bytes
        self._now_ms = now_ms
        self._also = also
        self._seen = Seen(client, lambda: now_ms() / 1000)
        self._until_trim = _TRIM_EVERY

    def secret(self) -> bytes:
        """The key of this installation's stand-ins for Secret values: the same in every process, lost with Redis."""
        self._client.execute_command("SET", KEY, secrets.token_bytes(32), "NX")
        return bytes(self._client.execute_command("GET", KEY))

    def saw(self, events: Iterable[Event]) -> None:
        """Note events, in one trip."""
        pipe = self._client.pipeline(transaction=False)
        count = 0
        for event in events:
            count += 1
            entry = pack(Saw.of(event, self._now_ms()))
            self._also(entry)
            pipe.execute_command("XADD", STREAM, "*", EVENT, entry)
            self._seen.note(pipe, event)
            note(pipe, event)
        if count:
            pipe.execute()
        self._until_trim -= count
        if self._until_trim <= 0:
            self.trim()

    def unseen(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """Of (ref, resourceVersion) pairs, the refs whose version no event has told of."""
        return self._seen.lacks(identities)

    def trim(self) -> None:
        """Forget the oldest entries when the stream is longer than its bound in bytes, and objects long gone."""
        self._until_trim = _TRIM_EVERY
        self._seen.forget()
        size = self._client.execute_command("MEMORY USAGE", STREAM, "SAMPLES", 100) or 0
        if size > self._max_bytes:
            length = self._client.execute_command("XLEN", STREAM)
            self._client.execute_command("XTRIM", STREAM, "MAXLEN", "~", int(length * self._max_bytes / size * 0.9))

    def entries(self, after: str = "-", *, block_ms: int = 0) -> Iterator[Recorded | Saw]:
        """Entries from the oldest, or after a stream id; with `block_ms` also those to come, until that long none came.

        An entry that this version cannot read is left out.
        """
        position = after
        while True:
            first = position if position == "-" else f"({position}"
            page = self._client.execute_command("XRANGE", STREAM, first, "+", "COUNT", _PAGE)
            for key, fields in page:
                position = key.decode()
                yield from _decoded(fields)
            if len(page) < _PAGE and not self._wait(position, block_ms):
                return

    def _wait(self, position: str, block_ms: int) -> bool:
        """Something came after the position, before that long had passed."""
        last = "0" if position == "-" else position
        for waited in range(0, block_ms, _LONGEST_BLOCK_MS):
            block = min(block_ms - waited, _LONGEST_BLOCK_MS)
            if self._client.execute_command("XREAD", "COUNT", 1, "BLOCK", block, "STREAMS", STREAM, last):
                return True
        return False

    def tail(self, *, block_ms: int = sys.maxsize) -> Iterator[Recorded | Saw]:
        """Entries from now on, until none came for that long; for ever, unless it is said."""
        newest = self._client.execute_command("XREVRANGE", STREAM, "+", "-", "COUNT", 1)
        return self.entries(newest[0][0].decode() if newest else "-", block_ms=block_ms)

    def book(self) -> Book:
        """Everything that the journal still holds."""
        return Book.of(self.entries())


def _decoded(fields: dict[bytes, bytes]) -> Iterator[Recorded | Saw]:
    for name, decode in ((RUN, unpack_run), (EVENT, unpack_event)):
        if data := fields.get(name.encode()):
            try:
                yield decode(data)
            except ValueError:
                continue  # why: a journal outlives upgrades; what another version wrote must not hide the rest
