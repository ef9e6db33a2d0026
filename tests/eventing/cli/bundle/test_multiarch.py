"""`olmf bundle validate --optional-validators multiarch` against a registry (fbc.md 11.6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kit import verbs
from tests.kit.image_registry import ScriptedRegistry, scripted_registry
from tests.kit.installation import SAMPLES

TIDE = SAMPLES / "tide" / "1.0.0"


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def a_bundle(folder: Path, image: str, *related: str) -> str:
    """A sound bundle whose operator has this image."""
    for path in TIDE.rglob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        if content.get("kind") == "ClusterServiceVersion":
            [deployment] = content["spec"]["install"]["spec"]["deployments"]
            deployment["spec"]["template"]["spec"]["containers"] = [{"name": "manager", "image": image}]
            content["spec"]["relatedImages"] = [{"name": "a", "image": one} for one in related]
        copy = folder / path.relative_to(TIDE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(yaml.safe_dump(content))
    return str(folder)


def judged(bundle: str, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what the program says about the bundle."""
    done = verbs.olmf("bundle", "validate", bundle, "-o", "json", "--optional-validators", "multiarch", *words)
    assert done.stderr == ""
    [row] = json.loads(done.stdout)
    return done.returncode, row


def messages(rows: list[dict[str, str]]) -> list[str]:
    return [one["message"] for one in rows if one["message"].startswith(("Error: Value tide.", "Warning: Value tide."))]


def test_fbc_md_11_6_images_that_lack_a_platform_are_an_error(tmp_path: Path, registry: ScriptedRegistry) -> None:
    arm = {"digest": f"sha256:{'0' * 64}", "size": 1, "platform": {"os": "linux", "architecture": "arm64"}}
    registry.manifest("index", "1", {"schemaVersion": 2, "manifests": [arm]})
    config = registry.blob("single", b'{"os": "linux", "architecture": "amd64"}')
    registry.manifest("single", "1", {"schemaVersion": 2, "config": config, "layers": []})
    index, single, none = (f"{registry.address}/{name}:1" for name in ("index", "single", "none"))
    code, row = judged(a_bundle(tmp_path, index, single, none))
    assert (code, row["ok"]) == (1, False)
    what = "not all images specified are providing the support described via the CSV labels. Note that"
    assert messages(row["errors"]) == [
        f"Error: Value tide.v1.0.0: {what} (OS.architecture): (linux.amd64) was not found for the image(s) [{index}]"
    ]
    warnings = messages(row["warnings"])
    assert warnings[0].startswith(
        f"Warning: Value tide.v1.0.0: unable to inspect the image ({none}) : NotFound: {none}: "
    )
    assert f'image ["{index}"] provides this support' in warnings[1]
    assert f'check if the image {single} should not support ["arm64"]' in warnings[2]


def test_fbc_md_11_6_without_container_tools_no_registry_is_asked(tmp_path: Path, registry: ScriptedRegistry) -> None:
    image = f"{registry.address}/tea:1"
    code, row = judged(a_bundle(tmp_path, image), "--container-tools", "none")
    assert (code, registry.requests) == (0, [])
    what = "check if the CSV is missing a node affinity configuration for the image"
    assert messages(row["warnings"]) == [f'Warning: Value tide.v1.0.0: {what}: "{image}". ']
