"""`olmf extension resolve`, `plan` and `blockers`, and `olmf bundle rbac`: what they print, and how they end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.main import app
from shared import names
from tests.kit.catalogs import a_bundle, a_property, one, written
from tests.kit.installation import SAMPLES

TIDE = SAMPLES / "tide"
MAXIMUM = "olm.maxOpenShiftVersion"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of catalogs belongs to one test."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "kept"))


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    versions = ("0.1.0", "0.2.0", "0.3.0", "1.0.0")
    entries = [{"name": f"tide.v{version}", "skipRange": f"<{version}"} for version in versions]
    bundles = [a_bundle(version, package="tide") for version in versions]
    bundles[-1]["properties"].append(a_property(MAXIMUM, "4.18"))
    del bundles[0]["image"]
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "tide", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "tide", "name": "stable", "entries": entries},
        *bundles,
    ]
    return written(tmp_path / "sea", *documents)


def extension(folder: Path, *more: Mapping[str, Any], status: object = None, **source: object) -> Path:
    entry = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "tide"},
        "spec": {"namespace": "sea", "source": {"catalog": {"packageName": "tide", **source}}},
        "status": status or {},
    }
    path = folder / "extension.yaml"
    path.write_text(yaml.safe_dump_all([entry, *more]))
    return path


def running(name: str, version: str) -> dict[str, Any]:
    return {"install": {"bundle": {"name": name, "version": version}}}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def refused(code: int, sentence: str, *words: object) -> None:
    failure = run(*words).exception
    assert isinstance(failure, CliError)
    assert failure.code == code
    assert sentence in str(failure)


def test_resolve_prints_the_bundle_and_why(tmp_path: Path, catalog: Path) -> None:
    found = run("extension", "resolve", "-f", extension(tmp_path, version="<1"), "--catalog", catalog)
    assert found.exit_code == 0
    assert found.stdout.splitlines()[0] == "tide.v0.3.0, version 0.3.0, image quay.io/acme/tide:v0.3.0"
    assert "Catalog sea has 4 bundles of package tide." in found.stdout
    assert "3 bundles are of a version in '<1'; not tide.v1.0.0." in found.stdout


def test_resolve_reports_why_there_is_none(tmp_path: Path, catalog: Path) -> None:
    found = run("extension", "resolve", "-f", extension(tmp_path, version=">9"), "--catalog", f"main={catalog}")
    assert found.exit_code == NEGATIVE
    assert (
        'Nothing can be installed: no bundles found for package "tide" matching version ">9"; '
        "the rule 'version' leaves nothing of main.\n"
    ) in found.stdout
    words = ("extension", "resolve", "--catalog", f"main={catalog}", "-f")
    elsewhere = run(*words, extension(tmp_path, selector={"matchLabels": {"a": "b"}}))
    assert "; the rule 'selector' leaves nothing of main." in elsewhere.stdout
    assert "has no nope, but stable)" in run(*words, extension(tmp_path, channels=["nope"])).stdout


@pytest.mark.parametrize(
    ("installed", "status"),
    [("tide.v0.1.0@0.1.0", None), ("", running("tide.v0.1.0", "0.1.0"))],
    ids=["by the option", "by the status"],
)
def test_resolve_knows_what_is_installed(tmp_path: Path, catalog: Path, installed: str, status: object) -> None:
    file = extension(tmp_path, status=status, channels=["stable"], version="<1")
    words = ("extension", "resolve", "-f", file, "--catalog", catalog, "--installed", installed, "-o", "json")
    answer = json.loads(run(*words).stdout)
    assert answer["bundle"] == "tide.v0.3.0"
    assert "successor" in [step["rule"] for step in answer["trace"]]


def test_resolve_regards_cluster_catalogs(tmp_path: Path, catalog: Path) -> None:
    kind = {"kind": "ClusterCatalog", "metadata": {"name": "b"}, "spec": {"priority": 5}}
    off = {"kind": "ClusterCatalog", "metadata": {"name": "a"}, "spec": {"availabilityMode": "Unavailable"}}
    file = extension(tmp_path, {"kind": "List", "items": [kind, off]})
    words = ("extension", "resolve", "-f", file, "-o", "json", "--catalog")
    answer = json.loads(run(*words, f"a={catalog}", "--catalog", f"b={catalog}", "--catalog", f"c={catalog}").stdout)
    assert answer["catalog"] == "b"
    refused(USAGE, "catalog a has no content here; add --catalog a=PATH", *words, f"b={catalog}")


def test_what_cannot_be_resolved(tmp_path: Path, catalog: Path) -> None:
    file = extension(tmp_path)
    resolve = ("extension", "resolve")
    refused(USAGE, "-f EXTENSION.yaml", *resolve)
    refused(USAGE, "name the catalogs", *resolve, "-f", file)
    refused(USAGE, "wanted text, json or yaml", *resolve, "-f", file, "-o", "xml")
    refused(USAGE, "wanted NAME@VERSION", *resolve, "-f", file, "--catalog", catalog, "--installed", "tide")
    refused(USAGE, "two catalogs have one name", *resolve, "-f", file, "--catalog", catalog, "--catalog", catalog)
    refused(USAGE, "No such file", *resolve, "-f", tmp_path / "none.yaml", "--catalog", catalog)
    refused(UNKNOWN, "cannot be read", *resolve, "-f", file, "--catalog", f"x={file}")
    for path in ("/nowhere", "oci:/nowhere", "nginx:1.2"):
        refused(USAGE, path, *resolve, "-f", file, "--catalog", path)
    refused(USAGE, "wanted one ClusterExtension, got none", *resolve, "-f", catalog, "--catalog", catalog)
    file.write_text("[]")
    refused(UNKNOWN, "document 1: it is no object", *resolve, "-f", file, "--catalog", catalog)
    file.write_text("kind: ClusterExtension\nmetadata: {name: e}\n")
    refused(USAGE, "ClusterExtension e names no package", *resolve, "-f", file, "--catalog", catalog)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"channels": "stable"}, "spec.source.catalog.channels: wanted a list, got a text"),
        ({"channels": {"a": 1}}, "spec.source.catalog.channels: wanted a list, got an object"),
        ({"channels": [1]}, "spec.source.catalog.channels[0]: wanted a text, got a whole number"),
        ({"channels": ["a"] * 257}, "spec.source.catalog.channels: wanted at most 256 items, got 257 items"),
        ({"version": 1.2}, "spec.source.catalog.version: wanted a text, got a number"),
        ({"selector": 5}, "spec.source.catalog.selector: wanted an object, got a whole number"),
        ({"selector": {"matchLabels": []}}, "spec.source.catalog.selector.matchLabels: wanted an object, got a list"),
        (
            {"upgradeConstraintPolicy": "None"},
            "spec.source.catalog.upgradeConstraintPolicy: wanted 'CatalogProvided' or 'SelfCertified', got 'None'",
        ),
        (
            {"version": 5, "channels": 5},
            "spec.source.catalog.version: wanted a text, got a whole number; spec.source.catalog.channels: wanted",
        ),
        (
            {"packageName": "a" * 254},
            "spec.source.catalog.packageName: wanted at most 253 characters, got 254 characters",
        ),
    ],
)
def test_extensions_of_another_shape(tmp_path: Path, catalog: Path, source: dict[str, Any], why: str) -> None:
    file = extension(tmp_path, **source)
    what = f"{file}: ClusterExtension tide: {why}"
    refused(USAGE, what, "extension", "resolve", "-f", file, "--catalog", catalog)


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (
            "kind: ClusterCatalog\nmetadata: {name: c}\nspec: {priority: high}\n",
            USAGE,
            "extension.yaml: ClusterCatalog c: spec.priority: wanted a whole number, got a text",
        ),
        (
            "kind: ClusterExtension\nmetadata: {name: c}\nspec: {progressDeadlineMinutes: 5}\nstatus: odd\n",
            USAGE,
            "c: spec.progressDeadlineMinutes: wanted at least 10, got 5; status: wanted an object, got a text",
        ),
        (
            "kind: ClusterObjectSet\nmetadata: {name: c}\nspec: {phases: [{name: '', objects: [{object: 1}]}]}\n",
            USAGE,
            "c: spec.phases[0].name: wanted at least 1 characters, got ''; spec.phases[0].objects[0].object: wanted an",
        ),
        ("kind: ClusterCatalog\nmetadata: c\n", UNKNOWN, "document 2: its metadata is not an object"),
        ("{", UNKNOWN, "document 2: "),
    ],
)
def test_files_of_another_shape(tmp_path: Path, catalog: Path, text: str, code: int, why: str) -> None:
    file = extension(tmp_path)
    file.write_text(f"{file.read_text()}---\n{text}")
    refused(code, why, "extension", "resolve", "-f", file, "--catalog", f"c={catalog}")


def test_a_catalog_of_another_shape(tmp_path: Path) -> None:
    odd = written(tmp_path / "odd", {"schema": "olm.bundle", "package": "tide", "name": "b", "properties": [5]})
    answer = run("extension", "resolve", "-f", extension(tmp_path), "--catalog", odd)
    assert answer.exit_code == NEGATIVE
    assert "parse bundle: json: cannot unmarshal number into Go struct field Bundle.properties" in answer.output


def test_plan_of_an_installation(tmp_path: Path, catalog: Path) -> None:
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog, "--bundle", TIDE / "1.0.0")
    found = run(*words)
    assert found.exit_code == 0
    assert "  create Deployment sea/tide-controller" in found.stdout
    assert found.stdout.splitlines()[-1].startswith("Would be done: ")
    assert "Permissions needed:" in found.stdout
    value = json.loads(run(*words, "-o", "json").stdout)
    assert value["wouldDo"]
    assert {one["effect"] for one in value["objects"]} == {"create"}
    assert [one["kind"] for one in value["permissions"]] == ["ClusterRole", "Role"]


def test_plan_of_an_upgrade(tmp_path: Path, catalog: Path) -> None:
    words = (
        "extension",
        "plan",
        "-f",
        extension(tmp_path, status=running("tide.v0.3.0", "0.3.0")),
        "--catalog",
        catalog,
    )
    more = ("--bundle", TIDE / "1.0.0", "--from", TIDE / "0.3.0")
    effects = [one["effect"] for one in json.loads(run(*words, *more, "-o", "json").stdout)["objects"]]
    assert "change" in effects
    refused(UNKNOWN, "what tide.v0.3.0 has installed is not known here", *words, "--bundle", TIDE / "1.0.0")


def test_plan_of_what_is_there(tmp_path: Path, catalog: Path) -> None:
    file = extension(tmp_path, status=running("tide.v1.0.0", "1.0.0"))
    found = run("extension", "plan", "-f", file, "--catalog", catalog, "--bundle", TIDE / "1.0.0", "-o", "json")
    assert {one["effect"] for one in json.loads(found.stdout)["objects"]} == {"keep"}


def test_plan_regards_what_the_cluster_has(tmp_path: Path, catalog: Path) -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "tide-controller", "namespace": "sea"},
    }
    other = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "other", "namespace": "sea"}}
    live = tmp_path / "live"
    live.mkdir()
    (live / "all.json").write_text(json.dumps({"kind": "List", "items": [account, other]}))
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog, "--bundle", TIDE / "1.0.0")
    found = json.loads(run(*words, "--existing", live, "-o", "json").stdout)["objects"]
    assert {one["object"]: one["effect"] for one in found}["ServiceAccount sea/tide-controller"] == "keep"
    assert "ServiceAccount sea/other" not in [one["object"] for one in found]


def test_plan_is_blocked_by_a_resolution_that_fails(tmp_path: Path, catalog: Path) -> None:
    found = run("extension", "plan", "-f", extension(tmp_path, version=">9"), "--catalog", catalog)
    assert found.exit_code == NEGATIVE
    assert 'Blocked:\n  no bundles found for package "tide" matching version ">9"' in found.stdout


def test_plan_is_blocked_by_a_bundle_that_gives_no_objects(tmp_path: Path, catalog: Path) -> None:
    (tmp_path / "empty" / "manifests").mkdir(parents=True)
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog)
    found = run(*words, "--bundle", tmp_path / "empty")
    assert found.exit_code == NEGATIVE
    assert "Blocked:\n  " in found.stdout


def test_plan_wants_the_bundle_that_is_chosen(tmp_path: Path, catalog: Path) -> None:
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog, "--bundle", TIDE / "0.3.0")
    refused(USAGE, "holds tide.v0.3.0; chosen was tide.v1.0.0", *words)


def test_plan_reports_what_keeps_the_cluster_back(tmp_path: Path, catalog: Path) -> None:
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog, "--bundle", TIDE / "1.0.0")
    assert run(*words, "--openshift", "4.18").exit_code == 0
    refused(USAGE, "--openshift four", *words, "--openshift", "four")


def test_plan_cannot_know_the_content_of_a_bundle_without_image(tmp_path: Path, catalog: Path) -> None:
    words = ("extension", "plan", "-f", extension(tmp_path, version="0.1.0"), "--catalog", catalog)
    refused(UNKNOWN, "the catalog names no image of tide.v0.1.0; name its content with --bundle DIR", *words)
    refused(USAGE, "wanted text, json or yaml", *words, "-o", "xml")


@pytest.mark.parametrize("image", ["localhost/tide:1.0.0", "/absolute"])
def test_plan_reads_no_folder_that_a_catalog_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: str) -> None:
    monkeypatch.chdir(tmp_path)
    copytree(TIDE / "1.0.0", tmp_path / "localhost" / "tide:1.0.0")
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "tide", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "tide", "name": "stable", "entries": [{"name": "tide.v1.0.0"}]},
        a_bundle("1.0.0", package="tide") | {"image": str(TIDE / "1.0.0") if image == "/absolute" else image},
    ]
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", written(tmp_path / "sea", *documents))
    refused(UNKNOWN, "image", *words)
    assert run(*words, "--bundle", TIDE / "1.0.0").exit_code == 0


def test_plan_is_blocked_by_an_unsafe_definition(tmp_path: Path) -> None:
    manifest = SAMPLES / "beacon" / "1.1.0"
    catalog = written(tmp_path / "light", *one("beacon", "1.1.0"))
    made = json.loads(run("extension", "render", manifest, "--install-namespace", "sea", "-o", "json").stdout)
    [crd] = [one for one in made if one["kind"] == "CustomResourceDefinition"]
    crd["spec"]["scope"] = "Cluster" if crd["spec"]["scope"] == "Namespaced" else "Namespaced"
    live = tmp_path / "crd.json"
    live.write_text(json.dumps(crd))
    words = ("extension", "plan", "-f", extension(tmp_path, packageName="beacon"), "--catalog", catalog)
    more = ("--bundle", manifest, "--existing", live)
    found = run(*words, *more)
    assert found.exit_code == NEGATIVE
    assert "scope: scope changed" in found.stdout.partition("\nBlocked:\n")[2]
    free = run(*words, *more, "--waive", "scope")
    assert (free.exit_code, free.stdout.splitlines()[-1][:15]) == (0, "Would be done: ")
    assert "waived here; OLM v1 refuses it unless" in free.stdout
    refused(USAGE, "there is no check 'typo'", *words, *more, "--waive", "typo")
    crd["spec"]["versions"] = 5
    live.write_text(json.dumps(crd))
    refused(UNKNOWN, "an object that is there already has not the expected shape", *words, *more)


def test_plan_reports_a_definition_that_goes(tmp_path: Path, catalog: Path) -> None:
    gone = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "shells.acme.io", "labels": {names.V1_OWNER_NAME: "tide"}},
    }
    live = tmp_path / "live.json"
    live.write_text(json.dumps(gone))
    words = ("extension", "plan", "-f", extension(tmp_path), "--catalog", catalog, "--bundle", TIDE / "1.0.0")
    found = run(*words, "--existing", live)
    assert found.exit_code == 0
    assert "shells.acme.io: definitionRemoval: the definition is gone" in found.stdout.partition("To be known:\n")[2]
    [remark] = json.loads(run(*words, "--existing", live, "-o", "json").stdout)["remarks"]
    assert "and Kubernetes every object of it" in remark


def a_revision(number: int, *, properties: str, state: str = "Active") -> dict[str, Any]:
    printed = {names.V1_BUNDLE_NAME: f"tide.v{number}", names.V1_PROPERTIES: properties}
    return {
        "kind": "ClusterObjectSet",
        "metadata": {"name": f"tide-{number}", "labels": {names.V1_OWNER_NAME: "tide"}, "annotations": printed},
        "spec": {"revision": number, "lifecycleState": state},
    }


def test_blockers_by_the_highest_active_revision(tmp_path: Path) -> None:
    """v1.md 23: several revisions."""
    limit = json.dumps([{"type": MAXIMUM, "value": "4.18"}])
    later = json.dumps([{"type": MAXIMUM, "value": "4.19"}])
    revisions = [
        a_revision(1, properties=later), a_revision(2, properties=limit),
        a_revision(3, properties=later, state="Archived"),
    ]  # fmt: skip
    words = ("extension", "blockers", "-f", extension(tmp_path, *revisions), "--openshift")
    found = run(*words, "4.18")
    assert found.exit_code == NEGATIVE
    assert found.stdout == (
        "Found ClusterExtensions that require upgrades prior to upgrading cluster to version 4.19: "
        'bundle "tide.v2" for ClusterExtension "tide".\n'
    )
    free = run(*words, "4.17.9")
    assert (free.exit_code, free.stdout) == (0, "No extension keeps the cluster at 4.17.9.\n")
    assert json.loads(run(*words, "4.18", "-o", "json").stdout)["reason"] == "IncompatibleOperatorsInstalled"


def test_blockers_cannot_read_a_revision_that_is_none(tmp_path: Path) -> None:
    odd = a_revision(1, properties="[]")
    odd["spec"]["revision"] = "first"
    words = ("extension", "blockers", "--openshift", "4.18", "-f")
    refused(USAGE, "spec.revision: wanted a whole number, got a text", *words, extension(tmp_path, odd))


def test_blockers_by_the_catalog(tmp_path: Path, catalog: Path) -> None:
    words = ("extension", "blockers", "--openshift", "4.18", "-f")
    newest = extension(tmp_path, status=running("tide.v1.0.0", "1.0.0"))
    assert run(*words, newest, "--catalog", catalog).exit_code == NEGATIVE
    refused(UNKNOWN, "runs tide.v1.0.0, and its supported OpenShift versions are not known", *words, newest)
    assert run(*words, extension(tmp_path)).exit_code == 0


def test_blockers_want_a_version(tmp_path: Path) -> None:
    refused(USAGE, "--openshift names", "extension", "blockers", "-f", extension(tmp_path))
    refused(USAGE, "--openshift x.y", "extension", "blockers", "-f", extension(tmp_path), "--openshift", "x.y")


def test_rbac_prints_what_it_takes_to_install_a_bundle() -> None:
    found = run("bundle", "rbac", TIDE / "1.0.0", "--install-namespace", "sea")
    made = list(yaml.safe_load_all(found.stdout))
    assert [(one["kind"], one["metadata"]["name"]) for one in made] == [
        ("ClusterRole", "tide-installer"),
        ("Role", "tide-installer"),
    ]
    named = {name for rule in made[1]["rules"] for name in rule.get("resourceNames", ())}
    assert named == {"tide-controller"}


def test_rbac_binds_to_an_account_and_regards_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("tide: high\n")
    words = ("bundle", "rbac", TIDE / "1.0.0", "--install-namespace", "sea", "--service-account")
    made = json.loads(run(*words, "robots/r2", "--extension", "e", "--name", "n", "-o", "json").stdout)["items"]
    assert made[1]["subjects"] == [{"kind": "ServiceAccount", "namespace": "robots", "name": "r2"}]
    assert made[1]["metadata"]["name"] == "n"
    assert ["clusterobjectsets/finalizers"] in [rule["resources"] for rule in made[0]["rules"] if "resources" in rule]
    others = json.loads(run(*words, "r2", "-o", "json").stdout)["items"]
    assert others[1]["subjects"][0]["namespace"] == "sea"
    refused(NEGATIVE, "tide", *words[:-1], "--config", config)


def test_rbac_wants_to_know_where() -> None:
    refused(USAGE, "--install-namespace names", "bundle", "rbac", TIDE / "1.0.0")
    refused(USAGE, "wanted yaml or json", "bundle", "rbac", TIDE / "1.0.0", "--install-namespace", "sea", "-o", "xml")
    refused(
        USAGE, "certProvider 'acme' is not known", "bundle", "rbac", TIDE / "1.0.0", "--install-namespace", "sea",
        "--cert-provider", "acme",
    )  # fmt: skip
