from __future__ import annotations

from pathlib import Path

import pytest

from shared.adapters.paths import LAYOUT_MARK, NoSuchPath, image_named_by


@pytest.mark.parametrize(
    ("path", "image"),
    [
        pytest.param("quay.io/acme/tea:1", "quay.io/acme/tea:1", id="what does not exist here is asked of a registry"),
        pytest.param("oci:{here}/layout:1", "oci:{here}/layout:1", id="a layout, by its prefix"),
        pytest.param("docker-archive:{here}/tea.tar", "docker-archive:{here}/tea.tar", id="an archive"),
        pytest.param("{here}/layout", "oci:{here}/layout", id="a folder that is a layout"),
        pytest.param("{here}", "", id="a folder"),
        pytest.param("{here}/file", "", id="a file"),
        pytest.param("localhost/tea", "localhost/tea", id="a registry without a dot"),
        pytest.param("tea:1", "tea:1", id="a tag makes an image of a short name"),
    ],
)
def test_the_image_that_a_path_names(tmp_path: Path, path: str, image: str) -> None:
    (tmp_path / "layout").mkdir()
    (tmp_path / "layout" / LAYOUT_MARK).touch()
    (tmp_path / "file").touch()
    assert image_named_by(path.format(here=tmp_path)) == image.format(here=tmp_path)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("/no/such.dir/x:1", "/no/such.dir/x:1: no such file or folder", id="an absolute path"),
        pytest.param("./none", "./none: no such file or folder", id="a relative path"),
        pytest.param("none", "nor is there a file or folder of this name", id="a word"),
        pytest.param("none/below", "nor is there a file or folder of this name", id="a path that looks like no image"),
    ],
)
def test_a_path_that_names_nothing_is_refused(path: str, why: str) -> None:
    with pytest.raises(NoSuchPath) as error:
        image_named_by(path)
    assert why in str(error.value)
