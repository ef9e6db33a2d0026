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
MEDIA_TYPE = {"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1"}


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedRegistry]:
    """A registry with two bundles, and a catalog of them, a folder of objects with a Subscription to it."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    monkeypatch.chdir(tmp_path)
    with scripted_registry() as found:
        write_catalog(tmp_path, {one: put(found, SAMPLES / "beacon" / one) for one in ("1.0.0", "1.1.0")})
        subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
        write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)))
        yield found


def put(registry: ScriptedRegistry, bundle: Path) -> str:
    """Serve a bundle folder, `<package>/<version>`; the image."""
    package, version = bundle.parts[-2:]
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file()]
    entries = [a_file(str(path.relative_to(bundle)), path.read_bytes()) for path in files]
    labels = {**MEDIA_TYPE, "operators.operatorframework.io.bundle.package.v1": package}
    registry.put(package, version, [a_layer(*entries)], labels)
    return f"{registry.address}/{package}:{version}"


def write_catalog(folder: Path, images: dict[str, str], package: str = "beacon") -> None:
    first, second = f"{package}.v1.0.0", f"{package}.v1.1.0"
    documents: list[Json] = [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": [
            {"name": first}, {"name": second, "replaces": first},
        ]},
    ]  # fmt: skip
    for version, image in images.items():
        identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
        documents.append(
            {
                "schema": "olm.bundle",
                "package": package,
                "name": f"{package}.v{version}",
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


def test_what_webhooks_and_aggregated_apis_need_is_listed(registry: ScriptedRegistry, tmp_path: Path) -> None:
    """csv.md 7.1: no plan names certificates, Services and configurations, but the installation makes them."""
    images = {one: put(registry, SAMPLES.parent / "webhooks" / "lamps" / one) for one in ("1.0.0", "1.1.0")}
    write_catalog(tmp_path, images, "lamps")
    write_objects(tmp_path, a_subscription("lamps", "here", source="local"), an_operator_group("here"))
    result = plan("-o", "json")
    assert result.exit_code == 0, result.output
    served = {"Secret", "Service", "APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
    assert served <= {one.partition(" ")[0] for one in effects(result)}
    assert effects(result)["Secret here/lamps-controller-service-cert"] == "create"
    assert effects(result)["RoleBinding kube-system/lamps-controller-service-auth-reader"] == "create"


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
