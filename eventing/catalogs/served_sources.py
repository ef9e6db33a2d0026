"""The CatalogSources that are served: follows their statuses, and opens what they say when somebody asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, TypeVar

import structlog

from eventing.catalogs.kept_catalogs import Kept, KeptCatalogs
from eventing.catalogs.served_catalogs import LONGEST_RETRY_SECONDS, RETRY_SECONDS, Open
from eventing.watch.namespaced import Key, ListedKeys
from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.errors import NoCatalogError, NotHereError
from shared.adapters.content.snapshot import BrokenSnapshot
from shared.adapters.oci.errors import OciError
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import CatalogSource
from shared.domain.go.text import quoted
from shared.domain.image_source import ImageSource
from shared.domain.serving.authority import dialled_service
from shared.ports import Unavailable

WAIT_SECONDS: Final = 20.0
"""How long a call waits for a catalog that is being read."""
MOST_ENTRIES: Final = 100_000
"""Entries of channels that are kept in memory, about 300 bytes each: of the global namespace, and of all others."""
MOST_CATALOGS: Final = 100
"""Catalogs that are kept open, of each of the two: each holds a file."""
_SHOWN: Final = 100
T = TypeVar("T")
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Served:
    """What is behind a Service."""

    catalog: Key
    reference: str
    """The content by digest; empty before it was read."""
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Failure:
    of: Served
    count: int
    until: float


class ServedSources:
    """What is served, by the name that a client dials. An observer of a watch; threads ask it."""

    def __init__(
        self, opens: Sequence[Open], global_opens: Sequence[Open], global_namespace: str, *,
        wait_seconds: float = WAIT_SECONDS, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Each of `opens` serves one thread; global catalogs have their own, which no tenant's registry holds up."""
        self._global, self._wait, self._clock = global_namespace, wait_seconds, clock
        self._readers = {False: _Readers(opens), True: _Readers(global_opens)}
        self._services: dict[Key, Mapping[Key, Served]] = {}
        """All CatalogSources whose statuses name a Service; never changed in place, because threads read it."""
        self._known: dict[Key, Key] = {}
        """The Service of each CatalogSource."""
        self._lock = threading.Lock()
        self._open = {one: KeptCatalogs(MOST_ENTRIES, MOST_CATALOGS) for one in (False, True)}
        """Of the global namespace, and of all others: no tenant closes a global catalog."""
        self._failed: dict[Key, _Failure] = {}
        self._reading: dict[Key, Future[Kept | None]] = {}

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Key]:
        """A CatalogSource came, changed or went."""
        source = CatalogSource(manifest)
        catalog = (source.namespace, source.name)
        about = fields.part(source.status, "registryService")
        name = "" if change == "DELETED" or source.is_deleted else fields.text(about, "serviceName")
        service = (source.namespace, name)
        if self._known.get(catalog) != (service if name else None):
            self._drop(catalog)
        if name:
            self._known[catalog] = service
            self._claim(service, {catalog: Served(catalog, source.content, source.secrets)})
        return ()

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Key]:
        """A page of a list of all CatalogSources."""
        for one in items:
            self.observe("ADDED", one)
            source = CatalogSource(one)
            listed.add((source.namespace, source.name))
        return ()

    def settle(self, listed: ListedKeys) -> Sequence[Key]:
        """The list is complete: what it does not name is gone."""
        for catalog in [one for one in self._known if one not in listed]:
            self._drop(catalog)
        return ()

    async def deliver(self, _: Sequence[Key]) -> None:
        """Nothing is done before somebody asks."""

    def _drop(self, catalog: Key) -> None:
        service = self._known.pop(catalog, None)
        if service is not None:
            self._claim(service, {}, without=catalog)

    def _claim(self, service: Key, more: dict[Key, Served], *, without: Key | None = None) -> None:
        """Change who says to be behind a Service; what was read for another one is forgotten."""
        with self._lock:
            former = self._behind(service)
            claims = {key: one for key, one in self._services.get(service, {}).items() if key != without} | more
            if claims:
                self._services[service] = claims
            else:
                self._services.pop(service, None)
            if self._behind(service) != former:
                self._kept(service).drop(service)
                self._failed.pop(service, None)

    def _behind(self, service: Key) -> Served | None:
        """What is served: of several claims that of the first name, so that all replicas answer the same."""
        claims = self._services.get(service)
        return claims[min(claims)] if claims else None

    def _kept(self, service: Key) -> KeptCatalogs:
        return self._open[service[0] == self._global]

    def check(self, authority: str) -> None:
        """Whether there is such a catalog, and its content was read. NoCatalogError, NotHereError."""
        service, served = self._dialled(authority)
        with self._lock:
            self._refuse(service, served)

    def answers(self, authority: str) -> Answers:
        """The catalog behind the name; it is read at the first call. NoCatalogError, NotHereError."""
        end = self._clock() + self._wait
        while True:
            service, served = self._dialled(authority)
            with self._lock:
                if (known := self._kept(service).get(service, served)) is not None:
                    return known
                self._refuse(service, served)
                reading = self._turn(service, served)
            try:
                found = reading.result(max(0.0, end - self._clock()))
            except TimeoutError as error:
                raise NotHereError(f"catalog {'/'.join(served.catalog)} is being read: ask again") from error
            if found is not None and found.of == served:
                return found.answers

    def forget(self, authority: str, answers: Answers) -> None:
        """Content that answers lean on is gone from the store: the next call reads it anew."""
        service = dialled_service(authority)
        if service is not None:
            log.warning("catalog_lost", service="/".join(service))
            with self._lock:
                self._kept(service).drop(service, answers)

    def _dialled(self, authority: str) -> tuple[Key, Served]:
        service = dialled_service(authority)
        served = self._behind(service) if service else None
        if service is None or served is None:
            raise NoCatalogError(
                f"no catalog is served as {quoted(authority[:_SHOWN])}: dial, or name as the authority, the address "
                "in status.connectionState of a CatalogSource"
            )
        return service, served

    def _refuse(self, service: Key, served: Served) -> None:
        if not served.reference:
            raise NotHereError(f"catalog {'/'.join(served.catalog)} was not read yet: its status says why")
        failure = self._failed.get(service)
        if failure is not None and failure.of == served and self._clock() < failure.until:
            # why without the reason: whoever can dial may ask, and not all of them may read the CatalogSource
            raise NotHereError(f"catalog {'/'.join(served.catalog)} cannot be read for now: ask again later")

    def _turn(self, service: Key, served: Served) -> Future[Kept | None]:
        """The read of the catalog, begun if need be; or one of its namespace that goes first."""
        is_global = service[0] == self._global
        for (namespace, name), reading in self._reading.items():
            if namespace == service[0] and (name == service[1] or not is_global):
                return reading
        found = self._reading[service] = self._readers[is_global].submit(
            lambda open_: self._read(service, served, open_)
        )
        return found

    def _read(self, service: Key, served: Served, open_: Open) -> Kept | None:
        """What was read, whether it is kept or not; None when it cannot be, or is wanted no more."""
        found = _opened(served, open_)
        with self._lock:
            del self._reading[service]
            if self._behind(service) != served:
                return None  # another content is wanted meanwhile
            if isinstance(found, Unavailable):
                self._fail(service, served, found)
                return None
            self._failed.pop(service, None)
            return self._kept(service).put(service, Kept(served, found))

    def _fail(self, service: Key, served: Served, trouble: Unavailable) -> None:
        former = self._failed.get(service)
        count = former.count + 1 if former is not None and former.of == served else 0
        pause = min(RETRY_SECONDS * 2 ** min(count, 10), LONGEST_RETRY_SECONDS)
        self._failed[service] = _Failure(served, count, self._clock() + pause)
        catalog = "/".join(served.catalog)
        log.warning("catalog_unavailable", catalog=catalog, reason=trouble.reason, error=trouble.message)


class _Readers:
    """Threads that open catalogs, each with an `Open` of its own."""

    def __init__(self, opens: Sequence[Open]) -> None:
        self._opens: SimpleQueue[Open] = SimpleQueue()
        for one in opens:
            self._opens.put(one)
        self._threads = ThreadPoolExecutor(len(opens), "catalog-source")

    def submit(self, work: Callable[[Open], T]) -> Future[T]:
        """Do it as soon as a thread is idle."""

        def run() -> T:
            open_ = self._opens.get()
            try:
                return work(open_)
            finally:
                self._opens.put(open_)

        return self._threads.submit(run)


def _opened(served: Served, open_: Open) -> Answers | Unavailable:
    try:
        found = open_(served.reference, ImageSource(served.reference, served.catalog[0], served.secrets))
        return found if isinstance(found, Unavailable) else Answers(found)
    except OciError as error:
        return error.unavailable()
    except (BrokenSnapshot, OSError, RecursionError) as error:
        return Unavailable("Malformed", str(error))
    except Exception as error:  # why: one bad catalog must not end the others
        log.exception("catalog_failed", catalog="/".join(served.catalog))
        return Unavailable("Malformed", repr(error))
