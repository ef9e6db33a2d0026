"""The verbs of `olmf bundle` on folders: what they print, their exit codes, and their sentences."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.main import app
from shared.adapters.oci.build import build
from shared.adapters.oci.local import LayoutName
from shared.adapters.oci.saving import save_layout
from shared.domain.bundle.annotations import PACKAGE
from tests.kit.installation import SAMPLES

TIDE = SAMPLES / "tide" / "1.0.0"
LAMPS = SAMPLES.parent / "webhooks" / "lamps" / "1.0.0"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["bundle", *map(str, words)])


def refused(code: int, sentence: str, *words: object) -> None:
    failure = run(*words).exception
    assert isinstance(failure, CliError)
    assert failure.code == code
    assert sentence in str(failure)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A copy of a sound bundle."""
    for path in TIDE.rglob("*.yaml"):
        copy = tmp_path / "tide" / path.relative_to(TIDE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return tmp_path / "tide"


def changed(bundle: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    [path] = (bundle / "manifests").glob("*clusterserviceversion*")
    csv = yaml.safe_load(path.read_text())
    change(csv)
    path.write_text(yaml.safe_dump(csv))
    return bundle


def test_a_plan_lists_the_steps_with_their_manifests() -> None:
    found = run("plan", TIDE, "--namespace", "ns", "-o", "json")
    steps = json.loads(found.stdout)
    assert found.exit_code == 0
    assert [list(step) for step in steps] == [["kind", "group", "version", "name", "manifest"]] * len(steps)
    assert [step["kind"] for step in steps][:2] == ["ClusterServiceVersion", "ServiceAccount"]
    csv = json.loads(steps[0]["manifest"])
    assert csv["metadata"]["namespace"] == "ns"
    entry = json.loads(csv["metadata"]["annotations"]["operatorframework.io/properties"])
    assert {"type": "olm.package", "value": {"packageName": "tide", "version": "1.0.0"}} in entry["properties"]


def test_a_plan_lists_what_webhooks_and_aggregated_apis_need() -> None:
    """csv.md 7.1, in the order of the writes; no certificate is made for it."""
    found = run("plan", LAMPS, "--namespace", "ns", "-o", "json")
    steps = json.loads(found.stdout)[-9:]
    stem = "lamps-controller-service"
    assert [(step["kind"], step["name"].rsplit("-", 1)[0]) for step in steps[-2:]] == [
        ("ValidatingWebhookConfiguration", "vlamps.samples.olmf.io"),
        ("MutatingWebhookConfiguration", "mlamps.samples.olmf.io"),
    ]
    assert [(step["kind"], step["name"]) for step in steps[:-2]] == [
        ("Secret", f"{stem}-cert"), ("Service", stem), ("Role", f"{stem}-cert"), ("RoleBinding", f"{stem}-cert"),
        ("ClusterRoleBinding", f"{stem}-system:auth-delegator"), ("RoleBinding", f"{stem}-auth-reader"),
        ("APIService", "v1.measures.samples.olmf.io"),
    ]  # fmt: skip
    assert not any("caBundle" in step["manifest"] or "ownerReferences" in step["manifest"] for step in steps)
    assert "not in the InstallPlan" in found.stderr


def test_a_plan_in_words_is_a_table() -> None:
    lines = run("plan", TIDE).stdout.splitlines()
    assert lines[0].split() == ["KIND", "GROUP", "VERSION", "NAME"]
    assert lines[1].split() == ["ClusterServiceVersion", "operators.coreos.com", "v1alpha1", "tide.v1.0.0"]


@pytest.mark.parametrize(
    ("words", "desired"), [((), "tide.v0.9.0"), (("--replaces", "x"), "x"), (("--replaces", ""), None)]
)
def test_a_plan_replaces_what_the_csv_names_or_the_option(
    bundle: Path, words: tuple[str, ...], desired: str | None
) -> None:
    changed(bundle, lambda csv: csv["spec"].update(replaces="tide.v0.9.0"))
    [csv, *_] = json.loads(run("plan", bundle, "-o", "json", *words).stdout)
    assert json.loads(csv["manifest"])["spec"].get("replaces") == desired


def test_a_plan_needs_no_metadata_and_reports_what_it_passes_over(bundle: Path) -> None:
    (bundle / "metadata" / "annotations.yaml").unlink()
    (bundle / "manifests" / "broken.yaml").write_text("a: [b")
    found = run("plan", bundle, "-o", "json")
    assert found.exit_code == 0
    assert "# manifests/broken.yaml cannot be read: " in found.stderr


def test_what_cannot_be_installed_is_a_negative_answer(bundle: Path) -> None:
    changed(bundle, lambda csv: csv["spec"].update(version=1))
    refused(NEGATIVE, "spec.version: wanted text, got a number", "plan", bundle)


def test_rendering_embeds_the_manifests() -> None:
    blob = json.loads(run("render", TIDE).stdout)
    assert (blob["schema"], blob["name"], blob["package"], blob["image"]) == ("olm.bundle", "tide.v1.0.0", "tide", "")
    objects = [one["value"]["data"] for one in blob["properties"] if one["type"] == "olm.bundle.object"]
    assert {json.loads(base64.b64decode(text))["kind"] for text in objects} >= {"ClusterServiceVersion"}


def test_rendering_may_migrate_and_name_the_image() -> None:
    words = ("--alpha-image-ref-template", "quay.io/acme/{{.Package}}:v{{.Version}}", "--migrate", "-o", "yaml")
    blob = yaml.safe_load(run("render", TIDE, *words).stdout)
    assert blob["image"] == "quay.io/acme/tide:v1.0.0"
    assert [one["type"] for one in blob["properties"]][-1] == "olm.csv.metadata"
    assert {"name": "", "image": blob["image"]} in blob["relatedImages"]


def test_rendering_several_bundles_prints_one_after_the_other(bundle: Path) -> None:
    (bundle / "manifests" / "broken.yaml").write_text("a: [b")
    found = run("render", TIDE, bundle, "-o", "yaml")
    assert len(list(yaml.safe_load_all(found.stdout))) == 2
    assert "# " in found.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-o", "xml"), 'invalid --output value "xml", expected (json|yaml)'),
        (("--migrate", "--migrate-level", "all"), "exclude each other"),
        (("--migrate-level", "bogus"), 'unknown migration level "bogus"'),
        (("--image-ref-template", "{{.Foo}}"), "failed templating image reference from bundle for"),
    ],
)
def test_fbc_md_r237_and_r238_wrong_words_of_render(words: tuple[str, ...], sentence: str) -> None:
    refused(USAGE, sentence, "render", TIDE, *words)


