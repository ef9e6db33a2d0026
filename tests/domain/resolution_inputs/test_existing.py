"""What is installed, and what of it counts (resolver.md §2.5, §2.6, §12.4, §12.6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.api.views import FAIL_FORWARD, Csv, OperatorGroup
from shared.domain.resolution_inputs.existing import IncoherentCSVs, existing, of_csv
from tests.domain.resolver.scenery import (
    Blob,
    ask,
    catalog,
    chosen,
    csv,
    entry,
    gives,
    package,
    releases,
    sub,
)

FORWARD = [{"metadata": {}, "spec": {"upgradeStrategy": FAIL_FORWARD}}]


def names(*csvs: Blob, groups: Any = FORWARD, is_whole: bool = True) -> list[str]:
    return [one.name for one in existing(Csv.each(csvs), [], OperatorGroup.each(groups), is_whole=is_whole)]


@pytest.mark.parametrize(
    ("csvs", "want"),
    [
        pytest.param([csv("a.v1", phase="Failed")], ["a.v1"], id="resolver.md 12 row 74: nothing replaces it"),
        pytest.param(
            [csv("a.v1", phase="Replacing"), csv("a.v2", phase="Failed", replaces="a.v1")],
            ["a.v2"],
            id="resolver.md 12 row 82: what the failed one replaces",
        ),
        pytest.param(
            [
                csv("a.v1", phase="Replacing"),
                csv("a.v2", phase="Replacing", replaces="a.v1"),
                csv("a.v3", phase="Failed", replaces="a.v2"),
            ],
            ["a.v3"],
            id="resolver.md 12 row 77: a chain of three",
        ),
        pytest.param(
            [csv("a.v1", phase="Replacing"), csv("a.v2", phase="Installing", replaces="a.v1")],
            ["a.v1", "a.v2"],
            id="resolver.md 12 row 88: nothing has failed yet",
        ),
        pytest.param(
            [csv("a.v2", phase="Failed", replaces="a.v1")],
            ["a.v2"],
            id="resolver.md 12 row 89: it replaces what is gone",
        ),
    ],
)
def test_failing_forward(csvs: list[Blob], want: list[str]) -> None:
    assert names(*csvs) == want


@pytest.mark.parametrize(
    ("csvs", "want"),
    [
        pytest.param(
            [csv("a.v1", phase="Succeeded"), csv("a.v2", phase="Pending", replaces="a.v1")],
            "csv ns/a.v1 in phase Succeeded instead of Replacing",
            id="resolver.md 12 row 87",
        ),
        pytest.param(
            [csv("a.v1", phase="Replacing", replaces="a.v2"), csv("a.v2", phase="Replacing", replaces="a.v1")],
            "csv ns/a.v1 has already been seen",
            id="resolver.md 12 row 79",
        ),
        pytest.param(
            [csv("a.v1", phase="Replacing", replaces="a.v1")],
            "csv ns/a.v1 has already been seen",
            id="resolver.md 12 row 80",
        ),
    ],
)
def test_chains_that_are_none(csvs: list[Blob], want: str) -> None:
    with pytest.raises(IncoherentCSVs) as error:
        names(*csvs)
    assert str(error.value) == want


def test_without_the_strategy_all_count() -> None:
    """resolver.md 2.6: anything else is disabled."""
    pair = [csv("a.v1", phase="Replacing"), csv("a.v2", phase="Failed", replaces="a.v1")]
    assert names(*pair, groups=[]) == ["a.v1", "a.v2"]
    assert names(*pair, groups=[{"metadata": {}, "spec": {}}]) == ["a.v1", "a.v2"]


def test_apart_what_is_being_replaced_binds_nobody() -> None:
    """resolver.md 13 B11: the window in the middle of an upgrade."""
    assert names(csv("a.v1"), csv("a.v2", replaces="a.v1"), groups=[], is_whole=False) == ["a.v2"]


def test_apart_a_subscription_goes_on_from_the_version_that_its_plan_has_made() -> None:
    """resolver.md 13 B11: the new version is there, and `installedCSV` still names the old one."""
    subscription = sub("a", installed="a.v1")
    subscription["status"]["currentCSV"] = "a.v2"
    csvs = [csv("a.v1"), csv("a.v2", replaces="a.v1")]
    assert chosen(ask(catalog(releases("a", 3)), subs=[subscription], csvs=csvs, whole=False)) == ["a.v3"]


def a_copy(name: str, replaces: str) -> Blob:
    copy = csv(name, replaces=replaces)
    copy["metadata"]["labels"] = {"olm.copiedFrom": "else"}
    return copy


@pytest.mark.parametrize(
    "successor",
    [
        pytest.param(a_copy("a.v2", "a.v1"), id="resolver.md 13 B25: a copy is nobody's successor"),
        pytest.param(
            csv("b.v1", replaces="a.v1"),
            id="resolver.md 13 B11: what a Subscription has installed stays, whoever claims to replace it",
        ),
    ],
)
def test_what_is_installed_is_not_installed_again(successor: Blob) -> None:
    here = catalog(releases("a", 1))
    asked = ask(here, subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1"), successor], whole=False)
    assert chosen(asked) == []


def test_a_successor_of_what_failed_can_be_had() -> None:
    """resolver.md 12 rows 81 and 82."""
    here = catalog(releases("a", 3, v3=[gives("K")]))
    csvs = [csv("a.v1", gives("K"), phase="Replacing"), csv("a.v2", gives("K"), phase="Failed", replaces="a.v1")]
    subs = [sub("a", installed="a.v2")]
    assert chosen(ask(here, subs=subs, csvs=csvs, operatorGroups=FORWARD)) == ["a.v3"]
    [reported] = chosen(ask(here, subs=subs, csvs=csvs))
    assert "clusterserviceversion a.v1 exists and is not referenced by a subscription" in reported


def test_copies_do_not_count() -> None:
    """resolver.md 12 row 62."""
    copies = [csv("a.v1"), csv("b.v1"), csv("c.v1")]
    copies[0]["metadata"]["labels"] = {"olm.copiedFrom": "else"}
    copies[1]["metadata"]["annotations"]["olm.operatorNamespace"] = "else"
    copies[2]["status"]["reason"] = "Copied"
    own = csv("d.v1")
    own["metadata"]["annotations"]["olm.operatorNamespace"] = "ns"
    assert names(*copies, own, groups=[]) == ["d.v1"]


def test_a_crd_without_group_is_an_error_even_beside_an_annotation() -> None:
    """resolver.md 12 row 63."""
    owned = {"owned": [{"name": "nodots", "kind": "A", "version": "v1"}]}
    with pytest.raises(IncoherentCSVs, match="error parsing crd name: nodots"):
        of_csv(Csv(csv("a.v1", customresourcedefinitions=owned)), [])


def test_what_is_required_is_stated_too() -> None:
    """resolver.md 12 row 56."""
    required = {"required": [{"name": "as.g", "kind": "A", "version": "v1"}]}
    services = {"required": [{"group": "g", "kind": "B", "version": "v1", "name": "bs"}]}
    plain = csv("a.v1", declared=False, customresourcedefinitions=required, apiservicedefinitions=services)
    assert [(one.type, one.value["kind"]) for one in of_csv(Csv(plain), [])] == [
        ("olm.gvk.required", "A"),
        ("olm.gvk.required", "B"),
    ]


def test_an_annotation_that_cannot_be_read_makes_the_installed_sick() -> None:
    """resolver.md 12 row 60, 2.5: error using catalogsource <ns>/@existing."""
    broken = csv("a.v1")
    broken["metadata"]["annotations"]["operatorframework.io/properties"] = ""
    here = catalog(package("b", [entry("b.v1")]))
    [reported] = chosen(ask(here, subs=[sub("b")], csvs=[broken]))
    assert reported.startswith('error using catalogsource ns/@existing: failed to retrieve properties of csv "a.v1"')


KIND = '{"group": "g", "version": "v1", "kind": "K"}'


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        pytest.param("null", [], id="nothing"),
        pytest.param('{"properties": [null]}', [("", None)], id="an empty property"),
        pytest.param(f'{{"Properties": [{{"TYPE": "olm.gvk", "Value": {KIND}}}]}}', ["olm.gvk"], id="keys in any case"),
        pytest.param('{"properties": [{"type": 1}]}', "cannot unmarshal number into Go struct field", id="a number"),
        pytest.param('{"properties": [', "unexpected end of JSON input", id="a text that ends too early"),
        pytest.param('{"properties": []} x', "invalid character 'x' after top-level value", id="more than one value"),
    ],
)
def test_the_annotation_is_read_as_go_reads_it(text: str, properties: list[Any] | str) -> None:
    """resolver.md 2.5."""
    declared = csv("a.v1")
    declared["metadata"]["annotations"]["operatorframework.io/properties"] = text
    if isinstance(properties, str):
        with pytest.raises(IncoherentCSVs, match=properties):
            of_csv(Csv(declared), [])
    else:
        desired = [(one, json.loads(KIND)) if isinstance(one, str) else one for one in properties]
        assert [(one.type, one.value) for one in of_csv(Csv(declared), [])] == desired
