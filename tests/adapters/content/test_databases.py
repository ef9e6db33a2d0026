"""Catalogs in SQLite databases: of several ages, and hostile ones."""

from __future__ import annotations

import base64
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.databases import documents_of
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.transport import Transport
from shared.domain.bundle.annotations import DATABASE
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.model import Package
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable
from tests.kit.image_registry import a_file, a_layer, scripted_registry

CSV = {"kind": "ClusterServiceVersion", "metadata": {"name": "tea.v1.0.0"}}
DEFINITION = {"kind": "CustomResourceDefinition"}
COMMON = """
CREATE TABLE package (name TEXT, default_channel TEXT);
CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT);
CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
  operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
INSERT INTO package VALUES ('tea', 'stable');
INSERT INTO channel VALUES ('stable', 'tea', 'tea.v1.2.0');
INSERT INTO channel_entry VALUES (1, 'stable', 'tea', 'tea.v1.2.0', 3, 0);
INSERT INTO channel_entry VALUES (2, 'stable', 'tea', 'tea.v1.2.0', 4, 0);
INSERT INTO channel_entry VALUES (3, 'stable', 'tea', 'tea.v1.0.0', NULL, 1);
INSERT INTO channel_entry VALUES (4, 'stable', 'tea', 'tea.v1.1.0', NULL, 2);
"""
LAST = COMMON + """
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT, bundle TEXT, bundlepath TEXT, skiprange TEXT,
  version TEXT, replaces TEXT, skips TEXT, substitutesfor TEXT);
CREATE TABLE properties (type TEXT, value TEXT, operatorbundle_name TEXT, operatorbundle_version TEXT,
  operatorbundle_path TEXT);
CREATE TABLE dependencies (type TEXT, value TEXT, operatorbundle_name TEXT, operatorbundle_version TEXT,
  operatorbundle_path TEXT);
CREATE TABLE api_provider (group_name TEXT, version TEXT, kind TEXT, operatorbundle_name TEXT,
  operatorbundle_version TEXT, operatorbundle_path TEXT);
INSERT INTO operatorbundle VALUES ('tea.v1.0.0', NULL, 'MANIFESTS', '', '', '1.0.0', '', '', '');
INSERT INTO operatorbundle VALUES ('tea.v1.2.0', '{}', NULL, 'quay.io/acme/tea:1.2.0', '<1.2.0', '1.2.0',
  'tea.v1.0.0', 'tea.v1.1.0', '');
INSERT INTO properties VALUES ('olm.package', '{"packageName":"tea","version":"1.2.0"}', 'tea.v1.2.0', '1.2.0', '');
INSERT INTO dependencies VALUES ('olm.package', '{"packageName":"cup","version":">1.0.0"}', 'tea.v1.2.0', '', '');
INSERT INTO api_provider VALUES ('tea.io', 'v1', 'Pot', 'tea.v1.2.0', '', '');
""".replace("MANIFESTS", f"{json.dumps(CSV)}\n{json.dumps(DEFINITION)}")  # fmt: skip
FIRST = COMMON + """
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT UNIQUE, bundle TEXT);
CREATE TABLE api_provider (group_name TEXT, version TEXT, kind TEXT, channel_entry_id INTEGER);
INSERT INTO operatorbundle VALUES ('tea.v1.0.0', 'MANIFESTS', NULL);
INSERT INTO operatorbundle VALUES ('tea.v1.2.0', x'7b7d', NULL);
INSERT INTO api_provider VALUES ('tea.io', 'v1', 'Pot', 1);
""".replace("MANIFESTS", json.dumps(CSV))  # fmt: skip


def a_database(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    return path


def by_name(path: Path) -> dict[tuple[str, str], Any]:
    return {(one["schema"], one["name"]): one for one in documents_of(path)}


def inlined(bundle: Any) -> list[Any]:
    found = [one["value"]["data"] for one in bundle["properties"] if one["type"] == "olm.bundle.object"]
    return [json.loads(base64.b64decode(data)) for data in found]


def test_catalog_md_2_4_a_database_is_a_catalog(tmp_path: Path) -> None:
    found = by_name(a_database(tmp_path / "index.db", LAST))
    assert found["olm.package", "tea"]["defaultChannel"] == "stable"
    assert found["olm.channel", "stable"]["entries"] == [
        {"name": "tea.v1.2.0", "replaces": "tea.v1.0.0", "skips": ["tea.v1.1.0"], "skipRange": "<1.2.0"},
        {"name": "tea.v1.0.0"},
    ]
    newest = found["olm.bundle", "tea.v1.2.0"]
    assert newest["image"] == "quay.io/acme/tea:1.2.0"
    assert [one["type"] for one in newest["properties"]] == ["olm.package", "olm.gvk", "olm.package.required"]
    assert inlined(found["olm.bundle", "tea.v1.0.0"]) == [CSV, DEFINITION]


def test_the_first_databases_say_less(tmp_path: Path) -> None:
    found = by_name(a_database(tmp_path / "index.db", FIRST))
    assert found["olm.channel", "stable"]["entries"] == [
        {"name": "tea.v1.2.0", "replaces": "tea.v1.0.0", "skips": ["tea.v1.1.0"]},
        {"name": "tea.v1.0.0"},
    ]
    assert {"type": "olm.gvk", "value": {"group": "tea.io", "version": "v1", "kind": "Pot"}} in (
        found["olm.bundle", "tea.v1.2.0"]["properties"]
    )
    assert inlined(found["olm.bundle", "tea.v1.0.0"]) == [CSV]


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS name FROM n"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param(
            "CREATE TABLE package (name TEXT)", "has no table channel_entry, operatorbundle", id="another one"
        ),
        pytest.param(
            f"{LAST}; DROP TABLE package; CREATE VIEW package AS {ENDLESS}", "no table package", id="an endless view"
        ),
        pytest.param(f"{LAST}; ALTER TABLE package DROP COLUMN name", "has no column 'name'", id="half a table"),
        pytest.param(f"{LAST}; UPDATE operatorbundle SET bundle = '{{'", "manifests cannot be read", id="no JSON"),
        pytest.param(f"{LAST}; UPDATE operatorbundle SET bundle = '{'[' * 9999}'", "cannot be read", id="deep JSON"),
        pytest.param(f"{LAST}; UPDATE properties SET value = 'x'", "a property cannot be read", id="no property"),
    ],
)
def test_what_is_no_catalog_is_reported(tmp_path: Path, script: str, words: str) -> None:
    with pytest.raises(NotACatalog, match=words):
        documents_of(a_database(tmp_path / "index.db", script))


