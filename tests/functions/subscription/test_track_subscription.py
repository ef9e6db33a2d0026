"""What a Subscription says of its plan, its version and its catalogs: ports in, Outcome out."""

from __future__ import annotations

from typing import Any

import pytest

from functions.subscription.track_subscription import track_subscription
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.ports import Policy
from shared.step import NOTHING, Emit, Merge, Outcome, SetStatus
from tests.functions.subscription.world import FakeCatalogs, a_catalog_source, a_package, a_subscription
from tests.kit.cluster import FakeCluster, FixedClock

REF = kinds.SUBSCRIPTION.ref("etcd", "ns")
VERSION = kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")
LABEL = "operators.coreos.com/etcd.ns"
CATALOGS = FakeCatalogs()
CATALOGS.publish("registry/local:v1", a_package("etcd", "1.0.0", "2.0.0"))


def decided(*objects: Manifest, policy: Policy | None = None) -> Outcome:
    return track_subscription(REF, FakeCluster(objects), CATALOGS, FixedClock(), policy or Policy())


def subscribed(label: bool = True, **status: Any) -> Manifest:
    found = a_subscription()
    found["metadata"] |= {"resourceVersion": "7", "uid": "u", "labels": {LABEL: ""} if label else {}}
    return {**found, "status": status}


def read_catalog(state: str = "READY") -> Manifest:
    snapshot = {"reference": CATALOGS.reference("registry/local:v1")}
    return {**a_catalog_source(), "status": {"connectionState": {"lastObservedState": state}, "snapshot": snapshot}}


def installed_version(label: bool = True, **status: Any) -> Manifest:
    meta = {"name": VERSION.name, "namespace": "ns", "resourceVersion": "3", "labels": {LABEL: ""} if label else {}}
    return {
        "apiVersion": VERSION.api_version, "kind": VERSION.kind, "metadata": meta, "spec": {},
        "status": {"phase": "Succeeded", **status},
    }  # fmt: skip


def status_of(outcome: Outcome) -> Manifest:
    (status,) = [write.status for write in outcome.writes if isinstance(write, SetStatus)]
    return status


def test_a_subscription_that_is_gone_is_nothing_to_do() -> None:
    assert decided() == NOTHING


def test_the_first_status_says_which_catalogs_it_sees_and_names_the_version_that_was_read() -> None:
    outcome = decided(subscribed(), a_catalog_source())
    (write,) = outcome.writes
    assert isinstance(write, SetStatus)
    assert (write.ref, write.resource_version) == (REF, "7")
    assert [one["catalogSourceRef"]["name"] for one in write.status["catalogHealth"]] == ["local"]
    assert outcome.emits == ()


@pytest.mark.parametrize(
    ("namespace", "policy", "want"),
    [
        pytest.param("olm", Policy(), 1, id="the global namespace"),
        pytest.param("ns", Policy(), 1, id="its own namespace"),
        pytest.param("elsewhere", Policy(), 0, id="another namespace"),
        pytest.param("elsewhere", Policy(global_namespace="elsewhere"), 1, id="another global namespace"),
    ],
)
def test_it_sees_the_catalogs_of_its_namespace_and_of_the_global_one(namespace: str, policy: Policy, want: int) -> None:
    outcome = decided(subscribed(), a_catalog_source(namespace=namespace), policy=policy)
    assert len(status_of(outcome).get("catalogHealth", [])) == want


def test_the_label_of_the_component_is_set_on_the_subscription_and_on_its_version() -> None:
    reported = {"currentCSV": VERSION.name, "installedCSV": VERSION.name}
    outcome = decided(subscribed(label=False, **reported), installed_version(label=False))
    merges = [write for write in outcome.writes if isinstance(write, Merge)]
    assert merges == [Merge(ref, {"metadata": {"labels": {LABEL: ""}}}) for ref in (REF, VERSION)]


def test_a_copy_is_not_its_version() -> None:
    copy = installed_version(label=False)
    copy["metadata"]["labels"] = {names.COPIED_FROM: "elsewhere"}
    outcome = decided(subscribed(currentCSV=VERSION.name), {**copy, "status": {"reason": "Copied"}})
    assert not [write for write in outcome.writes if write == Merge(VERSION, {"metadata": {"labels": {LABEL: ""}}})]
    assert "installedCSV" not in status_of(outcome)


def test_the_installed_version_hears_of_every_change_of_the_subscription() -> None:
    outcome = decided(subscribed(currentCSV=VERSION.name, installedCSV=VERSION.name), installed_version())
    assert outcome.emits == (Emit(names.CONFIG_CHANGED, VERSION),)


def test_a_version_that_nothing_can_be_called_hears_nothing() -> None:
    assert decided(subscribed(installedCSV="a/b")).emits == ()


def test_what_was_said_already_is_not_written_again() -> None:
    first = status_of(decided(subscribed(), read_catalog()))
    assert decided(subscribed(**first), read_catalog()).writes == ()
