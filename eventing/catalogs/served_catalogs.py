"""The ClusterCatalogs that are served: follows their statuses, and opens what they say by digest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

import structlog

from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.store import Store
from shared.api.manifest import ReadOnly
from shared.api.views import ClusterCatalog
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable

Open: TypeAlias = Callable[[str, ImageSource], Snapshot | Unavailable]
"""The snapshot of a catalog by the reference of its content."""
RETRY_SECONDS: Final = 5.0
log = structlog.get_logger()


class ServedCatalogs(Mapping[str, Lines | None]):
    """What is served, by name: None while the content is not here. An observer of a watch; threads may read it."""

    def __init__(self, open_: Open, store: Store, namespace: str, secrets: tuple[str, ...] = ()) -> None:
        """`namespace` and `secrets` open the images that this machine does not have yet."""
        self._open = open_
        self._store = store
        self._source = ImageSource("", namespace, secrets)
        self._thread = ThreadPoolExecutor(1, "catalog")
        self._wanted: dict[str, ClusterCatalog] = {}
        self._here: dict[str, tuple[object, Lines]] = {}
        """By name: what the lines are made of, and the lines."""
        self._due: asyncio.Queue[str] = asyncio.Queue()

    def __getitem__(self, name: str) -> Lines | None:
        made_of = _made_of(self._wanted[name])
        found = self._here.get(name)
        return found[1] if found and found[0] == made_of else None  # a thread may see the object before its content

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._wanted))

    def __len__(self) -> int:
        return len(self._wanted)

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[str]:
        """A ClusterCatalog came, changed or went."""
        catalog = ClusterCatalog(manifest)
        if change == "DELETED" or catalog.is_deleted or catalog.is_disabled:
            self._wanted.pop(catalog.name, None)
            self._here.pop(catalog.name, None)
        else:
            self._wanted[catalog.name] = catalog
        return (catalog.name,)

    def page(self, items: Iterable[ReadOnly], listed: set[tuple[str, str]]) -> Sequence[str]:
        """A page of a list of all ClusterCatalogs."""
        found = [name for one in items for name in self.observe("ADDED", one)]
        listed.update(("", name) for name in found)
        return found

    def settle(self, listed: set[tuple[str, str]]) -> Sequence[str]:
        """The list is complete: what it does not name is gone."""
        gone = [name for name in self._wanted if ("", name) not in listed]
        for name in gone:
            del self._wanted[name]
            self._here.pop(name, None)
        return gone

    async def deliver(self, names: Sequence[str]) -> None:
        """Remember which catalogs have to be looked at."""
        for name in names:
            self._due.put_nowait(name)

    async def run(self) -> None:
        """Open what is due, one after the other, for ever."""
        while True:
            await self._refresh(await self._due.get())

    async def _refresh(self, name: str) -> None:
        catalog = self._wanted.get(name)
        if catalog is None or not catalog.resolved or self[name] is not None:
            return
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._thread, self._lines, catalog)
        if isinstance(found, Unavailable):
            log.warning("catalog_unavailable", catalog=name, reason=found.reason, error=found.message)
            loop.call_later(RETRY_SECONDS, self._due.put_nowait, name)
        elif name in self._wanted:
            self._here[name] = (_made_of(catalog), found)
            log.info("catalog_served", catalog=name, reference=catalog.resolved)

    def _lines(self, catalog: ClusterCatalog) -> Lines | Unavailable:
        source = ImageSource(catalog.resolved, self._source.namespace, self._source.secrets)
        try:
            snapshot = self._open(catalog.resolved, source)
            if isinstance(snapshot, Unavailable):
                return snapshot
            lines = Lines(snapshot, self._store, catalog.unpacked)
            lines.file()  # made here, so that no client waits for it
        except (BrokenSnapshot, OSError) as error:
            return Unavailable("Malformed", str(error))
        return lines


def _made_of(catalog: ClusterCatalog) -> object:
    """All of a ClusterCatalog that shows in what is served."""
    return catalog.resolved, catalog.unpacked
