"""The verbs that print catalogs: what they take, what they print, how they end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from eventing.cli.failure import CliError
from eventing.cli.main import app
from tests.domain.authoring.catalogs import WRITTEN
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry

SAMPLES = Path(__file__).parents[3] / "k8s" / "samples" / "bundles"
CHANNELS = "PACKAGE  CHANNEL  HEAD\nsteps    low      s.v2\nsteps    main     s.v4\n"


@dataclass(frozen=True)
class Done:
    """How a verb ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def olmf(*words: str, content: bytes = b"") -> Done:
    """Run a verb in this process, and end as `eventing.cli.main` ends: an error is a sentence and an exit code."""
    result = CliRunner().invoke(app, ["catalog", *words], input=content)
    if isinstance(result.exception, CliError):
        return Done(result.exception.code, result.stdout_bytes, f"olmf: {result.exception}\n".encode())
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout_bytes, result.stderr_bytes or b"")


def printed(*words: str, content: bytes = b"") -> str:
    done = olmf(*words, content=content)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refused(done: Done, code: int, sentence: str) -> None:
    output = done.stderr.decode()
    assert (done.returncode, sentence in output) == (code, True), output


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of catalogs belongs to one test."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "kept"))


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """A valid catalog."""
    content = (WRITTEN / "steps.yaml").read_text().replace('- {name: s.v1, skipRange: "nonsense"}', "- {name: s.v1}")
    content = content.replace("skips: [s.v2, s.v1]", "skips: [s.v2]")
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "catalog.yaml").write_text(content)
    return folder


@pytest.fixture
def bundle() -> Path:
    return next(path.parent for path in sorted(SAMPLES.rglob("manifests")))


def test_r227_a_catalog_is_rendered_from_a_folder_a_file_and_stdin(tmp_path: Path) -> None:
    shutil.copy(WRITTEN / "tea.yaml", tmp_path)
    want = (WRITTEN / "tea.stream.yaml").read_text()
    assert printed("render", str(tmp_path), "-o", "yaml") == want
    assert printed("render", str(tmp_path / "tea.yaml"), "-o", "yaml") == want
    assert printed("render", "-", "-o", "yaml", content=(WRITTEN / "tea.yaml").read_bytes()) == want


def test_r230_r231_a_bundle_is_rendered_from_a_folder(bundle: Path) -> None:
    plain = json.loads(printed("render", str(bundle)))
    named = json.loads(printed("render", str(bundle), "--image-ref-template", "quay.io/{{.Package}}:{{.Version}}"))
    version = next(one["value"]["version"] for one in plain["properties"] if one["type"] == "olm.package")
    assert plain["image"] == ""
    assert named["image"] == f"quay.io/{plain['package']}:{version}"
    assert named["image"] in [one["image"] for one in named["relatedImages"]]


def test_r232_a_rendered_bundle_may_be_migrated(bundle: Path) -> None:
    words = ("render", str(bundle), "--image-ref-template", "quay.io/{{.Name}}")
    for migrated in (printed(*words, "--migrate"), printed(*words, "--migrate-level", "all")):
        kinds = [one["type"] for one in json.loads(migrated)["properties"]]
        assert kinds[-1] == "olm.csv.metadata"
        assert "olm.bundle.object" not in kinds