def test_a_database_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
    script = f"{LAST}; {many} INSERT INTO package SELECT 'p' || i, '' FROM n"
    hours: Iterator[int] = count(0, 3600)
    with pytest.raises(NotACatalog, match=r"was not read within 120 s|interrupted"):
        documents_of(a_database(tmp_path / "index.db", script), clock=lambda: next(hours))


def test_many_small_manifests_are_read_in_one_pass_and_by_the_clock(tmp_path: Path) -> None:
    path = a_database(tmp_path / "index.db", f"{LAST}; UPDATE operatorbundle SET bundle = '{'1 ' * 400_000}'")
    begun = time.process_time()
    documents_of(path)
    assert time.process_time() - begun < 8
    seconds: Iterator[float] = count(0, 0.01)
    with pytest.raises(NotACatalog, match="was not read within 120 s"):
        documents_of(path, clock=lambda: next(seconds))


def test_what_its_maker_wants_computed_is_not_read(tmp_path: Path) -> None:
    made = "CREATE TABLE package (name TEXT, default_channel TEXT GENERATED ALWAYS AS (1 / 0) VIRTUAL)"
    computed = "TEXT GENERATED ALWAYS AS (printf('%.*c', 60000000, 'x')) VIRTUAL"
    columns = "; ".join(f"ALTER TABLE package ADD COLUMN c{n} {computed}" for n in range(40))
    # The row is there before the columns: SQLite computes all of a row that it stores, which takes 15 s.
    script = f"{LAST}; DROP TABLE package; {made}; INSERT INTO package (name) VALUES ('tea'); {columns}"
    found = by_name(a_database(tmp_path / "index.db", script))
    assert found["olm.package", "tea"]["defaultChannel"] == ""


def test_pages_that_many_rows_share_are_not_read_for_ever(tmp_path: Path) -> None:
    # Of rows of this size only a little stands in the page of the table, so that it has room for all of them.
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7)"
    script = f"{LAST}; DELETE FROM package; {many} INSERT INTO package SELECT i || hex(zeroblob(102542)), '' FROM n"
    path = a_database(tmp_path / "index.db", script)
    with closing(sqlite3.connect(path)) as database:
        [(root,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'package'")
    content = bytearray(path.read_bytes())
    cells = [int.from_bytes(content[at : at + 2]) for at in range((root - 1) * 4096 + 8, (root - 1) * 4096 + 22, 2)]
    # The number of the first page that holds the rest of a row stands at the end of its cell.
    ends = sorted((root - 1) * 4096 + end for end in (4096, *cells))[1:]
    first, second = sorted(int.from_bytes(content[end - 4 : end]) for end in ends)[:2]
    for end in ends:
        content[end - 4 : end] = first.to_bytes(4)
    content[28:32] = (second - 1).to_bytes(4)
    path.write_bytes(content[: (second - 1) * 4096])
    with pytest.raises(NotACatalog, match="more is read from the database than its file holds"):
        documents_of(path)


def test_an_image_with_a_database_that_cannot_be_kept_is_reported(tmp_path: Path) -> None:
    deep = "[" * 300 + "]" * 300
    content = a_database(tmp_path / "index.db", f"{LAST}; UPDATE properties SET value = '{deep}'").read_bytes()
    with scripted_registry() as registry:
        registry.put("cat", "latest", [a_layer(a_file("database/index.db", content))], {DATABASE: "/database/index.db"})
        port = ImageCatalogs(Store(tmp_path / "store"), Puller(lambda *_: None, Transport(attempts=1)))
        pulled = port.pull(ImageSource(f"{registry.address}/cat:latest", "olm"))
    assert isinstance(pulled, Unavailable)
    assert "database/index.db: olm.bundle tea.v" in pulled.message
    assert "cannot be kept: recursion limit reached" in pulled.message


def test_an_image_with_a_database_is_pulled(tmp_path: Path) -> None:
    content = a_database(tmp_path / "index.db", LAST).read_bytes()
    with scripted_registry() as registry:
        registry.put("cat", "latest", [a_layer(a_file("database/index.db", content))], {DATABASE: "/database/index.db"})
        port = ImageCatalogs(Store(tmp_path / "store"), Puller(lambda *_: None, Transport(attempts=1)))
        source = ImageSource(f"{registry.address}/cat:latest", "olm")
        pulled = port.pull(source)
        assert isinstance(pulled, Pulled)
        assert pulled.packages == 1
        assert isinstance(port.package(pulled.reference, "tea", source), Package)
