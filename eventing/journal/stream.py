"""The journal in Redis: a stream of events and runs, and the version of each object that an event has told of."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from eventing.events.event import Event, change_of
from eventing.journal.changes import KEEP_SECONDS, keys_of
from eventing.journal.delivered_versions import VERSIONS, DeliveredVersions
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import (
    EVENT,
    RUN,
    STREAM,
    ReceivedEvent,
    Recorded,
    pack,
    unpack_brief_run,
    unpack_event,
    unpack_run,
)  # fmt: skip
from shared.adapters.kube.answers import MODULUS, place_of
from shared.kinds import Ref
from shared.resource_versions import weight

KEY = "olmf:journal:key"
_TRIM_EVERY = 500
_TRIM_SHARE = 16
"""A process trims when it may have added this part of the bound, so that several together stay near it."""
_TRIMS = 3
"""Entries differ in size, so that forgetting a share of them frees more or less than that share."""
_LONGEST_BLOCK_MS = 5000  # the socket gives up not long after
_PAGE = 500
_BRIEF_PAGE = 50
"""Whole entries of a page are in memory at once, and each may have megabytes."""
_REPEAT_SECONDS = 300
"""Within this time a repeated deletion is recognised: afterwards it costs a read, and no more."""

_NOTE = """
local seen, gone = KEYS[1], KEYS[2]
local ref, version, day, weight, keep = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local function is_newer(one, other)
  if not (string.match(one, '^[1-9]%d*$') and string.match(other, '^[1-9]%d*$')) then return false end
  return #one > #other or (#one == #other and one > other)
end
if day == 'gone' then
  local is_known = redis.call('HDEL', seen, ref) == 1
  if not redis.call('SET', gone, 1, 'NX', 'EX', ARGV[6]) then return 0 end
  -- Of what nobody told since the API server was restored, the version is one of before: no list will have it for long.
  if not is_known then version = '' end
elseif version ~= '' then
  local known = string.match(redis.call('HGET', seen, ref) or '', '^([^ ]*)')
  if known == version or is_newer(known, version) then return 0 end
  redis.call('HSET', seen, ref, version .. ' ' .. day)
end
for i = 3, #KEYS do
  local sum, newest = unpack(redis.call('HMGET', KEYS[i], 'sum', 'newest'))
  redis.call('HSET', KEYS[i], 'sum', string.format('%.0f', ((tonumber(sum or 0) or 0) + weight) % tonumber(ARGV[7])))
  if is_newer(version, newest or '0') or (not newest and string.match(version, '^[1-9]%d*$')) then
    redis.call('HSET', KEYS[i], 'newest', version)
  end
  redis.call('EXPIRE', KEYS[i], keep)
