from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Namespace, OperatorGroup
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.targets import (
    described,
    invalid_targets,
    label_patch,
    needs_namespaces,
    resolve,
    status,
)
from shared.domain.selectors import matches

SELECTIONS = [(None, "nothing"), (("",), "all namespaces"), ((), "no namespace"), (("a", "b"), "a, b")]
NOT_KNOWN = "is not known on an OperatorGroup and has no effect"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
STAMP = "2026-01-01T00:00:00Z"
BEFORE = "2025-01-01T00:00:00Z"
NAMESPACES: list[dict[str, Any]] = [
    {"metadata": {"name": "b", "labels": {"team": "x", "tier": "1"}}},
    {"metadata": {"name": "a", "labels": {"team": "x"}}},
    {"metadata": {"name": "c"}},
]


def a_group(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"metadata": {"name": "g", "namespace": "ns"}, "spec": spec or {}, "status": status or {}}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"targetNamespaces": ["b", "a"], "selector": {"matchLabels": {"x": "y"}}}, ("a", "b"), id="list"),
        pytest.param({"targetNamespaces": ["gone"]}, ("gone",), id="targets need not exist"),
        pytest.param({}, ("",), id="neither: all"),
        pytest.param({"selector": {}}, ("",), id="an empty selector: all"),
        pytest.param({"selector": {"matchLabels": {"team": "x"}}}, ("a", "b"), id="a selector"),
        pytest.param({"selector": {"matchLabels": {"team": "y"}}}, (), id="a selector that matches nothing"),
    ],
)
def test_targets_are_resolved(spec: dict[str, Any], want: tuple[str, ...]) -> None:
    """csv.md 8.2."""
    assert resolve(OperatorGroup(a_group(spec)), Namespace.each(NAMESPACES)) == want


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        pytest.param({"key": "team", "operator": "In", "values": ["x", "y"]}, True, id="in"),
        pytest.param({"key": "team", "operator": "In", "values": ["y"]}, False, id="not in the list"),
        pytest.param(
            {"key": "tier", "operator": "NotIn", "values": ["1"]}, True, id="NotIn holds where the key is absent"
        ),
        pytest.param({"key": "team", "operator": "NotIn", "values": ["x"]}, False, id="NotIn"),
        pytest.param({"key": "team", "operator": "Exists"}, True, id="Exists"),
        pytest.param({"key": "tier", "operator": "DoesNotExist"}, True, id="DoesNotExist"),
        pytest.param({"key": "team", "operator": "Gt", "values": ["1"]}, False, id="an unknown operator"),
    ],
)
def test_selector_expressions(expression: dict[str, Any], want: bool) -> None:
    """csv.md 8.1: a label selector over namespaces."""
    assert matches({"matchExpressions": [expression]}, {"team": "x"}) is want


def test_which_groups_depend_on_namespaces() -> None:
    assert needs_namespaces(OperatorGroup(a_group({"selector": {"matchLabels": {"a": "b"}}})))
    assert not needs_namespaces(OperatorGroup(a_group({"selector": {}})))
    assert not needs_namespaces(
        OperatorGroup(a_group({"selector": {"matchLabels": {"a": "b"}}, "targetNamespaces": ["x"]}))
    )


def test_all_namespaces_in_the_list_is_an_error() -> None:
    """csv.md 8.2."""
    assert (
        invalid_targets(OperatorGroup(a_group({"targetNamespaces": ["a", ""]})))
        == "TargetNamespaces cannot contain NamespaceAll: [a ]"
    )
    assert invalid_targets(OperatorGroup(a_group({"targetNamespaces": ["a"]}))) is None


MULTIPLE = {
    "type": "MultipleOperatorGroup",
    "status": "True",
    "reason": "MultipleOperatorGroupsFound",
    "message": "Multiple OperatorGroup found in the same namespace",
}


@pytest.mark.parametrize(
    ("present", "targets", "has_siblings", "want"),
    [
        pytest.param(
            {}, ("a",), False, {"namespaces": ["a"], "lastUpdated": STAMP}, id="csv.md 8.3 step 4: first time"
        ),
        pytest.param({}, (), False, {}, id="csv.md 18.5 row 111: nothing selected is no change"),
        pytest.param(
            {"namespaces": ["a"], "lastUpdated": BEFORE},
            (),
            False,
            {"lastUpdated": STAMP},
            id="csv.md 8.3 step 4: nothing is left",
        ),
        pytest.param(
            {"namespaces": ["b", "a"], "lastUpdated": BEFORE},
            ("a", "b"),
            False,
            {"namespaces": ["b", "a"], "lastUpdated": BEFORE},
            id="csv.md 8.3 step 4: the same set in another order is no change",
        ),
        pytest.param(
            {"namespaces": ["a"], "lastUpdated": BEFORE},
            ("a",),
            True,
            {"namespaces": ["a"], "lastUpdated": STAMP, "conditions": [{**MULTIPLE, "lastTransitionTime": STAMP}]},
            id="csv.md 8.3 step 1: several groups",
        ),
        pytest.param(
            {"namespaces": ["a"], "lastUpdated": BEFORE, "conditions": [{**MULTIPLE, "lastTransitionTime": BEFORE}]},
            ("a",),
            True,
            {"namespaces": ["a"], "lastUpdated": BEFORE, "conditions": [{**MULTIPLE, "lastTransitionTime": BEFORE}]},
            id="csv.md 8.3 step 1: said already",
        ),
        pytest.param(
            {"namespaces": ["a"], "lastUpdated": BEFORE, "conditions": [{"type": "Theirs"}, MULTIPLE]},
            ("a",),
            False,
            {"namespaces": ["a"], "lastUpdated": STAMP, "conditions": [{"type": "Theirs"}]},
            id="csv.md 8.3 step 1: a stale condition goes, others stay",
        ),
    ],
)
def test_status(present: dict[str, Any], targets: Sequence[str], has_siblings: bool, want: dict[str, Any]) -> None:
    assert status(OperatorGroup(a_group(status=present)), targets, has_siblings=has_siblings, now=NOW) == want