def test_fbc_md_r203_what_is_no_bundle_is_not_rendered(bundle: Path) -> None:
    for path in (bundle / "manifests").iterdir():
        path.unlink()
    refused(NEGATIVE, "no ClusterServiceVersion in manifests/", "render", bundle)


def test_a_description_that_cannot_be_read_is_not_rendered(bundle: Path) -> None:
    changed(bundle, lambda csv: csv["spec"].update(keywords="x"))
    words = ("--migrate", "--image-ref-template", "quay.io/acme/tide:1")
    refused(NEGATIVE, "spec.keywords: wanted a list, got text", "render", bundle, *words)


def test_fbc_md_r239_a_file_is_no_bundle() -> None:
    file = TIDE / "metadata" / "annotations.yaml"
    refused(USAGE, f'ref "{file}" is not a directory: not allowed', "plan", file)
    refused(USAGE, "not allowed", "render", file)


def test_images_are_listed() -> None:
    assert run("images", TIDE).stdout.splitlines()[0].split() == ["IMAGE", "NAME"]
    assert all(one["image"] for one in json.loads(run("images", TIDE, "-o", "json").stdout))


def test_a_sound_bundle_is_valid() -> None:
    found = run("validate", TIDE)
    assert (found.exit_code, found.stdout) == (0, "")
    [row] = json.loads(run("validate", TIDE, "-o", "json").stdout)
    assert (row["path"], row["ok"], row["errors"]) == (str(TIDE), True, [])


def test_an_unsound_bundle_is_reported_with_its_file(bundle: Path) -> None:
    changed(bundle, lambda csv: csv["spec"].update(installModes=[]))
    found = run("validate", bundle, "--optional-validators", "good-practices")
    assert found.exit_code == NEGATIVE
    first, second, *_ = found.stderr.splitlines()
    assert first == "Bundle validation errors: Error: Value : (tide.v1.0.0) install modes not found"
    assert second.startswith("  error: manifests/")
    assert second.endswith(": (tide.v1.0.0) install modes not found")


