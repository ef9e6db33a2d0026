"""`olmf extension render`: one bundle in words, or many questions line by line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import NotRenderedError, RenderOptions
from shared.domain.extension.render.render import render
from tests.domain.extension.render.bundles import a_csv, a_permission, a_webhook, files
from tests.kit import verbs
from tests.kit.real_bundles import extracted, needs_real_bundles

LARGE = 400_000


def olmf(*words: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return verbs.olmf("extension", "render", *words, stdin=lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, content in files(a_csv(strategy={"clusterPermissions": [a_permission()]})).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    return tmp_path


KINDS = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]


def test_objects_are_printed_as_yaml_or_json(folder: Path) -> None:
    words = (str(folder), "--install-namespace", "ops")
    in_yaml = list(yaml.safe_load_all(olmf(*words).stdout))
    assert [one["kind"] for one in in_yaml] == KINDS
    assert json.loads(olmf(*words, "-o", "json").stdout) == in_yaml


def test_a_configuration_comes_from_a_file_and_gates_from_a_list(folder: Path) -> None:
    config = folder / "config.yaml"
    config.write_text("deploymentConfig: {nodeSelector: {a: b}}\n")
    words = (str(folder), "--install-namespace", "ops", "--config", str(config))
    refused = olmf(*words, "--feature-gates", "DeploymentConfig=false")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert 'unknown field "deploymentConfig"' in refused.stderr
    manifests = list(yaml.safe_load_all(olmf(*words, "--feature-gates", "DeploymentConfig=true").stdout))
    assert manifests[-1]["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}


@pytest.mark.parametrize(
    ("words", "code", "output"),
    [
        ([], 2, "name a bundle and --install-namespace"),
        (["x", "--install-namespace", "ops", "-o", "table"], 2, "wanted yaml or json"),
        (["x", "--install-namespace", "ops", "--feature-gates", "A"], 2, "wanted NAME=true or NAME=false"),
        (["x", "--install-namespace", "ops", "--cert-provider", "magic"], 2, "certProvider 'magic' is not known"),
        (["x", "--install-namespace", "ops", "--config", "/nowhere"], 3, "No such file"),
    ],
)
def test_bad_words_are_refused_with_what_is_expected(words: list[str], code: int, output: str) -> None:
    answer = olmf(*words)
    assert answer.returncode == code
    assert output in answer.stderr


def test_a_bundle_with_webhooks_is_refused_with_a_way_out_in_words_only(tmp_path: Path) -> None:
    texts = {path: content.decode() for path, content in files(a_csv(webhookdefinitions=[a_webhook()])).items()}
    for path, content in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    output = "unsupported bundle: webhookDefinitions are not supported"
    refused = olmf(str(tmp_path), "--install-namespace", "ops")
    assert refused.returncode == 1
    assert f"{output}; they are with --cert-provider cert-manager (or openshift-service-ca)" in refused.stderr
    answer = olmf("--batch", lines=json.dumps({"files": texts, "installNamespace": "ops"}))
    assert json.loads(answer.stdout) == {"error": output, "terminal": False}


def test_a_batch_is_answered_in_order_and_a_bad_line_spoils_no_other(folder: Path) -> None:
    texts = {path: content.decode() for path, content in files().items()}
    requests: list[Any] = [
        {"id": 1, "dir": str(folder), "installNamespace": "ops", "config": None, "certProvider": "none", "gates": {}},
        {"id": 2, "files": texts, "installNamespace": "ops", "config": {"x": 1}},
        {"id": 3, "files": {}},
        {"id": 4},
        {"id": 5, "dir": str(folder / "gone")},
        {"id": 6, "files": {"a": 1}},
        {"id": 7, "files": texts, "gates": []},
    ]
    lines = "\n".join(map(json.dumps, requests)) + "\nnonsense\n"
    answers = [json.loads(line) for line in olmf("--batch", lines=lines).stdout.splitlines()]
    assert [one["kind"] for one in answers[0]["objects"]] == KINDS
    assert set(answers[0]["objects"][0]) == {"apiVersion", "kind", "namespace", "name", "manifest"}
    unknown = 'invalid ClusterExtension configuration: invalid configuration: unknown field "x"'
    assert answers[1:4] == [
        {"id": 2, "error": f"terminal error: {unknown}", "terminal": True},
        {"id": 3, "error": "open metadata/annotations.yaml: file does not exist", "terminal": False},
        {"id": 4, "error": 'a request needs "dir" or "files"'},
    ]
    assert [list(one) for one in answers[4:]] == [["id", "error"]] * 3 + [["error"]]


def real_bundles(folder: Path) -> list[Path]:
    """One of each package; the largest ones take seconds to read."""
    found = {path.parent.name: path for path in sorted(folder.glob("*/*"))}
    return [path for path in found.values() if sum(one.stat().st_size for one in path.glob("*/*")) < LARGE]


@needs_real_bundles
def test_every_real_bundle_renders_or_reports_why(tmp_path: Path) -> None:
    options = RenderOptions("ops", None, "cert-manager")
    refusals = set()
    found = real_bundles(extracted(tmp_path))
    assert len(found) > 10
    for path in found:
        paths = [*path.glob("manifests/*"), *path.glob("metadata/*")]
        bundle = load({one.relative_to(path).as_posix(): one.read_bytes() for one in paths})
        try:
            assert render(bundle, options) == render(bundle, options)
        except NotRenderedError as error:
            refusals.add(str(error))
    assert refusals <= {"unsupported bundle: bundle does not support AllNamespaces install mode"}
