from __future__ import annotations

from pathlib import Path

import pytest

from shared.adapters.paths import LAYOUT_MARK, image_named_by


@pytest.mark.parametrize(
    ("path", "image"),
    [
        pytest.param("quay.io/acme/tea:1", "quay.io/acme/tea:1", id="what does not exist here is asked of a registry"),
        pytest.param("oci:{here}/layout:1", "oci:{here}/layout:1", id="a layout, by its prefix"),
        pytest.param("docker-archive:{here}/tea.tar", "docker-archive:{here}/tea.tar", id="an archive"),
        pytest.param("{here}/layout", "oci:{here}/layout", id="a folder that is a layout"),
        pytest.param("{here}", "", id="a folder"),
        pytest.param("{here}/file", "", id="a file"),
        pytest.param("{here}/none", "", id="a path of this machine that does not exist"),
        pytest.param("./none", "", id="a relative path that does not exist"),
    ],
)
def test_the_image_that_a_path_names(tmp_path: Path, path: str, image: str) -> None:
    (tmp_path / "layout").mkdir()
    (tmp_path / "layout" / LAYOUT_MARK).touch()
    (tmp_path / "file").touch()
    assert image_named_by(path.format(here=tmp_path)) == image.format(here=tmp_path)
