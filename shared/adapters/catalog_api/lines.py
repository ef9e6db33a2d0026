"""A whole catalog as lines of JSON, a document each, made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import orjson

from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.domain.go import json as gojson


class Lines:
    """The documents of a snapshot that is in a store."""

    def __init__(self, snapshot: Snapshot, store: Store, modified: datetime | None = None) -> None:
        """`modified` is when the content changed; without it, when it was indexed here."""
        self._snapshot = snapshot
        self._store = store
        self.tag = f'"{snapshot.name}"'
        """Changes whenever the catalog does."""
        changed = store.needed(snapshot.name).stat().st_ctime
        self.modified = modified or datetime.fromtimestamp(int(changed), UTC)
        """When it last changed, whole seconds."""

    def file(self) -> Path:
        """All documents in a file, written at the first question."""
        return self._store.fill(f"lines-{self._snapshot.name}", self._write)

    def matching(self, schema: str = "", package: str = "", name: str = "") -> Iterator[bytes]:
        """The documents with a schema, a package and a name; an empty word fits all.

        A document of a package says so in its field `package`, which an `olm.package` itself does not have.
        """
        for owner in [package] if package else sorted(self._snapshot.entries):
            pages = self._snapshot.documents(owner)
            for row in pages.rows(schema, name):
                if not (package and row.schema == "olm.package"):
                    yield _line(pages.text(row))

    def _write(self, stream: BinaryIO) -> None:
        stream.writelines(self.matching())


def _line(text: bytes) -> bytes:
    return orjson.dumps(gojson.loads(text), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
