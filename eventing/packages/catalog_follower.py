"""Follows the CatalogSources: reads a catalog when its content, or what it says of itself, changes (csv.md §13.7)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

import structlog

from eventing.packages.package_cache import Catalog, PackageCache
from eventing.watch.namespaced import ListedKeys
from shared.adapters.catalog_api.heads import packages_with_heads
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.api.manifest import ReadOnly
from shared.api.views import CatalogSource
from shared.domain.catalog_source import READY, TRANSIENT_FAILURE
from shared.domain.image_source import ImageSource
from shared.domain.serving.csv_description import icon
from shared.domain.serving.package_list import Icon, Listed
from shared.domain.serving.package_manifest import Heads, package_manifest
from shared.ports import Unavailable

Open: TypeAlias = Callable[[str, ImageSource], Snapshot | Unavailable]
"""The snapshot of a catalog by the reference of its content."""
RETRY_SECONDS: Final = 30.0
READERS: Final = 4
"""Catalogs of the global namespace that are read at once, and as many of all others, one of each: a registry that does
not answer holds up its own namespace."""
FILL_SECONDS: Final = 20.0
"""How long the first answer waits for the catalogs of single namespaces: who writes there chooses their registries."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""Of the packages of all catalogs together. Half of it is for the global namespace."""
MOST_OF_ONE: Final = 32 * 1024 * 1024
"""Of those of any other namespace."""
NO_ICON: Final = Icon(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#8a8d90" '
    b'd="M12 2 3 7v10l9 5 9-5V7zm0 2.3L18.1 7.6 12 11 5.9 7.6zM5 9.3l6 3.3v6.6l-6-3.3zm8 9.9v-6.6l6-3.3v6.6z"/></svg>',
    "image/svg+xml",
    "",
)
"""Of packages without one: a box."""
_PICTURE: Final = re.compile(r"image/[a-zA-Z0-9.+-]{1,60}")
log = structlog.get_logger()


