"""What an OpenShift is told: csv.md §15.1."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from shared.api.manifest import Manifest
from shared.api.views import ClusterVersion, Csv, Object
from shared.domain.conditions import Condition
from shared.domain.csv.cluster_operator import OURS, status_of, upgradeable
from shared.domain.csv.compatibility import MOST_NAMED, limit_of
from shared.domain.go.json import CUT_OFF
from tests.domain.csv.builders import NOW, a_csv
from tests.functions.operator_group.builders import a_csv as a_version

FREE = Condition("Upgradeable", "True")
UNCERTAIN = "Encountered errors while checking compatibility with the next minor version of OpenShift"
KIND = "olm.maxOpenShiftVersion"


def saying(*values: str) -> str:
    """The annotation of properties; each value is JSON."""
    declared = "".join(f',{{"type":"{KIND}","value":{value}}}' for value in values)
    return f'{{"properties":[{{"type":"olm.gvk","value":{{}}}}{declared}]}}'


def limited(annotation: str, name: str = "a.v1", namespace: str = "ns") -> Csv:
    return Csv(a_version(name, namespace, annotations={"operatorframework.io/properties": annotation}))


def at(version: str) -> ClusterVersion:
    return ClusterVersion({"metadata": {"name": "version"}, "status": {"desired": {"version": version}}})


def judged(version: str, *csvs: Csv) -> Condition:
    return upgradeable(at(version), csvs)


@pytest.mark.parametrize(
    ("maximum", "clusters", "is_upgradeable"),
    [
        pytest.param('"4.18"', ["4.17.3", "4.17.0-rc.1"], True, id="csv.md 15.1: the next minor version is allowed"),
        pytest.param('"4.18"', ["4.18.0", "4.18.9", "4.19.1"], False, id="csv.md 15.1: the present one is the last"),
        pytest.param("4.10", ["4.9.0"], True, id="csv.md 15.1: a number is what was written, not 4.1"),
        pytest.param('"4.23"', ["4.23.0", "5.0.1"], False, id="csv.md 15.1: 4.23 counts as 5.0"),
        pytest.param('"5.0"', ["4.22.0"], True, id="csv.md 15.1: from 4.22 the way leads to 5.0"),
        pytest.param('"5.1"', ["4.23.0", "5.0.0"], True, id="csv.md 15.1: from 4.23 the way leads to 5.1"),
    ],
)
def test_how_far_a_version_lets_the_cluster_go(maximum: str, clusters: Sequence[str], is_upgradeable: bool) -> None:
    assert {judged(one, limited(saying(maximum))).status for one in clusters} == {str(is_upgradeable)}


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        pytest.param("{", "failed to unmarshal properties annotation: unexpected end of JSON input", id="no JSON"),
        pytest.param(
            saying("[" * 2000 + "]" * 2000), "failed to unmarshal properties annotation: exceeded max depth", id="deep"
        ),
        pytest.param(saying('"4.1"', '"4.2"'), f'defining more than one "{KIND}" property is not allowed', id="two"),
        pytest.param(saying('""'), 'value cannot be "" (an empty string)', id="empty"),
        pytest.param(
            saying('"four"'), 'failed to parse "four" as semver: Invalid character(s) found in major number "0four"',
            id="no version",
        ),
        pytest.param(
            saying("true"), 'failed to parse "true" as semver: Invalid character(s) found in major number "0true"',
            id="no text",
        ),
        pytest.param(
            saying('"4.18.1"'), f"property {KIND} must specify only <major>.<minor> version, got invalid value 4.18.1",
            id="a patch",
        ),
        pytest.param(
            saying('"4.18.0-rc.1"'),
            f"property {KIND} must specify only <major>.<minor> version, got invalid value 4.18.0-rc.1",
            id="a prerelease",
        ),
    ],
)  # fmt: skip
def test_csv_md_15_1_what_cannot_be_read_blocks_and_states_why(annotation: str, why: str) -> None:
    found = judged("4.18.0", limited(annotation))
    assert (found.status, found.reason) == ("False", "IncompatibleOperatorsInstalled")
    assert found.message.splitlines()[1:] == [f"- ns/a.v1 has invalid {KIND} properties: {why}"]


@pytest.mark.parametrize("annotation", [None, "{}", saying(), '{"properties":[{"type":"other","value":"4.1"}]}'])
def test_csv_md_15_1_who_names_no_limit_allows_everything(annotation: str | None) -> None:
    csv = Csv(a_csv()) if annotation is None else limited(annotation)
    assert limit_of(csv) is None
    assert judged("4.18.0", csv) == FREE


@pytest.mark.parametrize(
    ("version", "following"),
    [("4.18.0", "4.19"), ("4.22.1", "4.23 or major version upgrades to 5.0"), ("4.23.0", "5.1")],
)
def test_csv_md_15_1_what_is_wrong_stands_first_then_by_name(version: str, following: str) -> None:
    csvs = limited(saying('"4.2"'), "b.v1"), limited(saying('"4.1"')), limited("{", "z.v1")
    assert judged(version, *csvs).message.splitlines() == [
        f"ClusterServiceVersions blocking minor version upgrades to {following}:",
        f"- ns/z.v1 has invalid {KIND} properties: failed to unmarshal properties annotation: {CUT_OFF}",
        "- maximum supported OCP version for ns/a.v1 is 4.1",
        "- maximum supported OCP version for ns/b.v1 is 4.2",
    ]


def test_a_message_names_only_so_many() -> None:
    found = judged("4.18.0", *(limited(saying('"4.1"'), f"a.v{number}") for number in range(MOST_NAMED + 7)))
    assert len(found.message.splitlines()) == MOST_NAMED + 2
    assert found.message.splitlines()[-1] == "- and 7 more"
    long = judged("4.18.0", limited(saying(json.dumps("x" * 100_000))))
    assert len(long.message) < 500


@pytest.mark.parametrize(
    ("version", "why"),
    [
        pytest.param("", "desired release version missing from ClusterVersion version", id="none is stated"),
        pytest.param(
            "four",
            'cluster version has invalid desired release version: Invalid character(s) found in major number "0four"',
            id="it is no version",
        ),
    ],
)  # fmt: skip
def test_csv_md_15_1_who_cannot_tell_does_not_allow(version: str, why: str) -> None:
    want = Condition("Upgradeable", "False", "ErrorCheckingOperatorCompatibility", f"{UNCERTAIN}: {why}")
    assert judged(version) == want


def test_csv_md_15_1_the_whole_status_and_it_is_said_once() -> None:
    present: Manifest = {
        "apiVersion": OURS.api_version, "kind": OURS.kind, "metadata": {"name": OURS.name},
        "status": {"extension": None, "conditions": [{"type": "Upgradeable", "status": "Unknown"}]},
    }  # fmt: skip
    csvs = [Csv(a_version("a.v1", "olm")), Csv(a_version("b.v1", "ns"))]
    status = status_of(Object(present), at("4.18.3"), csvs, global_namespace="olm", now=NOW)

    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "Upgradeable": "True", "Progressing": "False", "Available": "True", "Degraded": "False",
    }  # fmt: skip
    assert [one["message"] for one in status["conditions"] if one["type"] == "Progressing"] == ["Deployed 4.18.3"]
    assert status["versions"] == [{"name": "operator", "version": "4.18.3"}]
    related = {
        "group": "operators.coreos.com",
        "resource": "clusterserviceversions",
        "namespace": "olm",
        "name": "a.v1",
    }
    assert status["relatedObjects"] == [related]
    assert "extension" in status
    assert (
        status_of(Object({**present, "status": status}), at("4.18.3"), csvs, global_namespace="olm", now=NOW) == status
    )
    assert "relatedObjects" not in status_of(Object(present), at("4.18.3"), csvs[1:], global_namespace="olm", now=NOW)


def test_csv_md_15_1_without_any_version_the_related_objects_stay_as_olm_leaves_them() -> None:
    present: Manifest = {"apiVersion": OURS.api_version, "kind": OURS.kind, "metadata": {"name": OURS.name}}
    before = status_of(Object(present), at("4.18.3"), [Csv(a_version("a.v1", "olm"))], global_namespace="olm", now=NOW)
    after = status_of(Object({**present, "status": before}), at("4.18.3"), (), global_namespace="olm", now=NOW)
    assert after["relatedObjects"] == before["relatedObjects"] != []
