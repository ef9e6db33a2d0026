"""`olmf graph`: the same picture as `olmf catalog graph`, of one package, and nodes and edges for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.main import app
from eventing.diagnosis.catalogs import readers_of, unread_catalogs
from shared.adapters.kube import KubeClient
from tests.domain.resolver.scenery import (
    entry,
    line,
    package,
    releases,
)
from tests.kit.cluster import FakeCluster

TEA = package("tea", [entry("tea.v3", "tea.v2", skips=["tea.v1"], skip_range=">=1.0.0 <3.0.0"), *line("tea", 2)])
OLD = {"schema": "olm.bundle", "name": "tea.v1"}
DEPRECATED = {"schema": "olm.deprecations", "package": "tea", "entries": [{"reference": OLD, "message": "too old"}]}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of catalogs goes to a folder of the test."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    """A folder with the packages tea and milk."""
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "catalog.yaml").write_text(yaml.safe_dump_all([*TEA, DEPRECATED, *releases("milk", 2)]))
    return str(tmp_path / "cat")


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_the_picture_is_that_of_the_catalog_with_one_package(catalog: str) -> None:
    for form in ("mermaid", "svg"):
        drawn = olmf("graph", "tea", "--catalog", catalog, f"--{form}")
        whole = olmf("catalog", "graph", catalog, "-p", "tea", "--draw-v0-semantics", "-o", form)
        assert drawn.exit_code == 0
        assert drawn.stdout == whole.stdout
        assert "milk" not in drawn.stdout
    words = "graph", "tea", "--catalog", catalog
    assert olmf(*words).stdout == olmf(*words, "--mermaid").stdout == olmf(*words, "-o", "mermaid").stdout
    assert olmf(*words, "-o", "dot").stdout.startswith("digraph")
    assert olmf(*words, "-o", "json").stdout == olmf(*words, "-o", "json", "--json").stdout


def test_programs_get_nodes_and_edges(catalog: str) -> None:
    reported = json.loads(olmf("graph", "tea", "--catalog", catalog, "--json").stdout)
    assert (reported["package"], reported["defaultChannel"], reported["deprecated"]) == ("tea", "stable", False)
    (channel,) = reported["channels"]
    assert (channel["name"], channel["heads"]) == ("stable", ["tea.v3"])
    assert [(one["name"], one["version"], one["deprecated"], one["skipped"]) for one in channel["nodes"]] == [
        ("tea.v3", "3.0.0", False, False), ("tea.v2", "2.0.0", False, False), ("tea.v1", "1.0.0", True, True),
    ]  # fmt: skip
    assert {(one["from"], one["to"], one["kind"]) for one in channel["edges"]} == {
        ("tea.v1", "tea.v3", "skip"), ("tea.v1", "tea.v3", "skipRange"), ("tea.v2", "tea.v3", "skipRange"),
        ("tea.v2", "tea.v3", "replace"), ("tea.v1", "tea.v2", "replace"),
    }  # fmt: skip


def test_the_flow_is_drawn_without_a_package() -> None:
    assert olmf("graph", "--flow").stdout.startswith("flowchart LR\n")


def test_of_a_cluster_the_catalogs_that_were_read_count() -> None:
    kind = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "spec": {"image": "q.io/a:1"}}
    read = {"connectionState": {"address": "q.io/a@sha256:0"}}
    sources = [
        {**kind, "metadata": {"name": "new", "namespace": "olm"}},
        {**kind, "metadata": {"name": "old", "namespace": "olm"}, "status": read},
        {**kind, "metadata": {"name": "own", "namespace": "team"}, "status": read, "spec": {"priority": 7}},
    ]
    found = readers_of(cast("KubeClient", FakeCluster()), sources)
    assert list(map(str, found)) == ["team/own", "olm/old"], "the highest priority first"
    assert list(map(str, unread_catalogs(sources))) == ["olm/new"]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        pytest.param(("graph",), USAGE, "`olmf graph PACKAGE`", id="nothing to draw"),
        pytest.param(("graph", "tea", "--flow"), USAGE, "`olmf graph PACKAGE`", id="two things to draw"),
        pytest.param(("graph", "tea", "--svg", "--json"), USAGE, "wanted one of", id="two languages"),
        pytest.param(("graph", "tea", "-o", "dot", "--svg"), USAGE, "wanted one of", id="a third one"),
        pytest.param(("graph", "tea", "-o", "xml"), USAGE, "expected (mermaid|dot|svg|json)", id="no language"),
        pytest.param(("graph", "soup", "--catalog", "CAT"), NEGATIVE, "no catalog has package soup", id="no package"),
    ],
)
def test_a_wrong_word_is_answered_by_what_to_do(words: tuple[str, ...], code: int, why: str, catalog: str) -> None:
    error = olmf(*(word.replace("CAT", catalog) for word in words)).exception
    assert isinstance(error, CliError)
    assert (error.code, why in str(error)) == (code, True), str(error)