class CatalogFollower:
    """Keeps a cache equal to the catalogs, a few at a time, each read in a thread. An observer of a watch."""

    def __init__(self, cache: PackageCache, open_: Open, global_namespace: str) -> None:
        self._cache = cache
        self._open = open_
        self._global = global_namespace
        self._threads = {one: ThreadPoolExecutor(READERS, "catalog") for one in (True, False)}
        """Of the global namespace, and of all others."""
        self._sources: dict[Catalog, CatalogSource] = {}
        self._read: dict[Catalog, object] = {}
        """What the packages of a catalog were last made of."""
        self._sizes: dict[Catalog, int] = {}
        self._due: defaultdict[str, dict[Catalog, None]] = defaultdict(dict)
        """What waits to be read, by namespace, each once."""
        self._readers: defaultdict[str, set[asyncio.Task[None]]] = defaultdict(set)
        self._locks: defaultdict[Catalog, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: asyncio.TaskGroup | None = None
        self._failed: dict[Catalog, object] = {}
        """What could not be read last, until it is tried again."""
        self.filled = asyncio.Event()
        """Set when the global catalogs of the first list were read, or could not be; the others have a while for it."""

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Catalog]:
        """A CatalogSource came, changed or went."""
        source = CatalogSource(manifest)
        catalog = (source.namespace, source.name)
        if change == "DELETED":
            self._sources.pop(catalog, None)
        else:
            self._sources[catalog] = source
        return (catalog,)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Catalog]:
        """A page of a list of all CatalogSources."""
        found = [catalog for one in items for catalog in self.observe("ADDED", one)]
        for catalog in found:
            listed.add(catalog)
        return found

    def settle(self, listed: ListedKeys) -> Sequence[Catalog]:
        """The list is complete: what it does not name is gone."""
        gone = [one for one in self._sources if one not in listed]
        for one in gone:
            del self._sources[one]
        return gone

    async def deliver(self, catalogs: Sequence[Catalog]) -> None:
        """Remember which catalogs have to be looked at."""
        for one in catalogs:
            self._enqueue(one)

    async def run(self, is_listed: asyncio.Event) -> None:
        """Read what is due, for ever; `is_listed` is set when all CatalogSources were seen once."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                for catalog in [one for due in self._due.values() for one in due]:
                    self._enqueue(catalog)
                await is_listed.wait()
                await self._fill()
                await asyncio.Event().wait()  # why: a group that has nothing to do ends
        finally:
            self._tasks = None

    async def _fill(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FILL_SECONDS):
                await self._idle(lambda _: True)
        await self._idle(lambda namespace: namespace == self._global)
        self.filled.set()

    async def _idle(self, counts: Callable[[str], bool]) -> None:
        """Wait until nothing is due in these namespaces."""
        while reading := [task for namespace, tasks in self._readers.items() if counts(namespace) for task in tasks]:
            await asyncio.wait(reading)

    def _enqueue(self, catalog: Catalog) -> None:
        """Once, however often that is asked for before its turn; a namespace has one reader, the global one a few."""
        namespace, _ = catalog
        self._due[namespace][catalog] = None
        readers = self._readers[namespace]
        if self._tasks is not None and len(readers) < (READERS if namespace == self._global else 1):
            readers.add(self._tasks.create_task(self._read_due(namespace)))

    async def _read_due(self, namespace: str) -> None:
        due, readers = self._due[namespace], self._readers[namespace]
        while due:
            catalog = next(iter(due))
            del due[catalog]
            async with self._locks[catalog]:
                await self._refresh(catalog)
        readers -= {task for task in readers if task is asyncio.current_task()}
        if not readers:
            del self._due[namespace], self._readers[namespace]

    async def _refresh(self, catalog: Catalog) -> None:
        source = self._sources.get(catalog)
        if source is None or source.connection.state == TRANSIENT_FAILURE:
            for known in (self._read, self._sizes, self._failed, self._locks):
                known.pop(catalog, None)
            self._cache.replace(catalog, ())
            return
        made_of = _made_of(source)
        if source.connection.state != READY or made_of in (self._read.get(catalog), self._failed.get(catalog)):
            return
        threads = self._threads[source.namespace == self._global]
        found = await asyncio.get_running_loop().run_in_executor(threads, self._packages, source)
        if not isinstance(found, Unavailable):
            found = self._fitting(catalog, found)
        if isinstance(found, Unavailable):
            log.warning("catalog_unavailable", catalog="/".join(catalog), reason=found.reason, error=found.message)
            self._failed[catalog] = made_of
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._retry, catalog)
            return
        self._failed.pop(catalog, None)
        self._read[catalog] = made_of
        self._cache.replace(catalog, found)
        log.info("catalog_read", catalog="/".join(catalog), packages=len(found))

    def _retry(self, catalog: Catalog) -> None:
        if self._failed.pop(catalog, None) is not None:
            self._enqueue(catalog)

    def _fitting(self, catalog: Catalog, found: tuple[Listed, ...]) -> tuple[Listed, ...] | Unavailable:
        """The packages, if they fit beside those of the other catalogs."""
        size = sum(one.size for one in found)
        room = self._room(catalog)
        if size > room:
            return Unavailable("TooLarge", f"its packages have {size} bytes, and {room} are left")
        self._sizes[catalog] = size
        return found

    def _room(self, catalog: Catalog) -> int:
        """How many bytes are left for a catalog: those of no namespace but the global one keep others out."""
        others = {one: size for one, size in self._sizes.items() if one != catalog}
        room = MOST_BYTES - sum(others.values())
        if catalog[0] == self._global:
            return room
        private = sum(size for one, size in others.items() if one[0] != self._global)
        other_bytes = sum(size for one, size in others.items() if one[0] == catalog[0])
        return min(room, MOST_BYTES // 2 - private, MOST_OF_ONE - other_bytes)

    def _packages(self, source: CatalogSource) -> tuple[Listed, ...] | Unavailable:
        reference = source.content
        try:
            snapshot = self._open(reference, ImageSource(reference, source.namespace, source.secrets))
            return snapshot if isinstance(snapshot, Unavailable) else tuple(_listed(source, snapshot))
        except (BrokenSnapshot, FileNotFoundError) as error:
            return Unavailable("Malformed", str(error))
        except Exception as error:  # why: one catalog must not end the server of all others
            log.exception("catalog_failed", catalog=f"{source.namespace}/{source.name}")
            return Unavailable("Unreachable", f"{type(error).__name__}: {error}")


def _made_of(source: CatalogSource) -> object:
    """All of a CatalogSource that shows in its packages."""
    shown = source.display_name, source.publisher, source.age_key, tuple(sorted(source.labels.items()))
    return source.content, source.uid, shown


def _listed(source: CatalogSource, snapshot: Snapshot) -> Iterator[Listed]:
    for package, heads in packages_with_heads(snapshot):
        manifest = package_manifest(source, package, heads)
        if manifest is not None:
            yield Listed.of(manifest, _icon(package.name, manifest["status"]["defaultChannel"], heads))


def _icon(package: str, channel: str, heads: Heads) -> Icon:
    """The first icon at the head of the default channel (csv.md §13.6)."""
    content, media_type = icon(heads[channel])
    try:
        picture = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        return NO_ICON
    if not picture:
        return NO_ICON
    tag = f'"{package}.{channel}.{heads[channel].name}"'
    return Icon(picture, media_type if _PICTURE.fullmatch(media_type) else "application/octet-stream", tag)
