from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import yaml

from shared.adapters.catalog_api.lines import Lines, lines_indexer
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.indexing import indexed, older
from shared.adapters.content.snapshot import Source, digest_of
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store
from shared.domain.catalog.documents import NotACatalog
from tests.kit.catalogs import a_bundle, a_property, one


def lines_of(folder: Path) -> Lines:
    store = Store(folder / "store")
    return Lines(snapshot_of(folder / "catalog", store), store)


def text_of(lines: Lines, **words: str) -> bytes:
    found = lines.matching(**words)
    return b"".join(found.chunks(0, found.size))


def put(folder: Path, path: str, *documents: dict[str, Any]) -> None:
    file = folder / "catalog" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump_all if path.endswith(".yaml") else lambda all_: "\n".join(map(json.dumps, all_))
    file.write_text(text(documents))


def test_v1_md_5_1_documents_come_in_the_order_of_their_files(tmp_path: Path) -> None:
    # A folder comes before one whose name goes on with a character that is less than a slash.
    cup, tea, pot, jar = (one(name, "1.0.0") for name in ("cup", "tea", "pot", "jar"))
    put(tmp_path, "a/z.json", *tea[::-1], *cup)
    put(tmp_path, "a-b/c.yaml", pot[2], *jar, *pot[:2])
    put(tmp_path, "b.json", {"schema": "other", "name": "x"}, {"schema": "other", "package": "cup", "name": "y"})
    found = [json.loads(line) for line in text_of(lines_of(tmp_path)).splitlines()]
    other = [{"schema": "other", "name": "x"}, {"schema": "other", "package": "cup", "name": "y"}]
    assert found == [*tea[::-1], *cup, pot[2], *jar, *pot[:2], *other]


def test_v1_md_5_1_documents_keep_their_place_when_another_file_changes(tmp_path: Path) -> None:
    for name in ("tea", "cup"):
        put(tmp_path, f"{name}.yaml", *one(name, "1.0.0"))
    lines_of(tmp_path)
    put(tmp_path, "tea.yaml", *one("tea", "1.0.1")[::-1])
    found = [json.loads(line) for line in text_of(lines_of(tmp_path)).splitlines()]
    assert found == [*one("cup", "1.0.0"), *one("tea", "1.0.1")[::-1]]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        pytest.param('{"b":1,"a":2}', '{"a":2,"b":1}', id="sorted"),
        pytest.param("[1.0, 1e3, 2e21, -1.5e-9]", "[1,1000,2e+21,-1.5e-9]", id="numbers"),
        pytest.param("12345678901234567890123", "1.2345678901234568e+22", id="a number of more than 64 bits"),
        pytest.param('"<a> & \u2028"', '"<a> & \\u2028"', id="nothing is escaped for HTML, ends of lines are"),
        pytest.param("[" * 300 + "]" * 300, "[" * 300 + "]" * 300, id="deep"),
    ],
)
def test_v1_md_5_1_a_line_is_as_go_writes_it(tmp_path: Path, value: str, line: str) -> None:
    bundle = json.dumps(a_bundle("1.0.0", a_property("x", "?"))).replace('"?"', value)
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "c.json").write_text(bundle)
    assert f'{{"type":"x","value":{line}}}'.encode() in text_of(lines_of(tmp_path))


def test_v1_md_5_1_whoever_reads_keeps_what_was_begun(tmp_path: Path) -> None:
    put(tmp_path, "c.json", *one("tea", "1.0.0"))
    lines = lines_of(tmp_path)
    everything = text_of(lines)
    for file in (tmp_path / "store").iterdir():
        file.unlink()
    assert text_of(lines) == everything
    assert text_of(lines, schema="olm.bundle", package="tea") == everything.splitlines(keepends=True)[2]


