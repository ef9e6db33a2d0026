"""The PackageManifests that are served now, and what changed of them lately, for watches."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

from shared.domain.serving.package_list import Listed

Catalog: TypeAlias = tuple[str, str]
"""Namespace and name of a CatalogSource."""
_REMEMBERED: Final = 5_000


@dataclass(frozen=True, slots=True)
class Change:
    """One package came, changed or went."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    package: Listed


class Expired(Exception):
    """A watch cannot go on from there; its client lists again."""


class PackageCache:
    """The packages by catalog. Not safe for threads: it belongs to the loop that serves."""

    def __init__(self) -> None:
        self._catalogs: dict[Catalog, Mapping[str, Listed]] = {}
        self._sorted: tuple[Listed, ...] = ()
        self._changes: deque[Change] = deque(maxlen=_REMEMBERED)
        self.version = time.time_ns() // 1_000_000
        """Grows with each change, and is beyond that of the process before."""
        self._start = self.version
        self._changed = asyncio.Event()

    def packages(self) -> tuple[Listed, ...]:
        """All of them, sorted by name."""
        return self._sorted

    def replace(self, catalog: Catalog, packages: Iterable[Listed]) -> None:
        """The packages of one catalog are these from now on; none: it is gone."""
        before, after = self._catalogs.pop(catalog, {}), {one.name: one for one in packages}
        if after:
            self._catalogs[catalog] = after
        for name in sorted(before.keys() | after.keys()):
            self._record(before.get(name), after.get(name))
        everything = chain.from_iterable(one.values() for one in self._catalogs.values())
        self._sorted = tuple(sorted(everything, key=lambda one: one.order))
        self._changed.set()
        self._changed = asyncio.Event()

    def changes_after(self, version: int) -> tuple[Change, ...]:
        """What changed since a version. Expired when that is not known any more, or never was."""
        oldest = self._changes[0].version - 1 if len(self._changes) == _REMEMBERED else self._start
        if not oldest <= version <= self.version:
            raise Expired(f"too old resource version: {version} ({self.version})")
        return tuple(change for change in self._changes if change.version > version)

    async def changed_after(self, version: int) -> None:
        """Wait until something changes after a version, or has already."""
        while self.version <= version:
            await self._changed.wait()

    def _record(self, before: Listed | None, after: Listed | None) -> None:
        if before == after:
            return
        self.version += 1
        if after is not None:
            self._changes.append(Change(self.version, "MODIFIED" if before else "ADDED", after))
        elif before is not None:
            self._changes.append(Change(self.version, "DELETED", before))
