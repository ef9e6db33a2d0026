"""What images run on, asked of a registry of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.adapters.image_platforms import Inspector
from shared.domain.bundle.platform import NotInspected, Platform
from tests.kit.image_registry import ScriptedRegistry, scripted_registry


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def an_entry(platform: object) -> dict[str, object]:
    return {"digest": f"sha256:{'0' * 64}", "size": 1, "platform": platform}


def an_index(*platforms: object) -> dict[str, Any]:
    return {"schemaVersion": 2, "manifests": [an_entry(platform) for platform in platforms]}


def an_image(registry: ScriptedRegistry, **config: str) -> dict[str, Any]:
    return {"schemaVersion": 2, "config": registry.blob("tea", json.dumps(config).encode()), "layers": []}


@pytest.mark.parametrize(
    ("platforms", "want"),
    [
        pytest.param(
            [{"os": "linux", "architecture": "arm64", "variant": "v8"}, {"os": "windows", "architecture": "amd64"}],
            (Platform("linux", "arm64"), Platform("windows", "amd64")),
            id="each as the index lists it",
        ),
        pytest.param(
            [{"os": "linux", "architecture": "arm", "variant": one} for one in ("v6", "v7")],
            (Platform("linux", "arm"),),
            id="variants are one platform",
        ),
        pytest.param(
            [{"os": "unknown", "architecture": "unknown"}, {"os": "linux"}, {"os": "", "architecture": ""}, None, []],
            (),
            id="what is no platform does not count",
        ),
    ],
)
def test_the_platforms_of_an_index(registry: ScriptedRegistry, platforms: list[object], want: object) -> None:
    registry.manifest("tea", "1", an_index(*platforms))
    image = f"{registry.address}/tea:1"
    assert Inspector().inspected([image]) == {image: want}
    assert len(registry.requests) == 1, "its images need not be asked for"


def test_the_platform_of_a_single_image_is_that_of_its_configuration(registry: ScriptedRegistry) -> None:
    registry.manifest("tea", "1", an_image(registry, os="linux", architecture="s390x"))
    image = f"{registry.address}/tea:1"
    assert Inspector().inspected([image]) == {image: (Platform("linux", "s390x"),)}


def test_each_image_is_asked_for_once(registry: ScriptedRegistry) -> None:
    registry.manifest("tea", "1", an_index({"os": "linux", "architecture": "amd64"}))
    tea, none = f"{registry.address}/tea:1", f"{registry.address}/none:1"
    inspector = Inspector()
    first = dict(inspector.inspected([tea, none]))
    assert inspector.inspected([none, tea]) == first
    assert len(registry.requests) == len(first)


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        pytest.param(None, "does not have this image: check its name and tag", id="nothing of this name"),
        pytest.param({"schemaVersion": 1}, "it is no image of the second manifest version", id="an old manifest"),
        pytest.param({"schemaVersion": 2, "config": 3}, "a blob without digest and size: 3", id="no configuration"),
    ],
)
def test_what_is_no_image_is_an_answer(registry: ScriptedRegistry, manifest: dict[str, Any] | None, why: str) -> None:
    if manifest:
        registry.manifest("tea", "1", manifest)
    [found] = Inspector().inspected([f"{registry.address}/tea:1"]).values()
    assert isinstance(found, NotInspected)
    assert why in found.why


def test_files_of_this_machine_are_never_read_for_an_image_of_a_bundle() -> None:
    inspector = Inspector()
    for image in ("oci:/etc", "docker-archive:/etc/passwd"):
        found = inspector.inspected([image])[image]
        assert isinstance(found, NotInspected)
        assert "is not an image reference" in found.why


def test_after_its_time_nothing_is_asked_any_more(registry: ScriptedRegistry) -> None:
    image = f"{registry.address}/tea:1"
    assert Inspector(-1).inspected([image]) == {
        image: NotInspected("it was not asked for, because the registries took more than -1 s")
    }
    assert registry.requests == []
