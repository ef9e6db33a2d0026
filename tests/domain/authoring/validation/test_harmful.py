"""Objects that could harm the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.authoring.validation.world import a_rule, an_object, found


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (an_object("PodDisruptionBudget", spec={"maxUnavailable": 0}), "Error: Value poddisruptionbudget: max"),
        (an_object("PodDisruptionBudget", spec={"maxUnavailable": "0%"}), "cannot be set to 0 or 0%"),
        (an_object("PodDisruptionBudget", spec={"minAvailable": "100%"}), "minAvailable field cannot be set to 100%"),
        (an_object("PriorityClass", globalDefault=True), "globalDefault field cannot be set to true"),
        (
            an_object("Role", rules=[a_rule("policy", "poddisruptionbudgets", "update")]),
            "Warning: Value {[update] [policy] [poddisruptionbudgets] [] []}: RBAC includes permission to create",
        ),
        (
            an_object("ClusterRole", rules=[
                a_rule("security.openshift.io", "securitycontextconstraints", "*", resourceNames=["a", "anyuid"])]),
            "Error: Value {[*] [security.openshift.io] [securitycontextconstraints] [a anyuid] []}: RBAC includes",
        ),
    ],
)  # fmt: skip
def test_fbc_md_r289_and_r268_objects_that_do_harm(manifest: dict[str, Any], words: str) -> None:
    [found_errors] = found("bundle-objects", x=manifest)
    assert words in str(found_errors)
    assert found_errors.path == "manifests/x.yaml"


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(an_object("PodDisruptionBudget", spec={"maxUnavailable": "25%"}), id="fbc.md R290: a quarter"),
        pytest.param(an_object("PodDisruptionBudget", spec={"maxUnavailable": True}), id="nonsense"),
        pytest.param(an_object("PriorityClass"), id="an ordinary class"),
        pytest.param(an_object("Role", rules=[3, a_rule("policy", "poddisruptionbudgets", "get")]), id="reading"),
        pytest.param(
            an_object("Role", rules=[a_rule("security.openshift.io", "securitycontextconstraints", "*")]), id="no names"
        ),
    ],
)
def test_objects_that_do_no_harm(manifest: dict[str, Any]) -> None:
    assert found("bundle-objects", x=manifest) == []
