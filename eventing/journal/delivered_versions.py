"""The newest version of each object that an event has delivered; the audit compares it with what exists.

A deletion removes its object. One that no watcher has noticed leaves its object here until the audit, which asks about
everything that exists several times an hour, has not asked about it for days.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shared.kinds import Ref
from shared.resource_versions import is_newer

VERSIONS = "olmf:seen"
"""A Redis hash: ref to the resourceVersion of its last event, and the day of the last event or question about it."""
KEEP_DAYS = 3
_PAGE = 500
_DAY_SECONDS = 24 * 60 * 60

_EXCHANGE = """
for i = 1, #ARGV, 3 do
  local ref, before, after = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('HGET', KEYS[1], ref) == before then
    if after == '' then redis.call('HDEL', KEYS[1], ref) else redis.call('HSET', KEYS[1], ref, after) end
  end
end
"""
"""Of each ref the value that was read becomes another one, or none; what an event wrote meanwhile stays."""


class DeliveredVersions:
    """The versions that events have delivered, in the Redis of the journal."""

    def __init__(self, client: Any, now: Callable[[], float] = time.time) -> None:
        self._client = client
        self._now = now
        self._position = 0

    def lacks(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """Of (ref, resourceVersion) pairs, the refs whose version no event has delivered."""
        found: list[Ref] = []
        for start in range(0, len(identities), _PAGE):
            page = identities[start : start + _PAGE]
            answer = self._client.execute_command("HMGET", VERSIONS, *(str(ref) for ref, _ in page))
            known = [_read(each) for each in answer]
            found += [
                ref for (ref, newest), (version, _) in zip(page, known, strict=True) if not _covers(version, newest)
            ]
            self._exchange(
                (str(ref), value, f"{version} {self.today}")
                for (ref, _), value, (version, day) in zip(page, answer, known, strict=True)
                if version and day != self.today
            )
        return tuple(found)

    def forget(self) -> None:
        """Read one page of all, and drop what was not asked about for days."""
        answer = self._client.execute_command("HSCAN", VERSIONS, self._position, "COUNT", _PAGE)
        self._position, page = int(answer[0]), answer[1]
        self._exchange((ref, value, "") for ref, value in page.items() if _read(value)[1] + KEEP_DAYS < self.today)

    def _exchange(self, values: Iterable[tuple[str | bytes, bytes, str]]) -> None:
        if words := [word for each in values for word in each]:
            self._client.execute_command("EVAL", _EXCHANGE, 1, VERSIONS, *words)

    @property
    def today(self) -> int:
        """The number of the day, UTC."""
        return int(self._now() // _DAY_SECONDS)


def _read(value: bytes | None) -> tuple[str, int]:
    """Version and day; empty without an event."""
    version, _, day = (value or b"").decode().rpartition(" ")  # a version may be any text
    return version, int(day or 0)


def _covers(known: str, version: str) -> bool:
    """Whether an event has delivered this version, or a later one."""
    return known == version or is_newer(known, version)