def test_several_bundles_are_judged_one_by_one(bundle: Path) -> None:
    (bundle / "metadata" / "annotations.yaml").unlink()
    found = run("validate", TIDE, "-t", bundle, "-o", "json")
    assert found.exit_code == NEGATIVE
    assert [row["ok"] for row in json.loads(found.stdout)] == [True, False]
    assert f"{bundle}: Bundle validation errors: " in run("validate", TIDE, bundle).stderr


def test_warnings_about_several_sound_bundles_name_the_bundle(bundle: Path) -> None:
    found = run("validate", bundle, TIDE, "--optional-validators", "community")
    reported = [line.split(": ")[:2] for line in found.stderr.splitlines()]
    assert ["  warning", str(bundle)] in reported
    assert {path for _, path in reported} <= {str(bundle), str(TIDE)}


def test_validators_are_chosen_as_opm_chooses_them(bundle: Path) -> None:
    changed(bundle, lambda csv: csv["spec"].update(provider={}))
    assert "csv.Spec.Provider.Name not specified" in run("validate", bundle, "-o", "operatorhub,unknown").stderr
    words = ("--optional-validators", "all", "--container-tools", "none")
    assert "csv.Spec.Provider.Name not specified" in run("validate", bundle, *words).stderr


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), USAGE, "name a folder or an image to validate"),
        ((TIDE, "-o", "xml"), USAGE, "-o xml: wanted text, json, yaml, or one of bundle, "),
        ((TIDE, "--optional-validators", "bogus,all"), USAGE, "--optional-validators bogus: wanted all, or some of"),
        ((TIDE, "--container-tools", "x"), USAGE, "--container-tools x: wanted docker, podman, none"),
        ((TIDE, "--index-path", "/nowhere/Dockerfile"), UNKNOWN, "--index-path /nowhere/Dockerfile: No such file"),
    ],
)
def test_wrong_words_of_validate(words: tuple[str, ...], code: int, sentence: str) -> None:
    refused(code, sentence, "validate", *words)


def test_fbc_md_11_6_categories_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundle: Path) -> None:
    changed(bundle, lambda csv: csv["metadata"].setdefault("annotations", {}).update(categories="Tea"))
    file = tmp_path / "categories.json"
    monkeypatch.setenv("OPERATOR_BUNDLE_CATEGORIES", str(file))
    refused(UNKNOWN, f"could not extract custom categories from categories {file}", "validate", bundle)
    file.write_text('{"categories": ["Tea"]}')
    assert run("validate", bundle, "--optional-validators", "standardcategories").exit_code == 0
    monkeypatch.delenv("OPERATOR_BUNDLE_CATEGORIES")
    assert run("validate", bundle, "--optional-validators", "standardcategories").exit_code == NEGATIVE


def test_a_file_that_may_not_be_read_is_named(bundle: Path) -> None:
    (bundle / "manifests" / "gone.yaml").symlink_to("nowhere")
    assert run("validate", bundle).exit_code == 0, "a link to nothing is no file"
    (bundle / "manifests").rename(bundle / "elsewhere")
    (bundle / "manifests").symlink_to("manifests")
    refused(UNKNOWN, f"{bundle / 'manifests'}: Too many levels of symbolic links", "plan", bundle)


def test_an_image_that_cannot_be_had_could_not_be_found_out(tmp_path: Path) -> None:
    refused(UNKNOWN, f'failed to pull image "oci:{tmp_path}"', "plan", f"oci:{tmp_path}")


def test_fbc_md_r415_unpacking_into_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    refused(USAGE, f"out {tmp_path / 'x'} is not a directory", "unpack", TIDE, "-o", tmp_path / "x")


