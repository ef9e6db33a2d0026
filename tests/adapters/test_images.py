from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.images import folder_of, origin_of, unpacked
from shared.adapters.oci.build import Files, build
from shared.adapters.oci.docker_archive import DockerArchive
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layout import Layout
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.local import ArchiveName, LayoutName
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.saving import save_archive, save_layout
from shared.adapters.oci.transport import Transport
from shared.domain.bundle.annotations import CONFIGS, PACKAGE
from tests.kit.image_registry import a_file, a_layer, scripted_registry

CATALOG: Files = {"configs/tea/catalog.json": b"{}", "configs/.indexignore": b"x", "etc/other": b"o"}


def a_layout(folder: Path, tag: str, files: Files = CATALOG, labels: dict[str, str] | None = None) -> str:
    built = build(files, {CONFIGS: "/configs"} if labels is None else labels, folder / "layer")
    save_layout(built, LayoutName(folder / "layout", tag))
    return f"oci:{folder}/layout:{tag}"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_folder_of_a_catalog_image_is_its_catalog(tmp_path: Path) -> None:
    with folder_of(a_layout(tmp_path, "v1")) as folder:
        assert names(folder) == {"tea/catalog.json", ".indexignore"}
    assert not folder.exists()


def test_the_folder_of_another_image_holds_all_its_files(tmp_path: Path) -> None:
    files: Files = {"manifests/csv.yaml": b"{}", "metadata/annotations.yaml": b"{}"}
    with unpacked(a_layout(tmp_path, "v1", files, {PACKAGE: "tea"})) as found:
        assert names(found.path) == set(files)
        assert found.is_bundle
        assert found.catalog is None


def test_a_registry_is_asked_where_the_reference_names_one() -> None:
    with scripted_registry() as registry:
        registry.put("cat", "1", [a_layer(a_file("configs/a.json", b"{}"))], {CONFIGS: "/configs"})
        with folder_of(f"{registry.address}/cat:1", Registry(Transport(attempts=1))) as folder:
            assert (folder / "a.json").read_bytes() == b"{}"


def test_of_a_layout_with_several_images_one_has_to_be_named(tmp_path: Path) -> None:
    a_layout(tmp_path, "v1")
    a_layout(tmp_path, "v2", {"configs/new.json": b"{}"})
    with folder_of(f"oci:{tmp_path}/layout:v2") as folder:
        assert names(folder) == {"new.json"}
    with pytest.raises(OciError, match=r"it has: v1, v2: name one as oci:FOLDER:tag"):
        folder_of(f"oci:{tmp_path}/layout").__enter__()


def test_the_same_image_by_digest(tmp_path: Path) -> None:
    with unpacked(a_layout(tmp_path, "v1")) as first, folder_of(first.reference) as again:
        assert names(again) == names(first.path / "configs")


@pytest.mark.parametrize("kind", ["manifest", "config", "layer"])
def test_a_changed_blob_of_a_layout_is_never_used(tmp_path: Path, kind: str) -> None:
    reference = a_layout(tmp_path, "v1")
    built = build(CATALOG, {CONFIGS: "/configs"}, tmp_path / "again")
    digest = {"manifest": built.digest, "config": built.config_descriptor.digest}
    blob = tmp_path / "layout/blobs/sha256" / digest.get(kind, built.layer.descriptor.digest).removeprefix("sha256:")
    content = blob.read_bytes()
    blob.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(OciError) as caught:
        folder_of(reference).__enter__()
    assert caught.value.reason == "DigestMismatch"


def an_archive(folder: Path, tag: str = "quay.io/acme/tea:1") -> Path:
    built = build(CATALOG, {CONFIGS: "/configs"}, folder / "layer", is_compressed=False)
    save_archive(built, ArchiveName(folder / "tea.tar", tag))
    return folder / "tea.tar"


@pytest.mark.parametrize("tag", ["", ":quay.io/acme/tea:1"])
def test_an_archive_of_docker(tmp_path: Path, tag: str) -> None:
    with folder_of(f"docker-archive:{an_archive(tmp_path)}{tag}") as folder:
        assert names(folder) == {"tea/catalog.json", ".indexignore"}


def test_an_archive_without_the_tag_says_which_it_has(tmp_path: Path) -> None:
    with pytest.raises(OciError, match=r"it has: quay.io/acme/tea:1"):
        folder_of(f"docker-archive:{an_archive(tmp_path)}:other:2").__enter__()


def test_a_changed_layer_of_an_archive_is_never_used(tmp_path: Path) -> None:
    archive = an_archive(tmp_path)
    archive.write_bytes(archive.read_bytes().replace(b'"configs/tea/catalog.json"', b"").replace(b"{}", b"[]", 1))
    with pytest.raises(OciError) as caught:
        folder_of(f"docker-archive:{archive}").__enter__()
    assert caught.value.reason == "DigestMismatch"


def an_archive_of(folder: Path, layer: bytes, packed: bytes) -> Path:
    """A `docker save` file that states the digest of `layer` and holds `packed` for it."""
    return saved(folder / "x.tar", {"": (layer, packed)})


