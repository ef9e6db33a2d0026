from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.snapshot import BrokenSnapshot, Channels, Older, Snapshot, Source
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.catalog.parse import SickPackage

GVK = {"group": "tea.io", "version": "v1", "kind": "Pot"}


def a_package(name: str, *versions: str, **more: Any) -> list[dict[str, Any]]:
    entries = [{"name": f"{name}.v{version}"} for version in versions or ("1.0.0",)]
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": "stable", **more},
        {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries},
        *(a_bundle(name, version) for version in versions or ("1.0.0",)),
    ]


def a_bundle(package: str, version: str) -> dict[str, Any]:
    return {
        "schema": "olm.bundle",
        "package": package,
        "name": f"{package}.v{version}",
        "image": f"quay.io/{package}:{version}",
        "properties": [
            {"type": "olm.package", "value": {"packageName": package, "version": version}},
            {"type": "olm.gvk", "value": GVK},
            {"type": "olm.csv.metadata", "value": {"displayName": package.title()}},
        ],
    }


def lines(documents: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def pretty(documents: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(document, indent=4) for document in documents).encode()


def of(content: bytes, tmp_path: Path) -> Snapshot:
    (tmp_path / "catalog").mkdir(exist_ok=True)
    (tmp_path / "catalog" / "c").write_bytes(content)
    return snapshot_of(tmp_path / "catalog", Store(tmp_path / "store"))


TEA = Package(
    "tea",
    "stable",
    (Channel("stable", (Entry("tea.v1.0.0"),)),),
    {
        "tea.v1.0.0": Bundle(
            "tea.v1.0.0",
            "1.0.0",
            "quay.io/tea:1.0.0",
            (Property("olm.package", {"packageName": "tea", "version": "1.0.0"}), Property("olm.gvk", GVK)),
        )
    },
)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines(a_package("tea")), id="a document per line"),
        pytest.param(pretty(a_package("tea")), id="documents over many lines"),
        pytest.param(b"".join(json.dumps(one).encode() for one in a_package("tea")), id="documents without a line end"),
        pytest.param(b"\n---\n".join(json.dumps(one).encode() for one in a_package("tea")), id="YAML"),
        pytest.param(
            lines(a_package("tea")[:1]) + pretty(a_package("tea")[1:2]) + b"\n\n  " + lines(a_package("tea")[2:]),
            id="documents that all begin differently",
        ),
        pytest.param(lines([{"Schema": "x.y", "odd": 1}, *a_package("tea")]), id="beside a document of another schema"),
        pytest.param(lines(a_package("tea")).replace(b'"defaultChannel"', b'"DEFAULTchannel"'), id="any case"),
        pytest.param(lines(a_package("tea")).replace(b'"entries": [{"name"', b'"entries": [{"NAME"'), id="nested case"),
    ],
)
def test_a_package_is_the_same_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    snapshot = of(content, tmp_path)
    assert snapshot.names == ("tea",)
    assert snapshot.package("tea") == TEA
    assert snapshot.channels("tea") == Channels("stable", TEA.channels, {})
    (row,) = snapshot.documents("tea").rows("olm.bundle", "tea.v1.0.0")
    assert snapshot.documents("tea").value(row) == a_bundle("tea", "1.0.0")


def test_what_versions_state_alike_is_one_object(tmp_path: Path) -> None:
    first, second = of(lines(a_package("tea", "1.0.0", "1.1.0")), tmp_path).bundles("tea").values()
    assert [one.type for one in first.properties] == ["olm.package", "olm.gvk"]
    assert [one is other for one, other in zip(first.properties, second.properties, strict=True)] == [False, True]


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    snapshot = of(lines(a_package("tea")), tmp_path)
    assert snapshot.package("cup") is None
    assert snapshot.bundles("cup") == {}
    assert list(snapshot.documents("cup").rows()) == []
    assert snapshot.providers_of("tea.io", "v1", "Cup") == ()


