"""Serves one catalog: the registry API over gRPC, and on request the HTTP API of OLM v1's catalogd."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from eventing.ending import noted_end
from shared.adapters.catalog_api import cache_folder
from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store


class SickCatalogError(Exception):
    """Some packages cannot be served, and the caller accepts only a complete catalog."""


@dataclass(frozen=True, slots=True)
class Serving:
    """The catalog to serve, and where."""

    path: str
    """The catalog: a folder, a file, or an image."""
    store: Store
    address: str = "[::]:50051"
    http_address: tuple[str, int] | None = None
    name: str = "catalog"
    """The name of the catalog in the HTTP API."""
    cache_folder: Path | None = None
    """Folder for the index, instead of the store, so that it can be part of an image."""
    is_enforced: bool = False
    """The index must exist already."""
    is_all_or_nothing: bool = False
    logs_every_call: bool = False


def index(serving: Serving) -> Snapshot:
    """The index of the catalog: the stored one, else a new one. Raises CacheError, OciError, NotACatalog or OSError."""
    if serving.cache_folder is None:
        return snapshot_at(serving.path, serving.store)
    open_folder = cache_folder.enforced if serving.is_enforced else cache_folder.refreshed
    return open_folder(Path(serving.path), serving.cache_folder)


@contextmanager
def running(serving: Serving, log: Callable[[str], object] = lambda _: None) -> Iterator[tuple[int, int]]:
    """The ports of gRPC and HTTP (0: none) while both are served. Broken packages are reported and left out."""
    from shared.adapters.catalog_api import server, web

    snapshot = index(serving)
    answers = Answers(snapshot)
    for name, findings in sorted(answers.sick.items()):
        if serving.is_all_or_nothing:
            raise SickCatalogError(f'build package index: process package "{name}": {findings[0]}')
        log(f"package {name} is not served: {'; '.join(findings)}")
    for name, findings in sorted(answers.flawed.items()):
        log(f"package {name} is served, but broken: {'; '.join(findings)}")
    store = Store(serving.cache_folder) if serving.cache_folder else serving.store
    with ExitStack() as stack:
        call_log = log if serving.logs_every_call else None
        port = stack.enter_context(server.running(answers, serving.address, call_log))
        lines = nullcontext(0)
        if serving.http_address is not None:
            host, desired = serving.http_address
            lines = web.running({serving.name: Lines(snapshot, store)}, host, desired)  # type: ignore[assignment]  # why: both give a port
        yield port, stack.enter_context(lines)


def serve(serving: Serving, log: Callable[[str], object]) -> None:
    """Serve until SIGTERM or an interrupt; running calls are still answered."""
    wait_for_end = noted_end()
    with running(serving, log) as (port, http_port):
        http = f", over HTTP on port {http_port}" if http_port else ""
        log(f"serving {serving.path} over gRPC on port {port}{http}")
        wait_for_end()
