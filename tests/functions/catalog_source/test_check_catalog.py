"""What follows at once from the spec of a CatalogSource: ports in, Outcome out."""

from __future__ import annotations

from typing import Any

import pytest

from functions.catalog_source.check_catalog import check_catalog
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.step import NOTHING, Emit, Outcome, SetStatus
from tests.functions.subscription.world import a_catalog_source
from tests.kit.cluster import FakeCluster, FixedClock

REF = kinds.CATALOG_SOURCE.ref("local", "olm")


def decided(*objects: Manifest) -> Outcome:
    cluster = FakeCluster(objects)
    return check_catalog(REF, cluster, cluster, FixedClock())


def a_catalog(status: Manifest | None = None, **spec: Any) -> Manifest:
    found = a_catalog_source(**spec)
    found["metadata"]["resourceVersion"] = "7"
    return found if status is None else {**found, "status": status}


def status_of(outcome: Outcome) -> Manifest:
    (write,) = outcome.writes
    assert isinstance(write, SetStatus)
    assert (write.ref, write.resource_version) == (REF, "7")
    return write.status


def test_a_catalog_that_is_gone_is_nothing_to_do() -> None:
    assert decided() == NOTHING


def test_a_new_catalog_is_said_to_be_read_and_wakes_nobody_yet() -> None:
    outcome = decided(a_catalog())
    assert status_of(outcome)["connectionState"]["lastObservedState"] == "CONNECTING"
    assert (outcome.emits, outcome.again_in) == ((), None)


def test_a_catalog_that_is_read_already_is_left_alone() -> None:
    said = {"connectionState": {"lastObservedState": "READY"}}
    assert decided(a_catalog(said)).writes == ()


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        pytest.param({"image": ""}, "SpecInvalidError", "image and address unset", id="neither image nor address"),
        pytest.param(
            {"sourceType": "nonsense"}, "SpecInvalidError", "unknown sourcetype: nonsense", id="no known type"
        ),
        pytest.param(
            {"sourceType": "configmap", "configMap": ""}, "SpecInvalidError", "configmap name unset", id="no ConfigMap"
        ),
    ],
)
def test_a_spec_that_cannot_be_read_says_why(spec: dict[str, Any], reason: str, message: str) -> None:
    outcome = decided(a_catalog(**spec))
    status = status_of(outcome)
    assert status["reason"] == reason
    assert message in status["message"]
    assert message in outcome.message
    assert decided(a_catalog(status, **spec)).writes == (), "once"


def test_a_catalog_that_can_be_read_no_more_is_told_to_its_users() -> None:
    served = {"connectionState": {"lastObservedState": "READY"}}
    assert decided(a_catalog(served, image="")).emits == (Emit(names.CATALOG_SNAPSHOTTED, REF),)
