"""What a step writes again and again, because somebody takes it back: it is written ever more seldom.

Decision: who repairs an object at each change fights with whoever changes it, and two programs that do not know of each
other are as fast as the API server. Some dozens of repairs are made at once; after that a run decides as always, and
its writes wait, up to a minute. The other side has nothing to answer meanwhile, so the loop ends. Each worker counts
for itself. Turned down: a limit of runs, which would delay those that have something else to do; a table of known
opponents; five repairs, as many as somebody needs who installs and removes an operator again and again in a test.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

import orjson

from eventing.effects.written import target
from shared.api.manifest import Manifest
from shared.kinds import Ref
from shared.step import Apply, Create, Delete, Merge, Replace, Write

Key: TypeAlias = tuple[str, Ref]
"""A step, and what it is about."""

CONTESTED: Final = "the same writes were taken back by somebody again and again"
BURST: Final = 50
"""So often the same is written without a pause."""
LONGEST_SECONDS: Final = 60.0
FORGOTTEN_SECONDS: Final = 2 * LONGEST_SECONDS
"""After a time without writes a fight is forgotten."""
MOST: Final = 10_000
_OF_THE_SERVER: Final = frozenset({"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"})
"""What an object that is replaced whole brings back of what was read."""
OF_OBJECTS: Final = (Apply, Create, Delete, Merge, Replace)
"""Writes of more than a status or an Event."""


@dataclass(slots=True)
class _Fight:
    last: float
    written: bytes
    times: int

    def pause(self) -> float:
        """Seconds between the last write and the next."""
        return min(2.0 ** min(self.times - BURST, 6), LONGEST_SECONDS) if self.times >= BURST else 0.0


class Contested:
    """Remembers the last writes of each step; threads share it."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._fights: OrderedDict[Key, _Fight] = OrderedDict()
        self._lock = threading.Lock()
        self._seconds = seconds

    def pause(self, key: Key, writes: Iterable[Write]) -> timedelta:
        """How long these writes have to wait; mostly not at all."""
        with self._lock:
            fight = self._fights.get(key)
        if fight is None or not fight.pause() or fight.written != digest(writes):
            return timedelta(0)
        return timedelta(seconds=max(0.0, fight.last + fight.pause() - self._seconds()))

    def note(self, key: Key, writes: Iterable[Write]) -> None:
        """These were decided together, and those of them that were sent changed an object."""
        now, written = self._seconds(), digest(writes)
        if not written:
            return
        with self._lock:
            fight = self._fights.pop(key, None)
            is_new = fight is None or fight.written != written or now - fight.last > FORGOTTEN_SECONDS
            self._fights[key] = _Fight(now, written, 1 if is_new or fight is None else fight.times + 1)
            if len(self._fights) > MOST:
                self._fights.popitem(last=False)


def digest(writes: Iterable[Write]) -> bytes:
    """Of what objects shall be; empty where nothing but a status, which is what we saw, and Events are written."""
    contents = [(str(target(write)), _content(write)) for write in writes if isinstance(write, OF_OBJECTS)]
    return hashlib.blake2b(orjson.dumps(contents), digest_size=16).digest() if contents else b""


def _content(write: Apply | Create | Delete | Merge | Replace) -> Manifest:
    if isinstance(write, Delete):
        return {}
    found = write.patch if isinstance(write, Merge) else write.manifest
    meta = {key: value for key, value in found.get("metadata", {}).items() if key not in _OF_THE_SERVER}
    return {**{key: value for key, value in found.items() if key != "status"}, "metadata": meta}
