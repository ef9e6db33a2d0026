from __future__ import annotations

from pathlib import Path

import pytest

from shared.adapters.content import Snapshot, Store, snapshot_of
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.judged import Listing, config_of, is_valid, remember
from shared.adapters.image_writer import write_image
from shared.adapters.images import OciError
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.catalog import listing
from shared.domain.catalog.config import read_config
from tests.kit.catalogs import a_bundle, tea, written


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


def test_what_is_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(OciError):
        snapshot_at("oci:" + str(tmp_path / "none"), Store(tmp_path / "store"))


def test_a_changed_edition_of_an_image_is_indexed_again(tmp_path: Path) -> None:
    store, target = Store(tmp_path / "store"), f"oci:{tmp_path}/layout:1"
    for version in ("1.0.0", "2.0.0"):
        folder = written(tmp_path / version, *tea(), a_bundle(version, package="cup"), name="c")
        write_image({"configs/c": folder / "c"}, {CONFIGS: "/configs"}, target)
        names = [row.name for row in snapshot_at(target, store).documents("cup").rows("olm.bundle")]
        assert names == [f"cup.v{version}"]