def test_a_reference_to_an_account_goes_with_the_name() -> None:
    """csv.md 8.3 step 2: no name, no reference and no condition."""
    before = {"namespaces": ["a"], "lastUpdated": BEFORE, "serviceAccountRef": {"name": "limited", "uid": "u"}}
    reported = {"type": "OperatorGroupServiceAccount", "status": "True", "reason": "ServiceAccountNotFound"}

    got = status(
        OperatorGroup(a_group(status={**before, "conditions": [reported]})), ("a",), has_siblings=False, now=NOW
    )

    assert got == {"namespaces": ["a"], "lastUpdated": STAMP}


@pytest.mark.parametrize(
    ("length", "reasons"),
    [
        pytest.param(63, [], id="csv.md 8.7: its roles carry the name in a label"),
        pytest.param(64, ["NameTooLong"], id="a longer name says why there are no roles"),
    ],
)
def test_a_name_that_no_label_holds(length: int, reasons: list[str]) -> None:
    group = {"metadata": {"name": "g" * length, "namespace": "ns"}}

    got = status(OperatorGroup(group), ("a",), has_siblings=False, now=NOW)

    assert got["namespaces"] == ["a"]
    assert [condition["reason"] for condition in got.get("conditions", [])] == reasons


@pytest.mark.parametrize(
    ("annotations", "want"),
    [
        pytest.param({"olmf.io/catalog-policy": "strict", "olmf.io/made-for": "etcd"}, [], id="known ones"),
        pytest.param(
            {"olmf.io/catalog-polciy": "strict"},
            [f"annotation olmf.io/catalog-polciy {NOT_KNOWN} (known is olmf.io/catalog-policy)"],
            id="a misspelled one",
        ),
        pytest.param(
            {"olmf.io/hold": "audit"},
            [f"annotation olmf.io/hold {NOT_KNOWN}"],
            id="one for Subscriptions",
        ),
    ],
)  # fmt: skip
def test_an_annotation_without_effect_is_reported_once(annotations: dict[str, str], want: list[str]) -> None:
    group: Manifest = {"metadata": {"name": "all", "namespace": "ns", "annotations": annotations}}
    for _ in range(2):
        group = {**group, "status": status(OperatorGroup(group), ("",), has_siblings=False, now=NOW)}
        assert [condition["message"] for condition in group["status"].get("conditions", [])] == want
    cured = {**group, "metadata": {"name": "all", "namespace": "ns"}}
    assert "conditions" not in status(OperatorGroup(cured), ("",), has_siblings=False, now=NOW)


@pytest.mark.parametrize(
    ("labels", "groups", "want"),
    [
        pytest.param(
            {},
            [Group("x", "g", ("n",), uid="1")],
            {"olm.operatorgroup.uid/1": ""},
            id="csv.md 18.5 row 120: a target is labelled",
        ),
        pytest.param(
            {}, [Group("x", "g", ("",), uid="1")], {}, id="csv.md 18.5 row 120: a global group labels nothing"
        ),
        pytest.param({}, [Group("x", "g", ("m",), uid="1")], {}, id="csv.md 18.5 row 120: no member, no label"),
        pytest.param(
            {"olm.operatorgroup.uid/9": "", "mine": "1"},
            [],
            {"olm.operatorgroup.uid/9": None},
            id="csv.md 18.5 row 120: a stale label goes, others stay",
        ),
        pytest.param(
            {"olm.operatorgroup.uid/1": ""},
            [Group("x", "g", ("n",), uid="1")],
            {},
            id="csv.md 18.5 row 120: in sync, no change",
        ),
    ],
)
def test_labels_of_a_namespace(labels: dict[str, str], groups: list[Group], want: dict[str, str | None]) -> None:
    assert label_patch(Namespace({"metadata": {"name": "n", "labels": labels}}), groups) == want


@pytest.mark.parametrize(("selected", "words"), SELECTIONS)
def test_what_a_group_selects_is_said(selected: Sequence[str] | None, words: str) -> None:
    assert described(selected).startswith(f"selects {words}")