def test_what_no_api_can_be_called_is_not_taken_for_another(tmp_path: Path) -> None:
    """`a/b` + `c` reads as `a` + `b/c`."""
    odd = [{"group": "tea.io", "version": "v1/x", "kind": "Cup"}, {"group": "tea.io", "version": "v1", "kind": "x/Cup"}]
    package = a_package("tea")
    package[-1]["properties"] += [{"type": "olm.gvk", "value": one} for one in odd]
    snapshot = of(lines(package), tmp_path)
    assert not snapshot.providers_of("tea.io/v1", "x", "Cup")
    assert not snapshot.providers_of("tea.io", "v1/x", "Cup")
    assert not [key for key in snapshot.providers if "x" in key]


def test_the_packages_that_provide_an_api(tmp_path: Path) -> None:
    snapshot = of(lines([*a_package("tea"), *a_package("pot")]), tmp_path)
    assert snapshot.providers_of("tea.io", "v1", "Pot") == ("pot", "tea")


def test_a_digest_differs_where_a_package_does(tmp_path: Path) -> None:
    pot = a_package("pot", "1.0.0")
    before = of(lines([*a_package("tea"), *pot]), tmp_path)
    after = of(lines([*a_package("tea", "1.0.0", "2.0.0"), *pot, *a_package("cup")[1:]]), tmp_path)
    tea = before.package("tea")
    assert isinstance(tea, Package)
    assert before.digest("tea") == tea.digest != after.digest("tea")
    assert before.digest("pot") == after.digest("pot") != before.digest("tea")
    assert (before.digest("cup"), bool(after.digest("cup"))) == ("", True), "one that cannot be read is not absent"


def test_a_digest_differs_where_only_a_deprecation_or_a_property_does(tmp_path: Path) -> None:
    plain = a_package("tea")
    message = {"reference": {"schema": "olm.package"}, "message": "old"}
    deprecated = [*plain, {"schema": "olm.deprecations", "package": "tea", "entries": [message]}]
    labelled = [*plain[:-1], {**plain[-1], "properties": [*plain[-1]["properties"], {"type": "x", "value": 1}]}]
    found = {of(lines(documents), tmp_path).digest("tea") for documents in (plain, deprecated, labelled)}
    assert len(found) == 3


def test_a_sick_package_leaves_its_siblings_alone(tmp_path: Path) -> None:
    snapshot = of(lines([*a_package("tea"), *a_package("pot")[1:]]), tmp_path)
    assert snapshot.package("tea") == TEA
    sick = snapshot.package("pot")
    assert isinstance(sick, SickPackage)
    assert "unknown package 'pot'" in sick.findings[0]
    assert snapshot.bundles("pot") == {}
    assert snapshot.providers_of("tea.io", "v1", "Pot") == ("tea",)


def test_documents_of_other_schemas_make_no_package_and_are_kept(tmp_path: Path) -> None:
    snapshot = of(lines([{"schema": "my.note", "package": "cup", "text": "x"}, {"schema": "my.note"}]), tmp_path)
    assert snapshot.names == ()
    assert snapshot.package("cup") is None
    assert [snapshot.documents("cup").value(row)["text"] for row in snapshot.documents("cup").rows("my.note")] == ["x"]
    assert len(list(snapshot.documents("").rows())) == 1


