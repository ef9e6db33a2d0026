from __future__ import annotations

from pathlib import Path

import pytest

from shared.adapters.oci.prefixes import LAYOUT_MARK
from shared.adapters.paths import NoSuchPath, image_named_by


@pytest.mark.parametrize(
    ("path", "image"),
    [
        pytest.param("quay.io/acme/tea:1", "quay.io/acme/tea:1", id="what does not exist here is asked of a registry"),
        pytest.param("oci:{here}/layout:1", "oci:{here}/layout:1", id="a layout, by its prefix"),
        pytest.param("docker-archive:{here}/file:tea:1", "docker-archive:{here}/file:tea:1", id="an archive"),
        pytest.param("{here}/layout", "oci:{here}/layout", id="a folder that is a layout"),
        pytest.param("{here}", "", id="a folder"),
        pytest.param("{here}/file", "", id="a file"),
        pytest.param("localhost/tea", "localhost/tea", id="a registry without a dot"),
        pytest.param("[::1]:5000/tea", "[::1]:5000/tea", id="a registry without a name"),
    ],
)
def test_the_image_that_a_path_names(tmp_path: Path, path: str, image: str) -> None:
    (tmp_path / "layout").mkdir()
    (tmp_path / "layout" / LAYOUT_MARK).touch()
    (tmp_path / "file").touch()
    assert image_named_by(path.format(here=tmp_path)) == image.format(here=tmp_path)


NO_IMAGE = "(registry/name:tag); nor is there a file or folder of this name"
UNNAMED = f"repository name must be canonical {NO_IMAGE}"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("/no/such.dir/x:1", "/no/such.dir/x:1: no such file or folder", id="an absolute path"),
        pytest.param("./none", "./none: no such file or folder", id="a relative path"),
        pytest.param("oci:/none:1", "oci:/none:1: no such file or folder", id="a layout that is not here"),
        pytest.param("oci:", "oci:: no such file or folder", id="a layout without a folder"),
        pytest.param("docker-archive:/none", "docker-archive:/none: no such file", id="an archive that is not here"),
        pytest.param("oci:.@sha256:bad", "'oci:.@sha256:bad' names no image", id="a digest that is cut off"),
        pytest.param("", f'failed to pull image "": invalid reference format {NO_IMAGE}', id="nothing"),
        pytest.param("none", f'failed to pull image "none": {UNNAMED}', id="fbc.md R245: a word"),
        pytest.param("none/below", UNNAMED, id="a path that looks like no image"),
        pytest.param("nginx:1.2", UNNAMED, id="a tag without a registry"),
        pytest.param("docker.io/nginx", UNNAMED, id="a short name at Docker's registry"),
        pytest.param("a_b.c/d", UNNAMED, id="a name that no host has"),
        pytest.param("quay.io/Acme/tea", f"repository name must be lowercase {NO_IMAGE}", id="no reference"),
    ],
)
def test_a_path_that_names_nothing_is_refused(path: str, why: str) -> None:
    with pytest.raises(NoSuchPath) as error:
        image_named_by(path)
    assert why in str(error.value)
