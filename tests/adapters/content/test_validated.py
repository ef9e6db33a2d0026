from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.store import Store
from shared.adapters.content.validated import Listing, config_of, is_valid, remember
from shared.adapters.image_writer import write_image
from shared.adapters.images import OciError
from shared.adapters.paths import NoSuchPath
from shared.domain.authoring import listing
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.catalog.config import read_config
from tests.kit.catalogs import a_bundle, one, tea, written


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return snapshot_of(written(tmp_path / "catalog", *tea()), Store(tmp_path / "store"))


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("packages", listing.packages), ("channels", listing.channels), ("bundles", listing.bundles)],
)
def test_a_list_from_a_snapshot_is_that_of_the_catalog(snapshot: Snapshot, tmp_path: Path, kind: Listing, rows) -> None:  # type: ignore[no-untyped-def]  # why: three functions
    content = (tmp_path / "catalog" / "catalog.json").read_bytes()
    assert rows(config_of(snapshot, kind)) == rows(read_config([("catalog.json", content)]))


def test_a_catalog_is_valid_in_the_state_in_which_it_was_judged(snapshot: Snapshot, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert not is_valid(snapshot, store)
    remember(snapshot, store)
    assert is_valid(snapshot, store)
    changed = snapshot_of(written(tmp_path / "catalog", *tea(), a_bundle("9.0.0")), store)
    assert not is_valid(changed, store)


def test_a_catalog_is_found_wherever_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    folder = written(tmp_path / "catalog", *tea())
    files = {"configs/catalog.json": folder / "catalog.json"}
    for target in (f"oci:{tmp_path}/layout:1", f"docker-archive:{tmp_path}/archive"):
        write_image(files, {CONFIGS: "/configs"}, target)
    places = [folder, folder / "catalog.json", f"oci:{tmp_path}/layout:1", f"{tmp_path}/layout"]
    for place in [*places, f"docker-archive:{tmp_path}/archive"]:
        assert snapshot_at(str(place), store).package("tea") is not None, place


def test_what_is_nowhere_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPath):
        snapshot_at(f"oci:{tmp_path / 'none'}", Store(tmp_path / "store"))
    with pytest.raises(OciError):
        snapshot_at(f"oci:{tmp_path}", Store(tmp_path / "store"))


def test_a_changed_edition_of_an_image_is_indexed_again(tmp_path: Path) -> None:
    store, target = Store(tmp_path / "store"), f"oci:{tmp_path}/layout:1"
    for version in ("1.0.0", "2.0.0"):
        folder = written(tmp_path / version, *tea(), a_bundle(version, package="cup"), name="c")
        write_image({"configs/c": folder / "c"}, {CONFIGS: "/configs"}, target)
        names = [row.name for row in snapshot_at(target, store).documents("cup").rows("olm.bundle")]
        assert names == [f"cup.v{version}"]


def test_a_snapshot_whose_elder_was_forgotten_is_made_again(tmp_path: Path) -> None:
    store, target = Store(tmp_path / "store"), f"oci:{tmp_path}/layout:1"
    folder = tmp_path / "catalog"
    for version in ("1.0.0", "2.0.0"):
        written(folder, *tea())
        written(folder, *one("cup", version), name="cup")
        write_image({file.name: file for file in folder.iterdir()}, {CONFIGS: "/"}, target)
        snapshot = snapshot_at(target, store)
    assert snapshot.header.others
    for name in snapshot.header.others:
        store.drop(name)
    again = snapshot_at(target, store)
    assert again.package("tea") is not None
    assert again.package("cup") is not None


def a_byte(stream: BinaryIO) -> None:
    stream.write(b"x")


def test_of_too_much_content_what_no_catalog_needs_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    target = f"oci:{tmp_path}/layout:1"
    write_image({"configs/c": written(tmp_path / "catalog", *tea()) / "catalog.json"}, {CONFIGS: "/configs"}, target)
    snapshot = snapshot_at(target, store)
    (needed,) = store.names("file-")
    for age, name in enumerate((needed, "unneeded", snapshot.name)):
        os.utime(store.fill(name, a_byte), (age, age))
    small = Store(tmp_path / "store", limit_bytes=store.size() - 1)
    small.fill("new", lambda _: None)
    assert small.names() == sorted(["new", needed, snapshot.name])
    smaller = Store(tmp_path / "store", limit_bytes=10)
    smaller.fill("newer", lambda _: None)
    assert smaller.names() == ["new", "newer"]


def test_what_no_object_refers_to_is_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    catalogs = ImageCatalogs(store, Puller(lambda *_: None))
    names = []
    for tag in ("1", "2"):
        folder = written(tmp_path / tag, *tea(), a_bundle("9.0.0", package=f"cup{tag}"))
        target = f"oci:{tmp_path}/layout:{tag}"
        write_image({"configs/c": folder / "catalog.json"}, {CONFIGS: "/configs"}, target)
        names.append(snapshot_at(target, store).name)
    desired = "q.io/tea@" + names[1].removeprefix(IMAGE).replace("-", ":", 1)
    assert catalogs.keep_only([desired]) == 0, "somebody may be about to refer to what was just used"
    for path in store.folder.iterdir():
        os.utime(path, (0, 0))
    assert catalogs.keep_only([desired]) > 0
    assert [name for name in names if store.path(name)] == names[1:]
    assert snapshot_at(f"oci:{tmp_path}/layout:2", store).package("tea") is not None
