"""`olmf plan`: what would happen to each object, and whether it is safe; of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.main import app
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry
from tests.kit.installation import SAMPLES, a_subscription, an_operator_group

Json = Any
LABELS = {
    "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
    "operators.operatorframework.io.bundle.package.v1": "beacon",
}


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedRegistry]:
    """A registry with two bundles, and a catalog of them, a folder of objects with a Subscription to it."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    monkeypatch.chdir(tmp_path)
    with scripted_registry() as found:
        for version in ("1.0.0", "1.1.0"):
            folder = SAMPLES / "beacon" / version
            files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            entries = [a_file(str(path.relative_to(folder)), path.read_bytes()) for path in files]
            found.put("beacon", version, [a_layer(*entries)], LABELS)
        write_catalog(tmp_path, {version: f"{found.address}/beacon:{version}" for version in ("1.0.0", "1.1.0")})
        subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
        write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)))
        yield found


def write_catalog(folder: Path, images: dict[str, str]) -> None:
    entries = [{"name": "beacon.v1.0.0"}, {"name": "beacon.v1.1.0", "replaces": "beacon.v1.0.0"}]
    documents: list[Json] = [
        {"schema": "olm.package", "name": "beacon", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "beacon", "name": "stable", "entries": entries},
    ]
    for version, image in images.items():
        identity = {"type": "olm.package", "value": {"packageName": "beacon", "version": version}}
        documents.append(
            {
                "schema": "olm.bundle",
                "package": "beacon",
                "name": f"beacon.v{version}",
                "image": image,
                "properties": [identity],
            }
        )
    (folder / "cat").mkdir(exist_ok=True)
    (folder / "cat" / "catalog.json").write_text("\n".join(map(json.dumps, documents)))


def write_objects(folder: Path, *objects: Json) -> None:
    (folder / "objects").mkdir(exist_ok=True)
    (folder / "objects" / "all.yaml").write_text(yaml.safe_dump_all(objects))


def plan(*words: str) -> Result:
    return CliRunner().invoke(app, ["plan", "-n", "here", "--catalog", "cat", "--from", "objects", *words])


def effects(result: Result) -> dict[str, str]:
    return {one["object"]: one["effect"] for one in json.loads(result.stdout)["objects"]}


def test_issue_15_1_5_an_install_is_listed_object_by_object() -> None:
    result = plan("-o", "json")
    assert result.exit_code == 0, result.output
    found = effects(result)
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "create"
    assert set(found.values()) == {"create"}
    told = json.loads(result.stdout)
    assert told["wouldDo"]
    assert {one["kind"] for one in told["permissions"]} <= {"Role", "ClusterRole"}
    assert any(line.startswith("image ") for line in told["remarks"])


def test_an_upgrade_says_what_changes_and_what_goes(tmp_path: Path) -> None:
    first = json.loads(plan("-o", "json").stdout)["objects"]
    csv, *others = [one["manifest"] for one in first]
    there = {**csv, "status": {"phase": "Succeeded"}}
    installed = {"installedCSV": "beacon.v1.0.0", "currentCSV": "beacon.v1.0.0", "state": "AtLatestKnown"}
    subscription = a_subscription("beacon", "here", source="local", channel="stable") | {"status": installed}
    write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)), there, *others)
    result = plan("-o", "json")
    found = effects(result)
    assert found["ClusterServiceVersion here/beacon.v1.1.0"] == "create"
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "remove"
    assert "beacon.v1.0.0 -> beacon.v1.1.0" in plan().output
    markdown = plan("-o", "markdown").stdout
    assert markdown.startswith("### Would be done")
    assert "| remove | `ClusterServiceVersion here/beacon.v1.0.0` |" in markdown


def test_a_definition_that_loses_a_stored_version_blocks(tmp_path: Path) -> None:
    first = json.loads(plan("-o", "json").stdout)["objects"]
    definition = next(one["manifest"] for one in first if one["manifest"]["kind"] == "CustomResourceDefinition")
    stored = {**definition, "status": {"storedVersions": ["v1alpha0"]}}
    stored["spec"] = {**definition["spec"], "versions": [
        *definition["spec"]["versions"], {**definition["spec"]["versions"][0], "name": "v1alpha0", "storage": False},
    ]}  # fmt: skip
    subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
    write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)), stored)
    result = plan()
    assert result.exit_code == NEGATIVE
    assert "removes version v1alpha0 that is listed as a stored version" in result.stdout
    assert "spec.versions" in result.stdout
    assert plan("-o", "markdown").stdout.startswith("### Blocked")


@pytest.mark.parametrize("image", ["", "oci:/etc", "127.0.0.1:1/none:1"])
def test_a_bundle_that_cannot_be_had_leaves_it_unknown(tmp_path: Path, image: str) -> None:
    write_catalog(tmp_path, {"1.0.0": image, "1.1.0": image})
    error = plan().exception
    assert isinstance(error, CliError)
    assert error.code == UNKNOWN
