"""Makes a snapshot of the files of a catalog; where an older one knows most of them, only what changed is read."""

from __future__ import annotations

import gc
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from msgspec import structs

from shared.adapters.content.snapshot.form import (
    HERE,
    Bundles,
    Channels,
    Documents,
    Entry,
    File,
    Header,
    Part,
    Row,
    checksum,
    encode,
    provider_key,
    write_sections,
)
from shared.adapters.content.snapshot.reading import Snapshot
from shared.adapters.content.snapshot.scan import Found, Observe, Scanner
from shared.adapters.content.snapshot.second_process import scanning
from shared.adapters.content.snapshot.sources import Older, Source
from shared.adapters.progress import advanced, ended
from shared.domain.catalog.documents import PackageDocuments
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage, parse_package

_OTHERS: Final = 8
"""Older snapshots that a new one may lean on; instead of on one more, it stands on its own."""
_GVK: Final = "olm.gvk"


_AT_ONCE: Final = threading.Semaphore(2)
"""Of one process, whoever asks: to index a catalog may take 200 MB. Nobody waits here for a registry."""


def write(
    stream: BinaryIO,
    sources: Sequence[Source],
    *,
    folder: str = "",
    left_out: tuple[str, ...] = (),
    older: Older | None = None,
    observe: Observe | None = None,
) -> bool:
    """Write the snapshot of a catalog. NotACatalog when a file holds no catalog, OSError when it cannot be read.

    `observe` is told of the documents, file by file as upstream walks a folder. Whether it was told of all of them: it
    is not where only a part is read, or a file is not JSON as tools write it.
    """
    with _AT_ONCE, _few_collections():
        return _write(stream, sources, Header((), folder, left_out), older, observe=observe)


def _write(
    stream: BinaryIO, sources: Sequence[Source], header: Header, older: Older | None, *, observe: Observe | None
) -> bool:
    known = older.snapshot.files if older and older.snapshot.header.folder == header.folder else {}
    reading = _Reading(known)
    is_whole = reading.read(sources, observe)
    writer = _Writer(stream)
    providers: dict[str, Collection[str]] = {}
    if older:
        kept = set(older.snapshot.entries) - reading.affected if known else set()
        writer.keep(older, kept)
        providers = {
            api: names if kept.issuperset(names) else kept.intersection(names)
            for api, names in (older.snapshot.providers.items() if kept else ())
        }
    for name in sorted(reading.packages):
        before = writer.offset
        for api in writer.add(name, reading.packages.pop(name)):
            providers[api] = {*providers.get(api, ()), name}
        advanced("indexing", writer.offset - before, "packages")
    ended()
    files = [File(one.path, one.identity, reading.packages_of(one.path)) for one in sources]
    sections: dict[str, object] = {
        "header": structs.replace(header, others=writer.others),
        "packages": writer.entries,
        "files": files,
        "providers": {api: sorted(names) for api, names in sorted(providers.items()) if names},
    }
    write_sections(stream, writer.offset, sections)
    return is_whole


@dataclass(slots=True)
class _Reading:
    """The documents of every package of which a file changed."""

    known: Mapping[str, File]
    packages: dict[str, dict[str, list[Found]]] = field(default_factory=dict)
    """By package, then by file in the order of the catalog."""
    affected: set[str] = field(default_factory=set)
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, sources: Sequence[Source], observe: Observe | None) -> bool:
        """Read what changed, and other files as far as they tell of the same packages.

        Whether `observe` was told of every document; it is not unless all files are read at once.
        """
        gone = set(self.known) - {source.path for source in sources}
        changed = {source.path for source in sources if not self._is_known(source)}
        self.affected.update(name for path in gone | (changed & set(self.known)) for name in self.known[path].packages)
        scanner, contents = Scanner(observe if len(changed) == len(sources) else None), dict[str, list[Found]]()
        ordered = sorted(sources, key=lambda one: one.path.split("/"))
        with scanning(scanner, [(one.path, one.file) for one in ordered]) as scan:
            while desired := [one for one in ordered if one.path not in contents and self._is_needed(one, changed)]:
                for source in desired:
                    contents[source.path] = scan(source.path, source.file)
                    advanced("reading", source.file.stat().st_size, "files")
                    self._found[source.path] = tuple({found.document.owner for found in contents[source.path]})
                    self.affected.update(self._found[source.path])
        for path in sorted(contents):
            for found in contents[path]:
                self.packages.setdefault(found.document.owner, {}).setdefault(path, []).append(found)
        return scanner.observe is not None

    def packages_of(self, path: str) -> tuple[str, ...]:
        """The packages that a file tells of."""
        return self._found[path] if path in self._found else self.known[path].packages

    def _is_needed(self, source: Source, changed: set[str]) -> bool:
        return source.path in changed or not self.affected.isdisjoint(self.known[source.path].packages)

    def _is_known(self, source: Source) -> bool:
        return source.path in self.known and self.known[source.path].identity == source.identity


