from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.maintenance.report_copying import report_copying
from shared import names
from shared.api.manifest import timestamp
from shared.domain.csv.copying import MAKING
from shared.kinds import CLUSTER_SERVICE_VERSION, OLM_CONFIG
from shared.ports import Policy
from shared.step import NOTHING, Emit, Outcome, SetStatus
from tests.functions.operator_group.builders import a_csv, a_group, a_namespace
from tests.kit.cluster import FakeCluster, FixedClock
from tests.kit.copies import FakeCopies

REF = OLM_CONFIG.ref("cluster")
GROUP = a_group(targets=[""])
WORLD = [GROUP, a_csv(member_of=GROUP), a_namespace("a"), a_namespace("ns")]
STAMP = "2026-01-01T00:00:00Z"
COPY_DUE = (Emit(names.COPY_DUE, CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")),)
ENABLED, DISABLED = "CopiedCSVsEnabled", "CopiedCSVsDisabled"


def a_config(name: str = "cluster", **features: Any) -> dict[str, Any]:
    meta = {"name": name, "resourceVersion": "5"}
    spec = {"features": features}
    return {"apiVersion": "operators.coreos.com/v1", "kind": "OLMConfig", "metadata": meta, "spec": spec}


def a_copy(namespace: str) -> dict[str, Any]:
    return a_csv(namespace=namespace, labels={"olm.copiedFrom": "ns"})


def run(*objects: dict[str, Any], protected: tuple[str, ...] = ()) -> Outcome:
    cluster = FakeCluster(objects)
    policy = Policy(protected_copy_namespaces=protected)
    return report_copying(REF, cluster, FakeCopies(cluster), FixedClock(), policy=policy)


@pytest.mark.parametrize(
    ("disabled", "copies", "status", "reason", "message"),
    [
        pytest.param(
            False,
            ["a"],
            "False",
            ENABLED,
            "Copied CSVs are enabled and present across the cluster",
            id="csv.md 10.7 row 1: enabled, no mismatch",
        ),
        pytest.param(
            False,
            [],
            "False",
            ENABLED,
            "Copied CSVs are enabled and at least one copied CSVs is missing",
            id="csv.md 10.7 row 2: enabled, one is missing",
        ),
        pytest.param(
            True,
            ["a"],
            "False",
            DISABLED,
            "Copied CSVs are disabled and at least one unexpected copied CSV was found for an operator installed in"
            " AllNamespace mode",
            id="csv.md 10.7 row 3: disabled, one is left",
        ),
        pytest.param(
            True,
            [],
            "True",
            DISABLED,
            "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in"
            " AllNamespace mode",
            id="csv.md 10.7 row 4: disabled, none is left",
        ),
    ],
)
def test_the_condition(disabled: bool, copies: list[str], status: str, reason: str, message: str) -> None:
    outcome = run(*WORLD, *map(a_copy, copies), a_config(disableCopiedCSVs=disabled))

    condition = {
        "type": "DisabledCopiedCSVs",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": STAMP,
    }
    assert outcome.writes == (SetStatus(REF, {"conditions": [condition]}, "5"),)
    assert outcome.emits == (COPY_DUE if disabled == bool(copies) else ())


def test_the_truth_is_reported_once() -> None:
    config = a_config()
    (write,) = run(*WORLD, a_copy("a"), config).writes
    assert isinstance(write, SetStatus)

    assert run(*WORLD, a_copy("a"), {**config, "status": write.status}) == Outcome(
        summary="the copies of 0 operators are not where they belong"
    )


def phased(seconds: int) -> dict[str, Any]:
    """A version that came to its phase so many seconds ago, and has no copies."""
    since = timestamp(FixedClock().now() - timedelta(seconds=seconds))
    return a_csv(member_of=GROUP, status={"phase": "Succeeded", "lastTransitionTime": since})


def is_well(**features: Any) -> dict[str, Any]:
    """The OLMConfig that says so of all copies."""
    config = a_config(**features)
    (write,) = run(*WORLD, *((a_copy("a"),) if not features else ()), config).writes
    assert isinstance(write, SetStatus)
    return {**config, "status": write.status}


def test_copies_that_are_being_made_are_no_news() -> None:
    """Copying into hundreds of namespaces takes seconds: two statuses would say so, and take it back."""
    outcome = run(GROUP, phased(5), a_namespace("a"), a_namespace("ns"), is_well())
    assert outcome == Outcome(again_in=MAKING, summary="the copies that are missing are being made")


@pytest.mark.parametrize(
    ("config", "age"),
    [
        pytest.param(is_well(), 30, id="they should be there by now"),
        pytest.param(is_well(), -1, id="a time that is yet to come says nothing"),
        pytest.param(a_config(), 5, id="nothing was said of copies yet"),
        pytest.param({**is_well(disableCopiedCSVs=True), "spec": {}}, 5, id="copies were just allowed again"),
    ],
)
def test_copies_that_are_missing_are_told_and_made(config: dict[str, Any], age: int) -> None:
    outcome = run(GROUP, phased(age), a_namespace("a"), a_namespace("ns"), config)
    (write,) = outcome.writes
    assert isinstance(write, SetStatus)
    assert "missing" in write.status["conditions"][0]["message"]
    assert outcome.emits == COPY_DUE


def test_copies_that_should_go_are_told_at_once() -> None:
    config = {**is_well(), "spec": {"features": {"disableCopiedCSVs": True}}}
    outcome = run(GROUP, phased(5), a_copy("a"), a_namespace("a"), a_namespace("ns"), config)
    assert outcome.emits == COPY_DUE
    assert outcome.again_in is None


def test_the_own_namespace_may_be_protected() -> None:
    """csv.md 18.6 row 141: never satisfied in OLM; the own namespace does not count."""
    (write,) = run(*WORLD, a_config(disableCopiedCSVs=True), protected=("ns",)).writes

    assert isinstance(write, SetStatus)
    assert write.status["conditions"][0]["status"] == "True"


def test_neither_copies_nor_strangers_count() -> None:
    """csv.md 10.7: non-copied versions of the namespaces of global groups."""
    here = a_csv("copy.v1", labels={"olm.copiedFrom": "elsewhere"})
    stranger = a_csv("stranger.v1")

    assert run(*WORLD, a_copy("a"), here, stranger).emits == ()


def test_without_config_copies_are_wanted() -> None:
    """csv.md 18.6 row 139."""
    assert run(*WORLD) == Outcome(emits=COPY_DUE)


def test_only_the_object_named_cluster_counts() -> None:
    """csv.md 10.5."""
    cluster = FakeCluster([*WORLD, a_config("other")])

    outcome = report_copying(OLM_CONFIG.ref("other"), cluster, FakeCopies(cluster), FixedClock(), policy=Policy())

    assert (outcome.writes, outcome.emits) == (NOTHING.writes, NOTHING.emits)


def test_operators_that_watch_some_namespaces_are_copied_whatever_the_config_says() -> None:
    """csv.md 10.6: it is about operators in all namespaces."""
    group = a_group(targets=["a"])

    outcome = run(a_config(disableCopiedCSVs=True), group, a_csv(member_of=group), a_namespace("a"))

    (write,) = outcome.writes
    assert isinstance(write, SetStatus)
    assert write.status["conditions"][0]["status"] == "True"
    assert outcome.emits == ()
