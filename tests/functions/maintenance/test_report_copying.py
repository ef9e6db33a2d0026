from __future__ import annotations

from typing import Any

import pytest

from functions.maintenance.report_copying import report_copying
from shared import names
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


def a_config(name: str = "cluster", **features: bool) -> dict[str, Any]:
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