def test_unpacking_copies_everything(tmp_path: Path) -> None:
    assert run("unpack", TIDE, "-o", tmp_path / "out").exit_code == 0
    names = {path.relative_to(TIDE) for path in TIDE.rglob("*")}
    assert {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*")} == names


def test_fbc_md_r416_and_r417_what_is_no_bundle_is_unpacked_only_unchecked(bundle: Path, tmp_path: Path) -> None:
    (bundle / "metadata" / "annotations.yaml").unlink()
    (bundle / "metadata").rmdir()
    sentence = "bundle format validation failed: Bundle validation errors: Unable to locate metadata directory"
    refused(NEGATIVE, sentence, "unpack", bundle, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run("unpack", bundle, "-o", tmp_path / "out", "-v").exit_code == 0
    assert (tmp_path / "out" / "manifests").is_dir()


def built(*words: object) -> str:
    found = run("build", *words)
    assert found.exit_code == 0, found.exception
    return found.stdout.strip()


def test_an_image_is_the_same_wherever_it_is_built(bundle: Path, tmp_path: Path) -> None:
    first = built(TIDE, "-t", f"oci:{tmp_path / 'a'}:1")
    second = built("-d", bundle / "manifests", "-t", f"oci:{tmp_path / 'b'}:1")
    assert first.partition("@")[0] == f"oci:{tmp_path / 'a'}"
    assert first.partition("@")[2] == second.partition("@")[2]


def test_what_was_built_is_planned_rendered_and_unpacked_as_its_folder(tmp_path: Path) -> None:
    layout, archive = f"oci:{tmp_path / 'a'}:1", f"docker-archive:{tmp_path / 'a.tar'}"
    assert built(TIDE, "-t", layout)
    assert built(TIDE, "-t", archive).startswith(f"{archive}@sha256:")
    folder = run("plan", TIDE, "-o", "json").stdout
    for image in (layout, str(tmp_path / "a"), archive):
        assert run("plan", image, "-o", "json").stdout == folder
        rendered = json.loads(run("render", image).stdout)
        assert rendered["properties"] == json.loads(run("render", TIDE).stdout)["properties"]
        assert run("validate", image).exit_code == 0
    assert run("unpack", layout, "-o", tmp_path / "out").exit_code == 0
    for path in TIDE.rglob("*.yaml"):
        assert (tmp_path / "out" / path.relative_to(TIDE)).read_bytes() == path.read_bytes()


def test_fbc_md_r274_annotations_that_are_there_must_agree(bundle: Path, tmp_path: Path) -> None:
    tag = f"oci:{tmp_path / 'a'}:1"
    words = 'Expect field "operators.operatorframework.io.bundle.package.v1" to have value "x" instead of "tide"'
    refused(NEGATIVE, words, "build", bundle, "-t", tag, "-p", "x")
    assert built(bundle, "-t", tag, "-p", "x", "-c", "beta", "-e", "beta", "--overwrite")
    blob = json.loads(run("render", tag).stdout)
    assert blob["package"] == "x"


def test_a_bundle_without_a_csv_is_not_built_as_something_else(bundle: Path, tmp_path: Path) -> None:
    for path in (bundle / "manifests").iterdir():
        path.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    desired = "; no file in manifests/ holds a ClusterServiceVersion that can be read; add one"
    refused(NEGATIVE, desired, "build", bundle, "-t", f"oci:{tmp_path / 'a'}:1")


def test_annotations_that_are_missing_are_made(bundle: Path, tmp_path: Path) -> None:
    (bundle / "metadata" / "annotations.yaml").unlink()
    tag = f"oci:{tmp_path / 'a'}:1"
    assert built(bundle, "-t", tag, "-p", "tide", "-c", "stable", "-b", "docker", "-u", tmp_path / "out")
    assert run("validate", tag).exit_code == 0
    assert run("validate", tmp_path / "out").exit_code == 0


def test_what_is_not_sound_is_built_only_unchecked(bundle: Path, tmp_path: Path) -> None:
    changed(bundle, lambda csv: csv["spec"].update(installModes=[]))
    tag = f"oci:{tmp_path / 'a'}:1"
    refused(NEGATIVE, "install modes not found; --skip-validation builds it nevertheless", "build", bundle, "-t", tag)
    assert built(bundle, "-t", tag, "--skip-validation")


def test_a_file_that_no_cluster_takes_is_not_built(bundle: Path, tmp_path: Path) -> None:
    (bundle / "manifests" / "huge.yaml").write_bytes(b"#" * 5_000_000)
    refused(NEGATIVE, "huge.yaml: more than 4194304 bytes", "build", bundle, "-t", f"oci:{tmp_path / 'a'}")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), USAGE, "name the folder of the bundle, and its image with --tag"),
        (("/nowhere", "-t", "oci:x"), USAGE, "/nowhere is no folder"),
        ((TIDE, "-t", "oci:"), USAGE, "'oci:' names no image"),
    ],
)
def test_wrong_words_of_build(words: tuple[str, ...], code: int, sentence: str) -> None:
    refused(code, sentence, "build", *words)