def test_an_empty_folder_is_a_catalog_without_packages(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    assert snapshot_of(tmp_path / "catalog", Store(tmp_path / "store")).names == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b'{"schema": 1}', "c, document 1, line 1: expected value for key", id="a schema that is no text"),
        pytest.param(
            lines(a_package("tea")) + b'{"name": "x"}', "c, document 4, line 4: missing root schema", id="no schema"
        ),
        pytest.param(b"schema: a\n---\nb: c\n", "c, document 2, line 3: missing root schema", id="no schema in YAML"),
        pytest.param(b"null", "c, document 1, line 1: it is empty", id="nothing"),
        pytest.param(b"[1]", "json: cannot unmarshal array into", id="a list"),
        pytest.param(b'{"schema": "a"', "c, document 1, line 1: ", id="cut off"),
        pytest.param(
            b'{"schema": "b"}\n{"schema": "a",\n "Name": "x", "name": "y"}', "c, document 2, line 2: duplicate keys",
            id="one key twice",
        ),
    ],
)  # fmt: skip
def test_what_is_no_catalog_is_refused_with_its_place(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(NotACatalog) as caught:
        of(content, tmp_path)
    assert words in str(caught.value)


def test_a_document_larger_than_what_is_read_at_once(tmp_path: Path) -> None:
    long = a_package("tea", description="x" * 1_700_000)
    snapshot = of(pretty([*a_package("cup"), *long, *a_package("pot")]), tmp_path)
    assert snapshot.names == ("cup", "pot", "tea")
    (row,) = snapshot.documents("tea").rows("olm.package")
    assert snapshot.documents("tea").value(row)["description"] == "x" * 1_700_000


class Editions:
    """A catalog of three packages in three files, kept by digest as images are; its files can change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources: dict[str, Source] = {}
        for name in ("cup", "pot", "tea"):
            self.put(name, lines(a_package(name)))

    def put(self, path: str, content: bytes) -> None:
        identity = f"sha256:{hashlib.sha256(content).hexdigest()}"
        (self.folder / f"file-{identity}").write_bytes(content)
        self.sources[path] = Source(path, self.folder / f"file-{identity}", identity)

    def snapshot(self, name: str, older: Older | None = None) -> Older:
        stream = io.BytesIO()
        write(stream, [self.sources[key] for key in sorted(self.sources)], older=older)
        (self.folder / f"s-{name}").write_bytes(stream.getvalue())
        return Older(f"s-{name}", Snapshot.open(self.folder / f"s-{name}", lambda other: self.folder / other))


def same(one: Snapshot, other: Snapshot) -> bool:
    assert one.names == other.names
    assert one.providers == other.providers
    assert one.files == other.files
    assert [one.package(name) for name in one.names] == [other.package(name) for name in other.names]
    assert [one.digest(name) for name in one.names] == [other.digest(name) for name in other.names]
    for name in one.entries:
        texts = [[pages.text(row) for row in pages.rows()] for pages in (one.documents(name), other.documents(name))]
        assert texts[0] == texts[1]
    return True


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    catalog = Editions(tmp_path)
    first = catalog.snapshot("1")
    catalog.put("tea", lines(a_package("tea", "1.0.0", "2.0.0")))
    catalog.sources["cup"].file.write_bytes(b"not read, for it did not change")
    second = catalog.snapshot("2", first).snapshot
    assert set(second.bundles("tea")) == {"tea.v1.0.0", "tea.v2.0.0"}
    assert second.package("cup") == first.snapshot.package("cup")
    assert second.header.others == ("s-1",)


def test_a_renewed_snapshot_equals_a_new_one_after_any_number_of_changes(tmp_path: Path) -> None:
    catalog = Editions(tmp_path)
    latest = catalog.snapshot("0")
    for number in range(1, 21):
        match number % 4:
            case 0:
                catalog.put("mug", lines(a_package("mug", f"{number}.0.0")))
            case 1:
                catalog.put("pot", lines(a_package("pot", f"{number}.0.0")))
            case 2:
                catalog.sources.pop("mug", None)
            case 3:
                documents = a_package("pot", "3.0.0", description=str(number))
                catalog.put("pot", b"\n---\n".join(json.dumps(one).encode() for one in documents))
        latest = catalog.snapshot(str(number), latest)
        assert same(latest.snapshot, catalog.snapshot("whole").snapshot)
        assert len(latest.snapshot.header.others) <= 8


def test_files_that_tell_of_the_same_package_are_read_together(tmp_path: Path) -> None:
    catalog = Editions(tmp_path)
    catalog.put("more", lines([a_bundle("tea", "0.9.0")]))
    first = catalog.snapshot("1")
    catalog.put("more", lines([a_bundle("tea", "0.8.0")]))
    assert same(catalog.snapshot("2", first).snapshot, catalog.snapshot("whole").snapshot)
    del catalog.sources["more"]
    assert same(catalog.snapshot("3", first).snapshot, catalog.snapshot("whole").snapshot)


def test_a_snapshot_of_another_folder_is_of_no_use(tmp_path: Path) -> None:
    catalog = Editions(tmp_path)
    first = catalog.snapshot("1")
    stream = io.BytesIO()
    write(stream, [catalog.sources["tea"]], folder="/elsewhere", older=first)
    (tmp_path / "s-2").write_bytes(stream.getvalue())
    second = Snapshot.open(tmp_path / "s-2", lambda other: tmp_path / other)
    assert second.names == ("tea",)
    assert second.header.others == ()


@pytest.mark.parametrize("cut", [0, 1, 30, 200])
def test_a_snapshot_that_is_not_whole_is_noticed(tmp_path: Path, cut: int) -> None:
    catalog = Editions(tmp_path)
    catalog.snapshot("1")
    content = (tmp_path / "s-1").read_bytes()
    (tmp_path / "cut").write_bytes(content[:-cut] if cut else b"")
    with pytest.raises(BrokenSnapshot):
        Snapshot.open(tmp_path / "cut", lambda other: tmp_path / other)


def test_a_damaged_record_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    catalog = Editions(tmp_path)
    catalog.snapshot("1")
    content = (tmp_path / "s-1").read_bytes()
    (tmp_path / "bad").write_bytes(content.replace(b"quay.io/tea", b"evil.io/tea", 1))
    snapshot = Snapshot.open(tmp_path / "bad", lambda other: tmp_path / other)
    with pytest.raises(BrokenSnapshot):
        snapshot.package("tea")


def test_a_folder_is_indexed_once_and_again_when_a_file_changes(tmp_path: Path) -> None:
    folder, store = tmp_path / "catalog", Store(tmp_path / "store")
    folder.mkdir()
    for name in ("cup", "tea"):
        (folder / name).write_bytes(lines(a_package(name)))
        os.utime(folder / name, (1, 1))
    first = snapshot_of(folder, store)
    (folder / "tea").write_bytes(lines(a_package("tea", "1.0.0", "2.0.0")))
    second = snapshot_of(folder, store)
    assert list(first.bundles("tea")) == ["tea.v1.0.0"]
    assert list(second.bundles("tea")) == ["tea.v1.0.0", "tea.v2.0.0"]
    (folder / "tea").write_bytes(lines(a_package("tea", "1.0.0", "3.0.0")))
    assert list(snapshot_of(folder, store).bundles("tea")) == ["tea.v1.0.0", "tea.v3.0.0"]


def test_a_text_of_a_file_that_changed_is_not_reported(tmp_path: Path) -> None:
    snapshot = of(lines(a_package("tea")), tmp_path)
    (tmp_path / "catalog" / "c").write_bytes(lines(a_package("tea", "9.0.0")))
    pages = snapshot.documents("tea")
    with pytest.raises(FileNotFoundError):
        pages.text(next(pages.rows("olm.bundle")))


@pytest.mark.parametrize(
    ("head", "place"),
    [
        pytest.param(b'{"schema": "a"}\n{"schema": "b", "blob": "', "c, document 2, line 2: more than", id="JSON"),
        pytest.param(b"schema: a\nblob: ", "c: more than 536870912 bytes", id="YAML"),
    ],
)
def test_issue_4_5_a_document_of_a_gigabyte_is_refused_unread(tmp_path: Path, head: bytes, place: str) -> None:
    (tmp_path / "catalog").mkdir()
    with (tmp_path / "catalog" / "c").open("wb") as stream:
        stream.write(head)
        stream.truncate(1_000_000_000)  # the rest are zeros that no disk holds
    with pytest.raises(NotACatalog, match=place):
        snapshot_of(tmp_path / "catalog", Store(tmp_path / "store"))


def test_bytes_that_are_no_text_are_read_as_go_reads_them(tmp_path: Path) -> None:
    snapshot = of(lines(a_package("tea")).replace(b'"displayName": "Tea"', b'"displayName": "T\xff"'), tmp_path)
    (row,) = snapshot.documents("tea").rows("olm.bundle")
    assert snapshot.documents("tea").value(row)["properties"][2]["value"] == {"displayName": "T\ufffd"}
