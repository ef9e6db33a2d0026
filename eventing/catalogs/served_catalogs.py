"""The ClusterCatalogs that are served: follows their statuses, and opens what they say by digest."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

import structlog

from eventing.watch.namespaced import ListedKeys
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.api.manifest import ReadOnly
from shared.api.views import ClusterCatalog
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable

Open: TypeAlias = Callable[[str, ImageSource], Snapshot | Unavailable]
"""The snapshot of a catalog by the reference of its content."""
RETRY_SECONDS: Final = 5.0
LONGEST_RETRY_SECONDS: Final = 300.0
"""Between two attempts to open the same content: first, and at most."""
OPENED_AT_ONCE: Final = 2
"""To index a catalog may take 200 MB."""
log = structlog.get_logger()


class ServedCatalogs(Mapping[str, Lines | None]):
    """What is served, by name: None while the content is not here. An observer of a watch; threads may read it."""

    def __init__(
        self, opens: Sequence[Open], store: Store, namespace: str, secrets: tuple[str, ...] = (),
        *, prepare: Callable[[Lines], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """Each of `opens` serves one thread, so that a slow registry holds up no other catalog.

        `namespace` and `secrets` open the images that this machine does not have yet. `prepare` makes what
        is served beside the lines.
        """
        self._opens = opens
        self._store = store
        self._source = ImageSource("", namespace, secrets)
        self._prepare = prepare
        self._threads = ThreadPoolExecutor(len(opens), "catalog")
        self._desired: dict[str, ClusterCatalog] = {}
        self._here: dict[str, tuple[object, Lines]] = {}
        """By name: what the lines are made of, and the lines."""
        self._due: asyncio.Queue[str] = asyncio.Queue()
        self._busy: set[str] = set()
        self._failed: dict[str, object] = {}
        """By name: what could not be opened, and is tried again."""
        self._failures: Counter[str] = Counter()

    def __getitem__(self, name: str) -> Lines | None:
        made_of = _made_of(self._desired[name])
        found = self._here.get(name)
        return found[1] if found and found[0] == made_of else None  # a thread may see the object before its content

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._desired))

    def __len__(self) -> int:
        return len(self._desired)

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[str]:
        """A ClusterCatalog came, changed or went."""
        catalog = ClusterCatalog(manifest)
        if change == "DELETED" or catalog.is_deleted or catalog.is_disabled:
            self._drop(catalog.name)
        else:
            self._desired[catalog.name] = catalog
        return (catalog.name,)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[str]:
        """A page of a list of all ClusterCatalogs."""
        found = [name for one in items for name in self.observe("ADDED", one)]
        for name in found:
            listed.add(("", name))
        return found

    def settle(self, listed: ListedKeys) -> Sequence[str]:
        """The list is complete: what it does not name is gone."""
        gone = [name for name in self._desired if ("", name) not in listed]
        for name in gone:
            self._drop(name)
        return gone

    def _drop(self, name: str) -> None:
        self._desired.pop(name, None)
        self._here.pop(name, None)
        self._forget_failures(name)

    async def deliver(self, names: Sequence[str]) -> None:
        """Remember which catalogs have to be looked at."""
        for name in names:
            self._due.put_nowait(name)

    async def run(self) -> None:
        """Open what is due, for ever."""
        async with asyncio.TaskGroup() as tasks:
            for open_ in self._opens:
                tasks.create_task(self._work(open_))

    async def _work(self, open_: Open) -> None:
        while True:
            name = await self._due.get()
            if name in self._busy:
                continue  # at its end it is looked at again
            self._busy.add(name)
            try:
                while (catalog := self._missing(name)) is not None:
                    await self._open(name, catalog, open_)
            finally:
                self._busy.discard(name)

    def _missing(self, name: str) -> ClusterCatalog | None:
        """The catalog if its content is not here, and no attempt is due later."""
        catalog = self._desired.get(name)
        if catalog is None or not catalog.resolved or self[name] is not None:
            return None
        return catalog if self._failed.get(name) != _made_of(catalog) else None

    async def _open(self, name: str, catalog: ClusterCatalog, open_: Open) -> None:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, self._lines, catalog, open_)
        if isinstance(found, Unavailable):
            log.warning("catalog_unavailable", catalog=name, reason=found.reason, error=found.message)
            self._failed[name] = _made_of(catalog)
            pause = min(RETRY_SECONDS * 2 ** min(self._failures[name], 10), LONGEST_RETRY_SECONDS)
            self._failures[name] += 1
            loop.call_later(pause, self._retry, name, catalog)
        else:
            self._forget_failures(name)
            if name in self._desired:
                self._here[name] = (_made_of(catalog), found)
                log.info("catalog_served", catalog=name, reference=catalog.resolved)

    def _retry(self, name: str, catalog: ClusterCatalog) -> None:
        if self._failed.get(name) == _made_of(catalog):
            del self._failed[name]
            self._due.put_nowait(name)

    def _forget_failures(self, name: str) -> None:
        self._failed.pop(name, None)
        del self._failures[name]

    def _lines(self, catalog: ClusterCatalog, open_: Open) -> Lines | Unavailable:
        source = ImageSource(catalog.resolved, self._source.namespace, self._source.secrets)
        try:
            snapshot = open_(catalog.resolved, source)
            if isinstance(snapshot, Unavailable):
                return snapshot
            lines = Lines(snapshot, self._store, catalog.unpacked)
            lines.matching()  # its file is made here, so that no client waits for it
            self._prepare(lines)
        except OciError as error:
            return error.unavailable()
        except (BrokenSnapshot, OSError, RecursionError) as error:
            return Unavailable("Malformed", f"{catalog.resolved}: {error}")
        except Exception as error:  # why: one bad catalog must not end the others
            log.exception("catalog_failed", catalog=catalog.name)
            return Unavailable("Malformed", f"{catalog.resolved}: {error!r}")
        return lines


def _made_of(catalog: ClusterCatalog) -> object:
    """All of a ClusterCatalog that shows in what is served."""
    return catalog.resolved, catalog.unpacked