end
return 1
"""


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
        self._versions = DeliveredVersions(client, lambda: now_ms() / 1000)
        self._until_trim = _TRIM_EVERY
        self._bytes_until_trim = 0

    def secret(self) -> bytes:
        """The key of this installation for hashes of Secret values: the same in every process, lost with Redis."""
        self._client.execute_command("SET", KEY, secrets.token_bytes(32), "NX")
        return bytes(self._client.execute_command("GET", KEY))

    def record_events(self, events: Iterable[Event]) -> tuple[bool, ...]:
        """Note events, in one trip; of each whether it told of something new."""
        pipe = self._client.pipeline(transaction=False)
        count = size = 0
        for event in events:
            count += 1
            entry = pack(ReceivedEvent.of(event, self._now_ms()))
            size += len(entry)
            self._also(entry)
            pipe.execute_command("XADD", STREAM, "*", EVENT, entry)
            keys = keys_of(event.ref, place_of(event.ref))
            _note(pipe, event, versions=VERSIONS, keys=keys, day=self._versions.today, keep_seconds=KEEP_SECONDS)
        if not count:
            return ()
        self.grew(size, count)  # before: a Redis that is full refuses to write, and trimming makes room in it
        return tuple(map(bool, pipe.execute()[1::2]))

    def ran(self, record: bytes) -> None:
        """Append the record of a run that no claim of the queue has."""
        if self._max_bytes:
            self._client.execute_command("XADD", STREAM, "*", RUN, record)
            self.grew(len(record))

    def grew(self, size: int, count: int = 1) -> None:
        """Count entries that others appended, e.g. the queue, and trim when it is time."""
        self._until_trim -= count
        self._bytes_until_trim -= size
        if self._until_trim <= 0 or self._bytes_until_trim <= 0:
            self.trim()

    def unseen(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """Of (ref, resourceVersion) pairs, the refs whose version no event has delivered."""
        return self._versions.lacks(identities)

    def forget_versions(self) -> None:
        """Forget which versions were delivered: what they led to may be lost."""
        self._client.execute_command("UNLINK", VERSIONS)

    def trim(self) -> None:
        """Forget the oldest entries when the stream is longer than its bound in bytes, and objects long gone."""
        self._until_trim = _TRIM_EVERY
        self._bytes_until_trim = self._max_bytes // _TRIM_SHARE
        self._versions.forget()
        for _ in range(_TRIMS):
            # All of it is weighed: a sample is of the oldest entries, and later ones may be ten times as large.
            size = self._client.execute_command("MEMORY USAGE", STREAM, "SAMPLES", 0) or 0
            if size <= self._max_bytes:
                return
            length = self._client.execute_command("XLEN", STREAM)
            self._client.execute_command("XTRIM", STREAM, "MAXLEN", "~", int(length * self._max_bytes / size * 0.9))

    def entries(
        self, after: str = "-", *, block_ms: int = 0, is_brief: bool = False
    ) -> Iterator[Recorded | ReceivedEvent]:
        """Entries from the oldest, or after a stream id; with `block_ms` also later ones, until none comes so long.

        Brief ones have neither the answers to steps nor bodies. An entry that this version cannot read is left out.
        """
        page_size = _BRIEF_PAGE if is_brief else _PAGE
        position = after
        while True:
            first = position if position == "-" else f"({position}"
            page = self._client.execute_command("XRANGE", STREAM, first, "+", "COUNT", page_size)
            for key, fields in page:
                position = key.decode()
                yield from _decoded(fields, is_brief=is_brief)
            if len(page) < page_size and not self._wait(position, block_ms):
                return

    def _wait(self, position: str, block_ms: int) -> bool:
        """Wait that long for an entry after the position; returns whether one came."""
        last = "0" if position == "-" else position
        for waited in range(0, block_ms, _LONGEST_BLOCK_MS):
            block = min(block_ms - waited, _LONGEST_BLOCK_MS)
            if self._client.execute_command("XREAD", "COUNT", 1, "BLOCK", block, "STREAMS", STREAM, last):
                return True
        return False

    def tail(self, *, block_ms: int = sys.maxsize) -> Iterator[Recorded | ReceivedEvent]:
        """Entries from now on, until none came for that long; by default for ever."""
        newest = self._client.execute_command("XREVRANGE", STREAM, "+", "-", "COUNT", 1)
        return self.entries(newest[0][0].decode() if newest else "-", block_ms=block_ms)

    def brief_index(self) -> JournalIndex:
        """The causes, writes and summaries of the journal: all that `why` needs, in a fraction of the memory."""
        return JournalIndex.of(self.entries(is_brief=True))


def _decoded(fields: dict[bytes, bytes], *, is_brief: bool) -> Iterator[Recorded | ReceivedEvent]:
    for name, decode in ((RUN, unpack_brief_run if is_brief else unpack_run), (EVENT, unpack_event)):
        if data := fields.get(name.encode()):
            try:
                yield decode(data)
            except ValueError:
                continue  # why: a journal outlives upgrades; what another version wrote must not hide the rest


def _note(pipe: Any, event: Event, *, versions: str, keys: tuple[str, ...], day: int, keep_seconds: int) -> None:
    """Add the command that notes an event to a pipeline: once, however often the event is delivered.

    On Knative each Service gets its own delivery of an event, and a delivery that failed halfway is repeated. So the
    version that was last delivered of an object (`versions`) decides whether an event is new; only a new one counts as
    a change (`changes`), and one without a resourceVersion changes the sum by a random number. Versions are compared
    as texts: equal or not, and two decimal ones by length, then digits. Their weights are summed modulo a number that
    Redis' arithmetic holds exactly: neither long versions nor many events overflow.
    """
    change = change_of(event.id)
    uid, version = change or ("", "")
    is_gone = change is not None and event.type.endswith(".delete")
    by = weight(version, is_gone=is_gone) if change else secrets.randbelow(MODULUS)
    pipe.execute_command(
        "EVAL", _NOTE, 2 + len(keys), versions, f"olmf:gone:{uid}.{version}", *keys,
        str(event.ref), version, "gone" if is_gone else day, by, keep_seconds, _REPEAT_SECONDS, MODULUS,
    )  # fmt: skip