def test_r247_references_are_rendered_one_after_the_other(steps: Path) -> None:
    twice = printed("render", str(steps), str(steps))
    assert twice.count('"name": "s.v4",\n    "package"') == 2


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        pytest.param(["render", "-", "-o", "xml"], 2, 'invalid --output value "xml", expected (json|yaml)', id="R344"),
        pytest.param(["render", "-", "--migrate", "--migrate-level", "none"], 2, "exclude each other", id="R345"),
        pytest.param(["render", "-", "--migrate-level", "bogus"], 2, 'unknown migration level "bogus"', id="R237"),
        pytest.param(["render", "-", "--image-ref-template", "{{.Foo"], 2, "invalid image reference template: ",
                     id="R238: not closed"),
        pytest.param(["render", "BUNDLE", "--image-ref-template", "{{.Foo}}"], 2, "failed templating image reference "
                     "from bundle for ", id="R238: unknown word"),
        pytest.param(["render", "unknown-index"], 2, 'render reference "unknown-index": failed to pull image '
                     '"unknown-index": repository name must be canonical', id="R245"),
        pytest.param(["render", "-"], 1, 'render reference "-": ', id="no catalog"),
        pytest.param(["render", ""], 2, 'render reference "": failed to pull image "": invalid reference format',
                     id="no name"),
        pytest.param(["list", "packages", "BUNDLE"], 2, 'cannot list non-index "', id="R336"),
        pytest.param(["list", "bundles", "STEPS", "unknown"], 1, 'package "unknown" not found', id="R335"),
        pytest.param(["list", "packages", "-"], 1, "missing root schema field", id="a list of no catalog"),
        pytest.param(["list", "packages", "-", "-o", "xml"], 2, "expected (table|json|yaml)", id="a list as XML"),
        pytest.param(["head", "STEPS", "steps", "none"], 1, 'package "steps" has no channel "none"; it has low, main',
                     id="no channel"),
        pytest.param(["graph", "STEPS", "--minimum-edge", "x"], 1, 'unknown minimum edge name: "x"', id="R350"),
        pytest.param(["graph", "STEPS", "-o", "png"], 2, "expected (mermaid|dot|svg)", id="a graph as PNG"),
        pytest.param(["graph", "BUNDLE"], 2, "cannot render bundle directory", id="R240"),
        pytest.param(["migrate", "STEPS", "STEPS"], 2, "must be empty", id="R251"),
        pytest.param(["migrate", "BUNDLE", "NEW"], 2, 'render catalog image: render reference "', id="R250"),
        pytest.param(["init", "tea", "-i", "NEW"], 3, "open icon file: ", id="R338: icon"),
        pytest.param(["init", "tea", "-d", "NEW"], 3, "open description file: ", id="R338: description"),
        pytest.param(["init", ""], 2, "a package needs a name", id="fbc.md 13.9: no name"),
        pytest.param(["template", "render", "wrong", "NEW"], 2, 'invalid template type "wrong", must be one of: '
                     "[basic semver substitutes]", id="fbc.md 13.7: unknown type"),
        pytest.param(["template", "render", "NEW"], 2, 'unable to open "', id="fbc.md 13.7: no file"),
        pytest.param(["template", "render"], 1, "auto-detecting template type: ", id="R295"),
        pytest.param(["template", "basic"], 1, "rendering template: template has unknown schema", id="R295: basic"),
        pytest.param(["template", "convert", "semver", "-"], 2, "wanted basic or substitutes", id="no such conversion"),
        pytest.param(["template", "convert", "basic", "-"], 1, "converting: ", id="a conversion of no catalog"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_reported_in_a_sentence(
    words: list[str], code: int, sentence: str, *, steps: Path, bundle: Path, tmp_path: Path
) -> None:
    places = {"STEPS": str(steps), "BUNDLE": str(bundle), "NEW": str(tmp_path / "new")}
    refused(olmf(*(places.get(word, word) for word in words), content=b"a: b\n"), code, sentence)
    assert not (tmp_path / "new").exists()


def test_r332_r333_r334_a_catalog_is_listed_as_opm_lists_it(steps: Path) -> None:
    assert (
        printed("list", "packages", str(steps)) == "NAME   DISPLAY NAME  DEFAULT CHANNEL\nsteps                main\n"
    )
    assert printed("list", "channels", str(steps)) == CHANNELS
    lines = printed("list", "bundles", str(steps), "steps").splitlines()
    assert lines[0].split("  ")[0] == "PACKAGE"
    assert lines[-1] == "steps    main     s.v4    s.v3      s.v2                          a/b:4"
    rows = json.loads(printed("list", "bundles", str(steps), "-o", "json"))
    assert (rows[-2]["skips"], rows[-2]["skipRange"]) == (["s.v1", "s.ghost"], ">=1.0.0 <3.0.0")


def test_the_head_of_a_channel_is_printed(steps: Path) -> None:
    assert printed("head", str(steps), "steps") == "s.v4\n"
    assert printed("head", str(steps), "steps", "low") == "s.v2\n"


def test_r347_the_graph_is_drawn_in_three_languages(tmp_path: Path) -> None:
    file = str(WRITTEN / "tea.yaml")
    assert printed("graph", file) == (WRITTEN / "tea.plain.mmd").read_text()
    assert printed("graph", file, "--draw-v0-semantics") == (WRITTEN / "tea.v0.mmd").read_text()
    assert printed("graph", file, "-p", "tea", "-o", "dot").startswith("digraph")
    assert printed("graph", file, "-o", "svg").startswith("<svg")


def test_r352_a_range_that_is_none_is_reported_and_the_rest_is_drawn() -> None:
    done = olmf("graph", str(WRITTEN / "steps.yaml"))
    assert done.returncode == 0
    assert done.stderr.startswith(b'warning: ignoring invalid SkipRange for package/edge "steps"/"s.v1": ')


def test_r337_init_prints_a_package(tmp_path: Path) -> None:
    icon, description = tmp_path / "icon.png", tmp_path / "README.md"
    icon.write_bytes(b"\x89PNG")
    description.write_text("Hot.\n")
    text = printed("init", "tea", "-c", "stable", "-i", str(icon), "-d", str(description), "-o", "yaml")
    assert text == (
        "---\ndefaultChannel: stable\ndescription: |\n  Hot.\nicon:\n  base64data: iVBORw==\n  mediatype: image/png\n"
        "name: tea\nschema: olm.package\n"
    )
    refused(olmf("init", "tea", "-i", str(description)), 1, 'detected invalid type "": not an image')


def test_r248_a_catalog_is_written_with_one_file_for_each_package(tmp_path: Path) -> None:
    done = olmf("migrate", str(WRITTEN / "tea.yaml"), str(tmp_path / "new"), "-o", "yaml", "--migrate-level", "all")
    assert done.returncode == 0, done.stderr
    found = sorted(
        path.relative_to(tmp_path / "new").as_posix() for path in (tmp_path / "new").rglob("*") if path.is_file()
    )
    assert found == ["catalog.yaml", "cup/catalog.yaml", "tea/catalog.yaml"]
    again = printed("render", str(tmp_path / "new"), "-o", "yaml")
    assert again == (WRITTEN / "tea.stream.yaml").read_text()
    assert b'wrote rendered file-based catalog to "' in done.stderr


def test_r191_r192_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    away = b"schema: acme.note\npackage: ../x\n"
    refused(olmf("migrate", "-", str(tmp_path / "new"), content=away), 1, "must be a single local path element")
    lost = b"schema: olm.bundle\nname: b\n"
    refused(olmf("render", "-", content=lost), 1, 'olm.bundle "b" names no package')


def test_r298_r330_a_template_is_rendered_from_bundles_on_this_machine(bundle: Path) -> None:
    template = yaml.safe_dump(
        {"schema": "olm.template.basic", "entries": [{"schema": "olm.bundle", "image": str(bundle)}]}
    ).encode()
    found = [json.loads(printed("template", *words, content=template)) for words in (["basic"], ["render"])]
    assert found[0]["schema"] == "olm.bundle"
    assert found[0] == found[1] == json.loads(printed("template", "render", "basic", "-", content=template))
    assert found[0] == json.loads(printed("render", str(bundle)))


_NAMED = ("--image-ref-template", "quay.io/acme/{{.Package}}:v{{.Version}}")


def test_fbc_md_10_4_a_template_never_writes_a_folder_as_an_image(bundle: Path, tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    entries = [{"schema": "olm.bundle", "image": str(bundle)}]
    template.write_text(yaml.safe_dump({"schema": "olm.template.basic", "entries": entries}))
    assert str(bundle) not in printed("template", "basic", str(template))
    named = json.loads(printed("template", "basic", str(template), "--migrate-level", "all", *_NAMED))
    assert named == json.loads(printed("render", str(bundle), "--migrate", *_NAMED))
    assert named["image"].startswith("quay.io/acme/")
    assert named["image"] in [one["image"] for one in named["relatedImages"]]


@pytest.mark.parametrize(
    ("flags", "is_named"), [pytest.param((), False, id="inline"), pytest.param(_NAMED, True, id="by its image")]
)
def test_fbc_md_12_4_a_folder_substitutes_a_bundle(bundle: Path, flags: tuple[str, ...], *, is_named: bool) -> None:
    new = json.loads(printed("render", str(bundle), *_NAMED))
    value = {"packageName": new["package"], "version": "0.0.1"}
    old = {**new, "name": "old", "properties": [{"type": "olm.package", "value": value}]}
    package = {"schema": "olm.package", "name": new["package"], "defaultChannel": "a"}
    channel = {"schema": "olm.channel", "name": "a", "package": new["package"], "entries": [{"name": "old"}]}
    swap = {"name": str(bundle), "base": "old"}
    template = {"schema": "olm.template.substitutes", "entries": [package, channel, old], "substitutions": [swap]}
    made = printed("template", "substitutes", "-o", "yaml", *flags, content=json.dumps(template).encode())
    found = {one["name"]: one for one in yaml.safe_load_all(made) if one["schema"] == "olm.bundle"}
    assert found[new["name"]]["image"] == (new["image"] if is_named else "")


def test_fbc_md_r238_a_template_of_images_that_is_not_closed_is_refused(bundle: Path) -> None:
    for words in (["template", "basic"], ["template", "render"]):
        refused(olmf(*words, "--image-ref-template", "{{.Foo"), 2, "invalid image reference template: ")


def test_fbc_md_10_4_an_image_on_this_machine_is_no_image_of_a_catalog(bundle: Path, tmp_path: Path) -> None:
    layout = f"oci:{tmp_path / 'layout'}"
    assert CliRunner().invoke(app, ["bundle", "build", str(bundle), "--tag", layout]).exit_code == 0
    for reference in (layout, str(tmp_path / "layout")):
        assert json.loads(printed("render", reference)) == json.loads(printed("render", str(bundle)))
        assert json.loads(printed("render", reference, *_NAMED))["image"].startswith("quay.io/acme/")


def test_r309_r318_channels_are_made_from_versions(bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "template.yaml"
    file.write_text(yaml.safe_dump({"schema": "olm.semver", "stable": {"bundles": [{"image": str(bundle)}]}}))
    text = printed("template", "semver", str(file), "-o", "yaml", "--migrate-level", "all", *_NAMED)
    package, channel, rendered = yaml.safe_load_all(text)
    assert package["defaultChannel"] == channel["name"]
    assert channel["entries"] == [{"name": rendered["name"]}]
    assert printed("template", "render", str(file), "-o", "mermaid").startswith("graph LR\n")


def test_fbc_12_4_a_catalog_without_substitutions_stays(steps: Path) -> None:
    template = printed("template", "convert", "substitutes", str(steps), "-o", "yaml")
    made = printed("template", "substitutes", "-o", "yaml", content=template.encode())
    assert made == printed("render", str(steps), "-o", "yaml")


def test_r331_a_catalog_on_stdin_becomes_a_template(steps: Path) -> None:
    content = (steps / "catalog.yaml").read_bytes()
    template = json.loads(printed("template", "convert", "basic", content=content))
    assert {"schema": "olm.bundle", "image": "a/b:1"} in template["entries"]


def a_plan(folder: Path, builder: str, source: str) -> tuple[str, ...]:
    """The two files of a composite template with one component, as words of the command line."""
    catalogs = {"name": "main", "destination": {"workingDir": str(folder / "work")}, "builders": [builder]}
    template = {"schema": builder, "config": {"input": source, "output": "catalog.yaml"}}
    component = {"name": "main", "destination": {"path": "steps"}, "strategy": {"template": template}}
    files = {
        "-f": {"schema": "olm.composite.catalogs", "catalogs": [catalogs]},
        "-c": {"schema": "olm.composite", "components": [component]},
    }
    words = ["template", "composite", "-o", "yaml"]
    for flag, content in files.items():
        place = folder / f"plan{flag}.yaml"
        place.write_text(yaml.safe_dump(content))
        words += [flag, str(place)]
    return tuple(words)


def test_fbc_12_5_a_package_is_built_into_a_catalog(steps: Path, tmp_path: Path) -> None:
    assert printed(*a_plan(tmp_path, "olm.builder.raw", "steps/catalog.yaml")) == ""
    made = (tmp_path / "work" / "steps" / "catalog.yaml").read_text()
    assert made == printed("render", str(steps), "-o", "yaml")


def test_fbc_12_5_a_catalog_that_is_not_valid_is_reported(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text("schema: olm.template.basic\nentries: [{schema: olm.package, name: tea}]\n")
    plan = a_plan(tmp_path, "olm.builder.basic", "short.yaml")
    refused(olmf(*plan), 1, 'validating component "main": validation failure in path "')
    assert olmf(*plan, "--no-validate").returncode == 0


def test_fbc_12_5_what_is_not_there_is_reported(tmp_path: Path) -> None:
    for builder in ("olm.builder.raw", "olm.builder.semver"):
        refused(olmf(*a_plan(tmp_path, builder, "absent.yaml")), 3, 'building component "main": ')
    refused(olmf("template", "composite", "-f", str(tmp_path / "no")), 3, 'opening catalog config file "')
    refused(olmf(*a_plan(tmp_path, "olm.builder.custom", "x")), 1, "commands are not run for you")


BUNDLE_LABEL = "operators.operatorframework.io.bundle.package.v1"
CATALOG_LABEL = "operators.operatorframework.io.index.configs.v1"


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as found:
        yield found


def an_image(registry: ScriptedRegistry, folder: Path, labels: dict[str, str], *, below: str = "") -> str:
    """Publish the files of a folder as an image; its name."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    entries = [a_file(f"{below}{path.relative_to(folder).as_posix()}", path.read_bytes()) for path in paths]
    registry.put("some", "v1", [a_layer(*entries)], labels)
    return f"{registry.address}/some:v1"


@pytest.mark.parametrize("flags", [[], ["--use-http"], ["--skip-tls-verify"]])
def test_r228_r229_a_bundle_is_rendered_from_an_image(
    registry: ScriptedRegistry, bundle: Path, flags: list[str]
) -> None:
    image = an_image(registry, bundle, {BUNDLE_LABEL: "x"})
    assert printed("render", image, *flags) == printed("render", str(bundle), "--image-ref-template", image)


def test_r227_r244_a_catalog_is_rendered_and_listed_from_an_image(registry: ScriptedRegistry, steps: Path) -> None:
    image = an_image(registry, steps, {CATALOG_LABEL: "/configs", BUNDLE_LABEL: "x"}, below="configs/")
    assert printed("render", image) == printed("render", str(steps))
    assert printed("list", "channels", image) == CHANNELS
    assert printed("validate", image, "--use-http") == ""
    assert "RULE" in printed("lint", image, "--skip-tls-verify")


def test_r298_the_images_of_a_template_are_pulled(registry: ScriptedRegistry, bundle: Path) -> None:
    image = an_image(registry, bundle, {BUNDLE_LABEL: "x"})
    template = json.dumps({"schema": "olm.template.basic", "entries": [{"schema": "olm.bundle", "image": image}]})
    assert printed("template", "basic", content=template.encode()) == printed("render", image)


@pytest.mark.parametrize(
    ("labels", "code", "sentence"),
    [
        pytest.param({}, 1, "image type could not be determined: image has no labels", id="R242: no labels"),
        pytest.param({"b": "1", "a": "2"}, 1, "image type could not be determined, found labels\n  a=2\n  b=1",
                     id="R242"),
        pytest.param({"operators.operatorframework.io.index.database.v1": "/db"}, 2, "sqlite-based index images are no "
                     "longer supported, migrate to a file-based catalog: not allowed", id="R243"),
    ],
)  # fmt: skip
def test_an_image_of_no_kind_is_reported(
    registry: ScriptedRegistry, steps: Path, labels: dict[str, str], code: int, sentence: str
) -> None:
    image = an_image(registry, steps, labels)
    refused(olmf("render", image), code, f'render reference "{image}": render "{image}": {sentence}')


def test_r249_a_bundle_image_is_not_migrated(registry: ScriptedRegistry, bundle: Path, tmp_path: Path) -> None:
    image = an_image(registry, bundle, {BUNDLE_LABEL: "x"})
    refused(olmf("migrate", image, str(tmp_path / "new")), 2, "cannot render bundle image: not allowed")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--use-http", "--skip-tls-verify"], "--use-http and --skip-tls-verify cannot both be true"),
        (["--use-http", "--skip-tls"], "cannot use --use-http with --skip-tls"),
        (["--skip-tls-verify", "--skip-tls"], "cannot use --skip-tls-verify with --skip-tls"),
    ],
    ids=lambda value: f"R346: {' '.join(value)}" if isinstance(value, list) else "",
)
def test_flags_that_contradict_each_other_are_refused(flags: list[str], sentence: str) -> None:
    refused(olmf("render", "-", *flags), 2, f"invalid flag combination: {sentence}")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_issue_4_5_a_document_that_is_nested_too_deeply_is_reported(form: str) -> None:
    deep = b'{"schema": "a", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    refused(olmf("render", "-", "-o", form, content=deep), 1, "nested too deeply")


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        pytest.param(["render"], 3, id="render"),
        pytest.param(["graph"], 3, id="graph"),
        pytest.param(["list", "packages"], 1, id="list judges the catalog first"),
        pytest.param(["template", "convert", "basic"], 3, id="convert"),
    ],
)
def test_fbc_3_a_file_that_cannot_be_read_is_reported(verb: list[str], code: int, tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    refused(olmf(*verb, str(tmp_path)), code, f"read {tmp_path / 'gone.yaml'}: no such file or directory")
