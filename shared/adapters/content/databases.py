"""Reads a catalog in the form of a SQLite database, which `opm` made before catalogs were files (read only).

The database is somebody's file: only plain tables are read, in bounded time, and nothing that its schema could run.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.catalog.documents import NotACatalog
from shared.domain.serving.from_registry_api import BadResponse, documents

_SECONDS: Final = 120.0
_STEPS: Final = 1000
"""Instructions of the database between two looks at the clock."""
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: 64 * 1024 * 1024, sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1024 * 1024,
    sqlite3.SQLITE_LIMIT_COLUMN: 100, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100, sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}  # fmt: skip
"""The first one is the size of a value or row in bytes."""
_TIMES: Final = 2
"""How many bytes may be read, in sizes of the file: pages that many rows share would hold more than any disk."""
_SPACE: Final = re.compile(r"\s*")
_NEEDED: Final = ("package", "channel_entry", "operatorbundle")
Row: TypeAlias = Mapping[str, str]


def documents_of(path: Path, *, clock: Callable[[], float] = time.monotonic) -> list[Manifest]:
    """The documents of the catalog in a database. NotACatalog when it holds none."""
    ends = clock() + _SECONDS
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.set_progress_handler(lambda: clock() > ends, _STEPS)
            tables = _Tables(database, _TIMES * path.stat().st_size, lambda: clock() > ends)
            return list(_documents(tables))
    except (sqlite3.Error, BadResponse) as error:
        raise NotACatalog(f"the database cannot be read: {error}") from error
    except KeyError as error:
        raise NotACatalog(f"a table of the database has no column {error}") from error


class _Tables:
    """The plain tables of a database, as rows of text."""

    def __init__(self, database: sqlite3.Connection, left: int, is_over: Callable[[], bool]) -> None:
        """`left` is how many bytes may be read."""
        self._database, self._left, self._is_over = database, left, is_over
        database.text_factory = bytes
        for limit, value in _LIMITS.items():
            database.setlimit(limit, value)
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
            database.execute(f"PRAGMA {setting}")
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        self._names = frozenset(_text(row[0]) for row in found)
        if missing := [name for name in _NEEDED if name not in self._names]:
            raise NotACatalog(f"the database has no table {', '.join(missing)}")

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table that is named here, by column; none when it is absent."""
        if table not in self._names:
            return
        columns = ["rowid", *self._columns(table)]
        for row in self._database.execute(f'SELECT {", ".join(columns)} FROM "{table}" NOT INDEXED ORDER BY rowid'):  # noqa: S608  # why: our own names
            self._left -= sum(len(value) for value in row if isinstance(value, bytes))
            if self._left < 0:
                raise NotACatalog("more is read from the database than its file holds")
            self.check()
            yield {column: _text(value) for column, value in zip(columns, row, strict=True)}

    def check(self) -> None:
        """NotACatalog when it takes too long."""
        if self._is_over():
            raise NotACatalog(f"the database was not read within {_SECONDS:.0f} s")

    def _columns(self, table: str) -> list[str]:
        """The columns of a table that are read here and stored: a generated one computes whatever its maker likes."""
        found = self._database.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", (table,))
        return sorted(_COLUMNS.intersection(_text(row[0]) for row in found))


_COLUMNS: Final = frozenset((
    "bundle", "bundlepath", "channel_entry_id", "channel_name", "csv", "default_channel", "entry_id", "group_name",
    "kind", "name", "operatorbundle_name", "package_name", "replaces", "skiprange", "skips", "type", "value", "version",
))  # fmt: skip


def _documents(tables: _Tables) -> Iterator[Manifest]:
    packages = [
        {"name": row["name"], "defaultChannelName": row.get("default_channel", "")} for row in tables.rows("package")
    ]
    entries = list(tables.rows("channel_entry"))
    named = {row.get("entry_id") or row["rowid"]: row["operatorbundle_name"] for row in entries}
    facts = {table: _grouped(tables, table, named) for table in ("properties", "dependencies", *_APIS)}
    bundles = {row["name"]: _bundle(row, facts, tables.check) for row in tables.rows("operatorbundle")}
    edges: dict[tuple[str, str, str], list[str]] = {}
    for row in entries:
        key = row["package_name"], row["channel_name"], row["operatorbundle_name"]
        replaced = named.get(row.get("replaces", ""), "")
        edges.setdefault(key, []).extend([replaced] if replaced else [])
    listed = [
        {**_edges(bundles[name], replaced), "packageName": package, "channelName": channel, "csvName": name}
        for (package, channel, name), replaced in edges.items()
        if name in bundles
    ]
    yield from documents(packages, listed)


_APIS: Final = {"api_provider": "providedApis", "api_requirer": "requiredApis"}


def _grouped(tables: _Tables, table: str, named: Row) -> Mapping[str, list[Row]]:
    """The rows of a table by bundle; the first databases named an entry of a channel instead of it."""
    found: dict[str, list[Row]] = {}
    for row in tables.rows(table):
        bundle = row.get("operatorbundle_name") or named.get(row.get("channel_entry_id", ""), "")
        found.setdefault(bundle, []).append(row)
    return found


def _bundle(row: Row, facts: Mapping[str, Mapping[str, list[Row]]], check: Callable[[], None]) -> dict[str, Any]:
    """A bundle as the registry API tells of it."""
    name, path = row["name"], row.get("bundlepath", "")
    apis = {
        field: [_api(one) for one in facts[table].get(name, ())] for table, field in _APIS.items()
    }  # fmt: skip
    values = {
        table: [{"type": one["type"], "value": one["value"]} for one in facts[table].get(name, ())]
        for table in ("properties", "dependencies")
    }
    return {
        **apis, **values, "bundlePath": path, "version": row.get("version", ""),
        "skipRange": row.get("skiprange", ""), "object": [] if path else list(_objects(row, check)),
        "replaces": row.get("replaces"), "skips": row.get("skips"),
    }  # fmt: skip


def _edges(bundle: dict[str, Any], replaced: list[str]) -> dict[str, Any]:
    """The bundle with what it replaces and skips; the first databases say it by entries of channels only."""
    if bundle["replaces"] is None:
        return {**bundle, "replaces": next(iter(replaced), ""), "skips": list(dict.fromkeys(replaced[1:]))}
    skips = [one for one in (bundle["skips"] or "").split(",") if one]
    return {**bundle, "skips": skips}


def _api(row: Row) -> Manifest:
    return {"group": row["group_name"], "version": row["version"], "kind": row["kind"]}


def _objects(row: Row, check: Callable[[], None]) -> Iterator[str]:
    """The manifests of a bundle that has no image: JSON values, one after the other."""
    text = (row.get("bundle") or row.get("csv") or "").strip()
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        check()
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            raise BadResponse(f"bundle {row['name']}: its manifests cannot be read: {error}") from error
        yield text[position:end]
        position = _SPACE.match(text, end).end()  # type: ignore[union-attr]  # why: nothing is space, too


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