def saved(file: Path, images: Mapping[str, tuple[bytes, bytes]]) -> Path:
    """A `docker save` file with images by tag: the layer whose digest each states, and what it holds for it."""
    files, manifest = {}, []
    for number, (tag, (layer, packed)) in enumerate(images.items()):
        files[f"{number}.json"] = json.dumps({"rootfs": {"diff_ids": [digest(layer)]}}).encode()
        files[f"{number}.tar"] = packed
        manifest.append({"Config": f"{number}.json", "Layers": [f"{number}.tar"], "RepoTags": [tag]})
    with tarfile.open(file, "w") as archive:
        for name, content in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def test_an_image_of_an_archive_by_its_digest(tmp_path: Path) -> None:
    layers = {f"tea:{name}": a_layer(a_file(name), compressed=False) for name in ("a", "b")}
    archive = f"docker-archive:{saved(tmp_path / 'x@y.tar', {tag: (one, one) for tag, one in layers.items()})}"
    with unpacked(f"{archive}:tea:b") as by_tag, folder_of(by_tag.reference) as by_digest:
        assert names(by_digest) == {"b"}
    with pytest.raises(OciError, match=r"0 images of the archive fit; it has: tea:a, tea:b"):
        folder_of(f"{archive}@sha256:{'0' * 64}").__enter__()


def test_the_layers_of_an_archive_may_be_compressed(tmp_path: Path) -> None:
    layer = a_layer(a_file("a", b"A"), compressed=False)
    with folder_of(f"docker-archive:{an_archive_of(tmp_path, layer, gzip.compress(layer))}") as folder:
        assert names(folder) == {"a"}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda packed: packed[:10] + b"\xff" * 20 + packed[30:], id="changed"),
        pytest.param(lambda packed: packed[:-12], id="cut off"),
    ],
)
def test_a_damaged_compressed_layer_of_an_archive_is_refused_with_a_sentence(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    layer = a_layer(a_file("a", b"A"), compressed=False)
    archive = an_archive_of(tmp_path, layer, damage(gzip.compress(layer)))
    with pytest.raises(OciError, match="cannot be read as an archive"):
        folder_of(f"docker-archive:{archive}").__enter__()


@pytest.mark.parametrize(
    ("entry", "config"),
    [
        pytest.param({"RepoTags": 5}, {"rootfs": {"diff_ids": []}}, id="tags that are a number"),
        pytest.param({"RepoTags": ["a:1"]}, {"rootfs": 5}, id="a root file system that is a number"),
    ],
)
def test_an_archive_with_odd_types_is_refused_with_a_sentence(tmp_path: Path, entry: Any, config: Any) -> None:
    members = {"manifest.json": [{"Config": "c.json", "Layers": [], **entry}], "c.json": config}
    with tarfile.open(tmp_path / "odd.tar", "w") as tar:
        for name, value in members.items():
            content = json.dumps(value).encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    with pytest.raises(OciError):
        folder_of(f"docker-archive:{tmp_path / 'odd.tar'}:a:1").__enter__()


def test_an_archive_is_not_blamed_for_what_its_user_does(tmp_path: Path) -> None:
    with (
        pytest.raises(BrokenPipeError),
        DockerArchive.open(ArchiveName(an_archive(tmp_path))),
    ):
        raise BrokenPipeError


def digest(content: bytes) -> str:
    import hashlib

    return "sha256:" + hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        pytest.param("oci:{folder}/none", "NotFound", id="a folder that is no layout"),
        pytest.param("oci:", "Malformed", id="no folder"),
        pytest.param("oci:{folder}@sha256:x", "Malformed", id="no digest"),
        pytest.param("oci:{folder}" + f"@sha256:{'a' * 64}" * 2, "Malformed", id="two digests"),
        pytest.param("docker-archive:", "Malformed", id="no file"),
        pytest.param("docker-archive:{folder}/none", "Malformed", id="no archive"),
        pytest.param("UPPER/case", "Malformed", id="no reference"),
    ],
)
def test_what_is_no_image_is_refused_with_a_sentence(tmp_path: Path, reference: str, reason: str) -> None:
    with pytest.raises(OciError) as caught:
        folder_of(reference.format(folder=tmp_path)).__enter__()
    assert caught.value.reason == reason
    assert len(caught.value.message.splitlines()) == 1


def test_a_label_that_points_nowhere_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OciError, match="where no file is"):
        folder_of(a_layout(tmp_path, "v1", labels={CONFIGS: "/elsewhere"})).__enter__()


def test_a_name_too_long_for_the_machine_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OciError, match="File name too long"):
        folder_of(a_layout(tmp_path, "v1", {"configs/" + "x" * 300: b""})).__enter__()


def test_bounds_hold_for_folders_too(tmp_path: Path) -> None:
    with pytest.raises(OciError, match="at least"):
        folder_of(a_layout(tmp_path, "v1"), limits=Limits(layer_bytes=10)).__enter__()


IN_TWO_WAYS = "oci:5000/beacon:1.0.0"
"""A layout in the folder `5000/beacon`, to who types it; a registry called `oci`, as a reference in a catalog."""


def test_a_reference_names_nothing_of_this_machine() -> None:
    with origin_of(IN_TWO_WAYS) as (origin, _):
        assert isinstance(origin, Layout)
    reference = Reference.parse(IN_TWO_WAYS)
    with origin_of(reference) as (place, name):
        assert isinstance(place, Registry)
        assert name == reference
    assert reference.host == "oci:5000"
