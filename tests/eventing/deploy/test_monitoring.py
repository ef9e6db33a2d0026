"""Alert rules are about metrics that are served, by programs that exist, and name the next command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from eventing.deploy import base
from shared.telemetry import Metric

FOLDER = Path(__file__).parents[3] / "k8s" / "monitoring"
RULES = yaml.safe_load((FOLDER / "rules.yaml").read_text())["spec"]["groups"][0]["rules"]
SERVED = {one.name for one in Metric} | {f"{one.name}_count" for one in Metric if one.type == "summary"}
DEPLOYED = {one["metadata"]["name"] for objects in base.files(()).values() for one in objects}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_a_rule_is_about_metrics_that_are_served(rule: dict[str, dict[str, str]]) -> None:
    named = set(re.findall(r"\b(?:olmf|csv|catalogsource)_[a-z_]+\b", str(rule["expr"])))
    assert named
    assert named <= SERVED
    assert rule["annotations"]["summary"]
    programs = set(re.findall(r"\bolmf-[a-z]+\b", rule["annotations"]["next"]))
    assert programs
    assert programs <= DEPLOYED


def test_all_that_is_there_is_applied() -> None:
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted({path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"})


def test_what_is_scraped_is_a_program_of_ours() -> None:
    monitor = yaml.safe_load((FOLDER / "monitor.yaml").read_text())
    desired = monitor["spec"]["selector"]["matchLabels"]
    programs = [one for objects in base.files(()).values() for one in objects if one["kind"] == "Deployment"]
    (pod,) = [
        one["spec"]["template"]
        for one in programs
        if desired.items() <= one["spec"]["template"]["metadata"]["labels"].items()
    ]
    ports = [port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]]
    assert monitor["spec"]["podMetricsEndpoints"][0]["targetPort"] in ports
