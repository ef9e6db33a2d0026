"""Reads a catalog in the form of a SQLite database, which `opm` made before catalogs were files (read only).

The database is somebody's file: only plain tables are read, in bounded time, and nothing that its schema could run.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.catalog.documents import NotACatalog
from shared.domain.serving.from_registry_api import BadAnswer, documents

_SECONDS: Final = 120.0
_STEPS: Final = 100_000
"""Instructions of the database between two looks at the clock."""
_VALUE_BYTES: Final = 64 * 1024 * 1024
_NEEDED: Final = ("package", "channel_entry", "operatorbundle")
Row: TypeAlias = Mapping[str, str]


def documents_of(path: Path, *, clock: Callable[[], float] = time.monotonic) -> list[Manifest]:
    """The documents of the catalog in a database. NotACatalog when it holds none."""
    ends = clock() + _SECONDS
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.set_progress_handler(lambda: clock() > ends, _STEPS)
            return list(_documents(_Tables(database)))
    except (sqlite3.Error, BadAnswer) as error:
        raise NotACatalog(f"the database cannot be read: {error}") from error
    except KeyError as error:
        raise NotACatalog(f"a table of the database has no column {error}") from error


class _Tables:
    """The plain tables of a database, as rows of text."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.text_factory = lambda content: content.decode("utf-8", "replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES)
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
            database.execute(f"PRAGMA {setting}")
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        self._names = frozenset(str(row[0]) for row in found)
        if missing := [name for name in _NEEDED if name not in self._names]:
            raise NotACatalog(f"the database has no table {', '.join(missing)}")

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table that is named here, by column; none when it is absent."""
        if table in self._names:
            cursor = self._database.execute(f'SELECT rowid AS "row id", * FROM "{table}" ORDER BY rowid')  # noqa: S608  # why: our own names
            columns = [one[0] for one in cursor.description]
            for row in cursor:
                yield {column: _text(value) for column, value in zip(columns, row, strict=True)}


def _documents(tables: _Tables) -> Iterator[Manifest]:
    packages = [
        {"name": row["name"], "defaultChannelName": row.get("default_channel", "")} for row in tables.rows("package")
    ]
    entries = list(tables.rows("channel_entry"))
    named = {row.get("entry_id") or row["row id"]: row["operatorbundle_name"] for row in entries}
    facts = {table: _grouped(tables, table, named) for table in ("properties", "dependencies", *_APIS)}
    bundles = {row["name"]: _bundle(row, facts) for row in tables.rows("operatorbundle")}
    places: dict[tuple[str, str, str], list[str]] = {}
    for row in entries:
        place = row["package_name"], row["channel_name"], row["operatorbundle_name"]
        replaced = named.get(row.get("replaces", ""), "")
        places.setdefault(place, []).extend([replaced] if replaced else [])
    listed = [
        {**_edges(bundles[name], replaced), "packageName": package, "channelName": channel, "csvName": name}
        for (package, channel, name), replaced in places.items()
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


def _bundle(row: Row, facts: Mapping[str, Mapping[str, list[Row]]]) -> dict[str, Any]:
    """A bundle as the registry API tells of it."""
    name, path = row["name"], row.get("bundlepath", "")
    apis = {
        field: [_api(one) for one in facts[table].get(name, ())] for table, field in _APIS.items()
    }  # fmt: skip
    stated = {
        table: [{"type": one["type"], "value": one["value"]} for one in facts[table].get(name, ())]
        for table in ("properties", "dependencies")
    }
    return {
        **apis, **stated, "bundlePath": path, "version": row.get("version", ""),
        "skipRange": row.get("skiprange", ""), "object": [] if path else list(_objects(row)),
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


def _objects(row: Row) -> Iterator[str]:
    """The manifests of a bundle that has no image: JSON values, one after the other."""
    text = (row.get("bundle") or row.get("csv") or "").strip()
    decoder = json.JSONDecoder()
    while text:
        try:
            _, end = decoder.raw_decode(text)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(f"bundle {row['name']}: its manifests cannot be read: {error}") from error
        yield text[:end]
        text = text[end:].lstrip()


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