def an_image(tmp_path: Path, labels: dict[str, str]) -> str:
    files = {path.relative_to(TIDE).as_posix(): path for path in TIDE.rglob("*.yaml")}
    save_layout(build(files, labels, tmp_path / "layer"), name := LayoutName(tmp_path / "image", "1"))
    return str(name)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        pytest.param({}, "image type could not be determined: image has no labels", id="fbc.md R242: no labels"),
        pytest.param(
            {"b": "2", "a": "1"},
            "image type could not be determined, found labels\n  a=1\n  b=2",
            id="fbc.md R242: others",
        ),
        pytest.param(
            {"operators.operatorframework.io.index.database.v1": "/x"},
            "sqlite-based index images are no longer supported, migrate to a file-based catalog: not allowed",
            id="fbc.md R243: a database",
        ),
        pytest.param(
            {"operators.operatorframework.io.index.configs.v1": "/manifests", PACKAGE: "tide"},
            "cannot render declarative config image: not allowed",
            id="fbc.md R244: a catalog that is labelled as a bundle, too",
        ),
    ],
)
def test_an_image_of_something_else_is_not_rendered(tmp_path: Path, labels: dict[str, str], sentence: str) -> None:
    image = an_image(tmp_path, labels)
    failure = run("render", image).exception
    assert isinstance(failure, CliError)
    assert sentence in str(failure)
    if "not allowed" in sentence:
        refused(NEGATIVE, "is the image of a catalog, not of a bundle: not allowed", "plan", image)


@pytest.mark.parametrize("verb", ["validate", "render", "plan", "images", "unpack"])
@pytest.mark.parametrize("path", ["/nowhere", "./nowhere", "oci:/nowhere:1", "docker-archive:/nowhere"])
def test_a_path_of_this_machine_is_never_an_image(verb: str, path: str) -> None:
    refused(USAGE, f"{path}: no such file or folder", verb, path)


def test_fbc_md_r245_a_name_without_a_registry_is_refused() -> None:
    refused(USAGE, 'failed to pull image "unknown-index": repository name must be canonical', "render", "unknown-index")


def test_fbc_md_r276_package_and_channels_come_from_what_lies_beside(bundle: Path, tmp_path: Path) -> None:
    (bundle / "metadata" / "annotations.yaml").unlink()
    tag = f"oci:{tmp_path / 'a'}:1"
    sentence = "please manually input channels and packageName, error interpreting bundle from directory"
    refused(NEGATIVE, sentence, "build", bundle, "-t", tag)
    index = bundle.parent / "tide.package.yaml"
    index.write_text("packageName: tide\nchannels: [{name: beta, currentCSV: tide.v2.0.0}]\n")
    refused(NEGATIVE, "please manually input channels instead", "build", bundle, "-t", tag)
    index.write_text("packageName: tide\nchannels: [{name: beta, currentCSV: tide.v1.0.0}]\n")
    assert built(bundle, "-t", tag)
    index.write_text(index.read_text() + "defaultChannel: alpha\n")
    assert '(tide) default channel "alpha" not found in the list' in run("build", bundle, "-t", tag).stderr
    index.write_text(index.read_text().replace("alpha", "beta"))
    assert built(bundle, "-t", f"oci:{tmp_path / 'b'}:1", "-c", "fast", "-u", tmp_path / "out")
    labels = yaml.safe_load((tmp_path / "out" / "metadata" / "annotations.yaml").read_text())["annotations"]
    assert labels["operators.operatorframework.io.bundle.package.v1"] == "tide"
    assert labels["operators.operatorframework.io.bundle.channels.v1"] == "fast"
    assert labels["operators.operatorframework.io.bundle.channel.default.v1"] == "beta"