class _Writer:
    """Writes records behind each other and remembers where they are."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.entries: dict[str, Entry] = {}
        self.others: tuple[str, ...] = ()

    def keep(self, older: Older, names: set[str]) -> None:
        """Use the records of packages that did not change."""
        others = older.snapshot.header.others
        is_full = len(others) >= _OTHERS
        self.others = () if is_full or not names else (*others, older.name)
        for name in names:
            entry = older.snapshot.entries[name]
            if is_full:
                self.entries[name] = self._copied(older.snapshot, name, entry)
            else:
                parts = (entry.channels, entry.bundles, entry.documents)
                moved = [part if part.snapshot != HERE else _at(part, len(others)) for part in parts]
                self.entries[name] = Entry(entry.state, *moved)

    def add(self, name: str, contents: Mapping[str, list[Found]]) -> set[str]:
        """Write the records of a package; the APIs that its bundles provide."""
        documents = self._record(self._documents(contents))
        package_documents = PackageDocuments.of(found.document for listed in contents.values() for found in listed)
        if package_documents.is_empty:
            nothing = self._record(Channels())
            self.entries[name] = Entry("foreign", nothing, nothing, documents)
            return set()
        package = parse_package(name, package_documents)
        if isinstance(package, SickPackage):
            findings = self._record(Channels(findings=package.findings))
            self.entries[name] = Entry("sick", findings, findings, documents)
            return set()
        channels = Channels(package.default_channel, package.channels, dict(package.deprecations))
        self.entries[name] = Entry(
            "healthy", self._record(channels), self._record(Bundles.of(package.bundles.values())), documents
        )
        return set(_provided(package))

    def _documents(self, contents: Mapping[str, list[Found]]) -> Documents:
        files, rows = tuple(contents), []
        for index, path in enumerate(files):
            for found in contents[path]:
                file, offset = (~index, self._write(found.text)) if found.text else (index, found.offset)
                document = found.document
                rows.append(Row(document.schema, document.name, file, offset, found.length, found.number))
        return Documents(files, tuple(rows))

    def _record(self, value: object) -> Part:
        content = encode(value)
        return Part(HERE, self._write(content), len(content), checksum(content))

    def _write(self, content: bytes | memoryview) -> int:
        offset = self.offset
        self._stream.write(content)
        self.offset += len(content)
        return offset

    def _copied(self, snapshot: Snapshot, name: str, entry: Entry) -> Entry:
        pages = snapshot.documents(name)
        rows = tuple(
            structs.replace(row, offset=self._write(pages.text(row))) if row.is_here else row
            for row in pages.documents.rows
        )
        documents = self._record(Documents(pages.documents.files, rows))
        channels, bundles = (
            Part(HERE, self._write(snapshot.raw(part)), part.length, part.checksum)
            for part in (entry.channels, entry.bundles)
        )
        return Entry(entry.state, channels, bundles, documents)


def _at(part: Part, snapshot: int) -> Part:
    return Part(snapshot, part.offset, part.length, part.checksum)


def _provided(package: Package) -> Iterator[str]:
    values = {
        id(entry.value): entry.value  # equal ones are mostly the same object
        for bundle in package.bundles.values()
        for entry in bundle.properties
        if entry.type == _GVK and isinstance(entry.value, dict)
    }
    for value in values.values():
        if key := provider_key(*(str(value.get(part) or "") for part in ("group", "version", "kind"))):
            yield key


@contextmanager
def _few_collections() -> Iterator[None]:
    """Millions of values are made here, and none of them in circles: looking for some costs a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
