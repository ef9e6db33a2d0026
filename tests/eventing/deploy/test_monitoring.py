"""Alert rules are about metrics that are served, by programs that exist, and name the next command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from eventing.deploy import base, dashboard
from shared.telemetry import Metric

FOLDER = Path(__file__).parents[3] / "k8s" / "monitoring"
RULES = yaml.safe_load((FOLDER / "rules.yaml").read_text())["spec"]["groups"][0]["rules"]
PARTS = {"summary": ("_sum", "_count"), "histogram": ("_sum", "_count", "_bucket")}
SERVED = {f"{one.name}{part}" for one in Metric for part in ("", *PARTS.get(one.type, ()))}
PANELS = dashboard.dashboard()["panels"]
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


@pytest.mark.parametrize("metric", Metric, ids=lambda metric: str(metric.name))
def test_a_metric_has_a_panel(metric: Metric) -> None:
    (panel,) = [one for one in PANELS if one["title"].partition(":")[0] == metric.name]
    (target,) = panel["targets"]
    assert (
        set(re.findall(r"\b(?:olmf?|csv|catalog_?source|install_?plan|subscription)_[a-z_]+\b", target["expr"]))
        <= SERVED
    )
    assert panel["description"] == metric.help
    labels = re.findall(r"{{(\w+)}}", target["legendFormat"])
    assert set(labels) <= labels_of(metric.name)
    assert all(label in target["expr"] for label in labels)


def labels_of(metric: str) -> set[str]:
    """The labels of a metric in the table of `k8s/README.md`; `the same` are those of the row above."""
    known: set[str] = set()
    for line in (FOLDER.parent / "README.md").read_text().splitlines():
        if line.startswith("| `") and len(cells := line.split("|")) > 4:
            known = {*re.findall(r"`(\w+)`", cells[3]), *(known if "the same" in cells[3] else ())}
            if f"`{metric}`" in cells[1]:
                return known
    raise AssertionError(f"{metric} is not in the table")


def test_panels_do_not_cover_each_other() -> None:
    squares = [
        (x, y)
        for one in PANELS
        for x in range(one["gridPos"]["x"], one["gridPos"]["x"] + one["gridPos"]["w"])
        for y in range(one["gridPos"]["y"], one["gridPos"]["y"] + one["gridPos"]["h"])
    ]
    assert len(squares) == len(set(squares))
    assert len({one["id"] for one in PANELS}) == len(PANELS)


def test_each_alert_of_ours_is_among_those_that_are_shown() -> None:
    (shown,) = [one["targets"][0]["expr"] for one in PANELS if one["type"] == "table"]
    (names,) = re.findall(r'alertname=~"(.+)"}', shown)
    assert all(re.fullmatch(names, rule["alert"]) for rule in RULES)


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
