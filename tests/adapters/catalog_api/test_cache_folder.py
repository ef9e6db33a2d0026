from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shared.adapters.catalog_api.cache_folder import CacheError, enforced, refreshed
from tests.kit.catalogs import tea, written


def test_fbc_md_r388_the_index_is_made_where_it_is_not(tmp_path: Path) -> None:
    assert refreshed(written(tmp_path / "catalog", *tea()), tmp_path / "cache").names == ("tea",)


def test_fbc_md_r381_an_index_that_is_there_and_right(tmp_path: Path) -> None:
    catalog = written(tmp_path / "catalog", *tea())
    made = refreshed(catalog, tmp_path / "cache")
    assert enforced(catalog, tmp_path / "cache").name == made.name


def test_fbc_md_r383_what_is_built_twice_is_the_same(tmp_path: Path) -> None:
    catalog = written(tmp_path / "catalog", *tea())
    names = {refreshed(catalog, tmp_path / cache).name for cache in ("one", "other")}
    assert len(names) == 1


def test_fbc_md_16_4_a_copy_with_other_times_is_the_same_catalog(tmp_path: Path) -> None:
    catalog = written(tmp_path / "catalog", *tea())
    refreshed(catalog, tmp_path / "cache")
    shutil.rmtree(catalog)
    assert enforced(written(catalog, *tea()), tmp_path / "cache").names == ("tea",)


@pytest.mark.parametrize("is_made", [False, True])
def test_fbc_md_r380_r387_no_index(tmp_path: Path, is_made: bool) -> None:
    if is_made:
        (tmp_path / "cache").mkdir()
    with pytest.raises(CacheError, match="integrity check failed: read existing cache digest: "):
        enforced(written(tmp_path / "catalog"), tmp_path / "cache")


def test_fbc_md_r381_another_catalog(tmp_path: Path) -> None:
    catalog = written(tmp_path / "catalog", *tea())
    refreshed(catalog, tmp_path / "cache")
    written(catalog, *tea()[:-1])
    with pytest.raises(CacheError, match=r'cache reports digest as "[0-9a-f]+", but computed digest is "[0-9a-f]+"'):
        enforced(catalog, tmp_path / "cache")


def test_fbc_md_r381_a_changed_index(tmp_path: Path) -> None:
    catalog = written(tmp_path / "catalog", *tea())
    file = tmp_path / "cache" / refreshed(catalog, tmp_path / "cache").name
    file.write_bytes(file.read_bytes().replace(b"quay.io", b"evil.io", 1))
    with pytest.raises(CacheError, match="cache requires rebuild"):
        enforced(catalog, tmp_path / "cache")


def test_fbc_md_r382_files_of_others(tmp_path: Path) -> None:
    for name in ("foo", "bar"):
        written(tmp_path / "cache", name=name)
    with pytest.raises(CacheError, match="cache directory has unexpected contents: bar,foo"):
        refreshed(written(tmp_path / "catalog"), tmp_path / "cache")
