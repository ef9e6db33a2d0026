"""A step for a kind that nothing watched is a file and two lines: rights, audit, caches, Knative's objects follow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
KIND = 'GREETING = watched(Kind("example.com/v1", "Greeting", "greetings"))\n'
ROUTE = '    Route(kinds.GREETING, "operator_group/greet_group", itself, present),\n'
READ, WATCH = ["get", "list"], ["get", "list", "watch"]
PROBE = """
import inspect, json, sys
from types import SimpleNamespace
from eventing.deploy import knative, rbac
from eventing.deploy.flow_chart import mermaid
from eventing.runner.steps import Steps
from eventing.watch.program import run
from functions.maintenance.audit_cluster import audit_cluster
from shared import kinds

ref = kinds.GREETING.ref("hello", "ns")
inventory = SimpleNamespace(versions=lambda kind, labels: [(ref, "1")] if kind == kinds.GREETING else [])
journal = SimpleNamespace(unseen=lambda pairs: tuple(ref for ref, _ in pairs))
objects = [one for made in (rbac, knative) for found in made.files().values() for one in found]
json.dump({
    "objects": objects,
    "audited": [str(emit.ref) for emit in audit_cluster(ref, inventory, journal).emits],
    "cached": [kind.kind for kind in kinds.CACHED],
    "watched": [kind.kind for kind in inspect.signature(run).parameters["kinds"].default],
    "chart": mermaid(),
    "step": Steps()["operator_group/greet_group"].name,
}, sys.stdout)
"""


def the_step() -> str:
    """The file that README shows."""
    found = re.search(
        r"## A new step in ten lines\n.*?```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert found
    return found[1]


def after(path: Path, line: str, text: str) -> None:
    before = path.read_text()
    assert line in before
    path.write_text(before.replace(line, line + text, 1))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a tree with the file and the two lines makes."""
    tree = tmp_path_factory.mktemp("tree")
    for top in ("eventing", "functions", "shared"):
        shutil.copytree(ROOT / top, tree / top, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "functions/operator_group/greet_group.py").write_text(the_step())
    after(
        tree / "shared/kinds.py",
        'OPERATOR_GROUP = watched(Kind(f"{_OLM}/v1", "OperatorGroup", "operatorgroups"))\n',
        KIND,
    )
    after(tree / "eventing/routes.py", "    # operator groups\n", ROUTE)
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("role", "verbs"),
    [
        pytest.param("olmf-watch", WATCH, id="the watcher watches it"),
        pytest.param("olmf-operator-group", READ, id="the group of the step reads it"),
        pytest.param("olmf-maintenance", READ, id="the audit lists it"),
        pytest.param("olmf-install-plan", [], id="nobody else gets a right"),
    ],
)
def test_permissions_follow(made: Any, role: str, verbs: list[str]) -> None:
    rules = next(one["rules"] for one in made["objects"] if one["metadata"]["name"] == role and "rules" in one)
    assert [one["verbs"] for one in rules if "example.com" in one["apiGroups"]] == ([verbs] if verbs else [])


def test_the_audit_the_caches_and_the_watcher_follow(made: Any) -> None:
    assert made["audited"] == ["example.com/v1/Greeting/ns/hello"]
    assert "Greeting" in made["cached"]
    assert "Greeting" in made["watched"]


def test_knative_follows(made: Any) -> None:
    (source,) = (one for one in made["objects"] if one["kind"] == "ApiServerSource")
    triggers = [one["metadata"]["name"] for one in made["objects"] if one["kind"] == "Trigger"]
    assert {"apiVersion": "example.com/v1", "kind": "Greeting"} in source["spec"]["resources"]
    assert "olmf-operator-group" in triggers, "its group is woken like the others"


def test_the_runner_and_the_flow_chart_know_the_step(made: Any) -> None:
    assert made["step"] == "operator_group/greet_group"
    assert "greet_group" in made["chart"]
    assert "Greeting" in made["chart"]
