"""`olmf catalog validate`, `lint` and `diff` as people and scripts run them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.kit import verbs
from tests.kit.fbc import a_bundle, a_channel, a_package, an_entry, written

SOUND = written(a_package(), a_channel(), a_bundle())
WITHOUT_DEFAULT = written(a_package(defaultChannel=""), a_channel(), a_bundle())


def olmf(*words: str, content: bytes = b"") -> subprocess.CompletedProcess[str]:
    return verbs.olmf("catalog", *words, stdin=content)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    folder = tmp_path / "sound"
    folder.mkdir()
    (folder / "catalog.json").write_bytes(SOUND)
    return folder


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "catalog.json").write_bytes(WITHOUT_DEFAULT)
    return folder


def test_fbc_md_13_2_a_valid_catalog_is_passed_in_silence(sound: Path) -> None:
    done = olmf("validate", str(sound))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fbc_md_13_2_an_invalid_one_is_reported_on_stderr(broken: Path) -> None:
    done = olmf("validate", str(broken))
    tree = 'invalid index:\n└── invalid package "foo":\n    └── default channel must be set'
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{tree} (catalog.json, document 1, line 1)\n"


def test_a_folder_of_bundles_is_reported_in_one_sentence() -> None:
    """Every one of its files would be told to be no part of a catalog."""
    done = olmf("validate", "k8s/samples/bundles")
    output = "`olmf bundle validate k8s/samples/bundles/beacon/1.0.0` judges one of them"
    assert done.returncode == 1
    assert done.stderr.startswith("k8s/samples/bundles holds 7 bundles and no catalog: ")
    assert output in done.stderr
    assert done.stderr.count("\n") == 1


def test_several_paths_are_judged_one_by_one(sound: Path, broken: Path) -> None:
    done = olmf("validate", str(sound), str(broken), "-", "-o", "json", content=b"schema: a\n---\nb: 1\n")
    assert done.returncode == 1
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        {"path": str(sound), "ok": True, "errors": []},
        {
            "path": str(broken),
            "ok": False,
            "errors": [
                {
                    "message": "default channel must be set",
                    "file": "catalog.json",
                    "document": 1,
                    "line": 1,
                    "path": ["invalid index", 'invalid package "foo"'],
                }
            ],
        },
        {
            "path": "-",
            "ok": False,
            "errors": [
                {
                    "message": "object '{\"b\":1}\n' is missing root schema field",
                    "file": "-",
                    "document": 2,
                    "line": 3,
                    "path": [],
                }
            ],
        },
    ]


def test_several_paths_have_headings(sound: Path, broken: Path) -> None:
    assert olmf("validate", str(sound), str(broken)).stderr.startswith(f"{broken}:\ninvalid index:\n")
    assert olmf("validate", str(sound), str(sound)).returncode == 0


def test_fbc_md_r344_an_unknown_form_is_refused(sound: Path) -> None:
    done = olmf("validate", str(sound), "-o", "xml")
    output = 'olmf: invalid --output value "xml", expected (json|yaml|opm|text)\n'
    assert (done.returncode, done.stderr) == (2, output)


@pytest.mark.parametrize(("form", "passed"), [("opm", '{\n  "passed": true\n}\n'), ("yaml", "passed: true\n\n")])
def test_fbc_md_r343_what_opm_prints_is_printed_where_that_is_wanted(
    sound: Path, broken: Path, form: str, passed: str
) -> None:
    done = olmf("validate", str(sound), "-o", form)
    assert (done.returncode, done.stdout, done.stderr) == (0, passed, "")
    done = olmf("validate", str(broken), "-o", form)
    assert (done.returncode, done.stderr) == (1, "")
    reported = yaml.safe_load(done.stdout)  # which reads JSON, too
    tree = 'invalid index:\n└── invalid package "foo":\n    └── default channel must be set'
    assert (reported["passed"], reported["error"]["message"]) == (False, tree)
    assert [(one["file"], one["line"]) for one in reported["error"]["findings"]] == [("catalog.json", 1)]
    assert [one["passed"] for one in yaml.safe_load_all(olmf("validate", str(sound), "-", "-o", "yaml").stdout)] == [
        True, True,
    ]  # fmt: skip


def test_an_image_that_cannot_be_had_is_not_judged(tmp_path: Path) -> None:
    done = olmf("validate", f"oci:{tmp_path}", "-o", "json")
    assert done.returncode == 3
    assert not json.loads(done.stdout)[0]["ok"]


@pytest.mark.parametrize("path", ["oci:/nothing", "docker-archive:/nothing", "/nothing", "nginx:1.2"])
def test_fbc_md_13_2_a_path_that_names_nothing_is_no_valid_catalog(path: str) -> None:
    done = olmf("validate", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"read {path}: no such file or directory" in done.stderr


def test_advice_is_a_table_or_a_list(sound: Path) -> None:
    done = olmf("lint", str(sound))
    assert (done.returncode, done.stderr) == (0, "")
    assert "unpinned-image" in done.stdout
    (advice,) = json.loads(olmf("lint", str(sound), "-o", "json").stdout)
    assert (advice["file"], advice["document"]) == ("catalog.json", 3)


def test_what_is_not_valid_gets_no_advice(broken: Path) -> None:
    done = olmf("lint", str(broken))
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "is no valid catalog: default channel must be set (catalog.json, document 1, line 1); `olmf catalog validate"
        in done.stderr
    )


def test_a_comparison_fails_when_somebody_loses(sound: Path, broken: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.json"
    entries = an_entry("foo.v0.1.0"), an_entry("foo.v0.2.0", "foo.v0.1.0")
    newer.write_bytes(written(a_package(), a_channel("alpha", *entries), a_bundle(), a_bundle("foo.v0.2.0", "0.2.0")))
    gained = olmf("diff", str(sound), str(newer), "-o", "json")
    assert (gained.returncode, [one["kind"] for one in json.loads(gained.stdout)]) == (0, ["gained", "changed"])
    assert olmf("diff", str(newer), str(sound)).returncode == 1
    refused = olmf("diff", str(sound), str(broken))
    assert (refused.returncode, "is no valid catalog: default channel must be set" in refused.stderr) == (1, True)


@pytest.mark.parametrize("verb", [["render"], ["lint"], ["list", "packages"], ["graph"], ["cache", "fill"], ["serve"]])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("./nothing", "./nothing: no such file or folder", id="a path"),
        pytest.param("nothing", "nor is there a file or folder of this name", id="a word"),
    ],
)
def test_every_verb_reports_in_the_same_way_that_nothing_has_a_name(verb: list[str], path: str, why: str) -> None:
    done = olmf(*verb, path)
    assert (done.returncode, why in done.stderr) == (2, True)


def test_validate_ends_with_the_code_of_opm_where_nothing_has_a_name() -> None:
    assert [olmf("validate", path).returncode for path in ("./nothing", "nothing")] == [1, 1]
