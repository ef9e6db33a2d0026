"""Bundles where a catalog is wanted: every verb says what they are, and what is advised works."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import USAGE, CliError
from eventing.cli.inputs.bundle_folders import bundles_only
from eventing.cli.main import app
from eventing.local.served import is_without_bundles
from tests.eventing.cli.test_plan import put
from tests.kit.image_registry import scripted_registry
from tests.kit.installation import SAMPLES, a_subscription

ONE = "bundles/beacon/1.0.0"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages of bundles, and a Subscription, in the working folder."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    monkeypatch.chdir(tmp_path)
    for package in ("beacon", "ledger"):
        copytree(SAMPLES / package, tmp_path / "bundles" / package)
    Path("sub.yaml").write_text(yaml.safe_dump(a_subscription("beacon", "here", source="local")))
    return tmp_path / "bundles"


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (ONE, f"{ONE} is a bundle and no catalog: `olmf bundle validate {ONE}` judges it"),
        ("bundles/ledger", "bundles/ledger holds 1 bundle and no catalog"),
        ("bundles", f"bundles holds 3 bundles and no catalog: `olmf bundle validate {ONE}` judges one of them"),
    ],
)
def test_what_they_are_and_what_makes_a_catalog_of_them_is_named(path: str, what: str, folder: Path) -> None:
    hint = bundles_only(path)
    assert hint.startswith(what)
    assert "`olmf up --bundles bundles` serves " in hint
    assert not is_without_bundles(folder)
    assert olmf("bundle", "validate", ONE).exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["resolve", "--from", "sub.yaml", "--catalog", "bundles"],
        ["plan", "--from", "sub.yaml", "--catalog", f"local={ONE}"],
        ["explain", "--from", "sub.yaml", "--catalog", ONE],
        ["versions", "beacon", "--catalog", "bundles/beacon"],
        ["extension", "resolve", "-f", "ce.yaml", "--catalog", "bundles"],
        ["catalog", "cache", "fill", "bundles"],
        ["catalog", "lint", ONE],
        ["catalog", "list", "packages", "bundles"],
    ],
)
def test_verbs_that_take_a_catalog_say_so(words: list[str]) -> None:
    source = {"sourceType": "Catalog", "catalog": {"packageName": "beacon"}}
    spec = {"namespace": "here", "serviceAccount": {"name": "a"}, "source": source}
    Path("ce.yaml").write_text(json.dumps({"kind": "ClusterExtension", "metadata": {"name": "x"}, "spec": spec}))
    error = olmf(*words).exception
    assert isinstance(error, CliError)
    assert (error.code, "and no catalog: `olmf bundle validate " in str(error)) == (USAGE, True)


def test_a_template_that_names_their_images_makes_a_catalog() -> None:
    with scripted_registry() as registry:
        images = [{"image": put(registry, SAMPLES / "beacon" / version)} for version in ("1.0.0", "1.1.0")]
        Path("template.yaml").write_text(yaml.safe_dump({"schema": "olm.semver", "stable": {"bundles": images}}))
        Path("made").mkdir()
        Path("made/catalog.json").write_text(olmf("catalog", "template", "semver", "template.yaml").stdout)
        assert olmf("catalog", "validate", "made").exit_code == 0
        assert bundles_only("made") == ""
        result = olmf("resolve", "--from", "sub.yaml", "--catalog", "made", "-o", "json")
    assert json.loads(result.stdout)[0]["gets"] == "beacon.v1.1.0"


@pytest.mark.parametrize("name", ["extra.yaml", "beacon/catalog.json"])
def test_a_folder_with_other_manifests_is_not_explained_away(name: str, folder: Path) -> None:
    (folder / name).write_text("{}")
    assert bundles_only("bundles") == ""
    (folder / name).rename(folder / "README.md")
    assert bundles_only("bundles")


@pytest.mark.parametrize("path", ["sub.yaml", "nothing", "quay.io/acme/catalog:1"])
def test_nothing_else_is_taken_for_bundles(path: str) -> None:
    assert bundles_only(path) == ""