@pytest.mark.parametrize("damage", [b"", b"x", bytes(8), b"\xff" * 8], ids=["empty", "short", "zeros", "ones"])
def test_a_file_that_the_disk_lost_is_made_again(tmp_path: Path, damage: bytes) -> None:
    put(tmp_path, "c.json", *one("tea", "1.0.0"))
    everything = text_of(lines_of(tmp_path))
    [file] = (tmp_path / "store").glob("lines*")
    file.write_bytes(damage)
    assert text_of(lines_of(tmp_path)) == everything


def test_a_store_without_room_keeps_nothing_packed(tmp_path: Path) -> None:
    put(tmp_path, "c.json", *one("tea", "1.0.0"))
    store = Store(tmp_path / "store")
    lines = Lines(snapshot_of(tmp_path / "catalog", store), store)
    everything = text_of(lines)
    store.limit_bytes = 0
    assert lines.packed("gzip") is None
    assert text_of(lines) == everything


def indexed_with_lines(folder: Path, store: Store, name: str = "catalog5-x") -> Lines:
    """The catalog, indexed as one of an image is, with its lines beside."""
    root = folder / "catalog"
    sources = [Source(str(file.relative_to(root)), file, digest_of(file)) for file in root.rglob("*.*")]
    for source in sources:
        store.fill(f"file-{source.identity}", lambda stream, file=source.file: stream.write(file.read_bytes()))  # type: ignore[misc]  # why: bound now
    indexer = lines_indexer(store)

    def fill(stream: BinaryIO) -> None:
        last = older(store, "catalog")
        indexer(name, lambda observe: write(stream, sources, older=last, observe=observe))

    return Lines(indexed(store, name, fill), store)


def lines_in(store: Store) -> list[str]:
    return [one.name for one in store.folder.glob("lines*")]


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_v1_md_5_1_lines_made_with_the_index_are_those_made_of_it(tmp_path: Path, kind: str) -> None:
    put(tmp_path, "a/z.json", *one("tea", "1.0.0")[::-1], {"schema": "other", "package": "cup", "x": 1.50})
    put(tmp_path, f"a-b/c.{kind}", *one("jar", "1.0.0"), {"schema": "olm.package", "name": "x", "package": "jar"})
    store = Store(tmp_path / "beside")
    lines = indexed_with_lines(tmp_path, store)
    assert bool(lines_in(store)) == (kind == "json"), "where files are not JSON they are made later"
    desired = lines_of(tmp_path)
    for words in ({}, {"package": "jar"}, {"schema": "olm.package"}, {"name": "x"}):
        assert text_of(lines, **words) == text_of(desired, **words)


def test_v1_md_5_1_lines_are_made_of_the_index_where_only_a_part_is_read(tmp_path: Path) -> None:
    for name in ("tea", "cup"):
        put(tmp_path, f"{name}.json", *one(name, "1.0.0"))
    store = Store(tmp_path / "beside")
    indexed_with_lines(tmp_path, store)
    put(tmp_path, "tea.json", *one("tea", "1.0.1"))
    lines = indexed_with_lines(tmp_path, store, "catalog5-y")
    assert lines_in(store) == ["lines2-catalog5-x"]
    assert text_of(lines) == text_of(lines_of(tmp_path))


def test_an_index_is_made_again_where_its_lines_are_here(tmp_path: Path) -> None:
    put(tmp_path, "c.json", *one("tea", "1.0.0"))
    store = Store(tmp_path / "beside")
    everything = text_of(indexed_with_lines(tmp_path, store))
    store.drop("catalog5-x")
    assert text_of(indexed_with_lines(tmp_path, store)) == everything


def test_a_refused_catalog_leaves_no_lines(tmp_path: Path) -> None:
    put(tmp_path, "c.json", *one("tea", "1.0.0"), {"name": "without a schema"})
    store = Store(tmp_path / "beside")
    with pytest.raises(NotACatalog, match=r"c\.json, document 4.*schema"):
        indexed_with_lines(tmp_path, store)
    assert lines_in(store) == []
