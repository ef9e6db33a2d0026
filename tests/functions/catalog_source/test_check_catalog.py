"""What follows at once from the spec of a CatalogSource: ports in, Outcome out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.catalog_source.check_catalog import check_catalog
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.ports import Attempt, Policy, WriteFailure
from shared.step import NOTHING, Create, Delete, Emit, Outcome, Record, Ref, Replace, SetStatus
from tests.functions.subscription.world import a_catalog_source
from tests.kit.cluster import FakeCluster, FixedClock

REF = kinds.CATALOG_SOURCE.ref("local", "olm")
FIRST = Attempt()


def decided(*objects: Manifest, attempt: Attempt = FIRST, address: str = "") -> Outcome:
    cluster, policy = FakeCluster(objects), Policy(catalogs_address=address)
    return check_catalog(REF, cluster, cluster, FixedClock(), policy=policy, attempt=attempt)


def a_catalog(status: Manifest | None = None, **spec: Any) -> Manifest:
    found = a_catalog_source(**spec)
    found["metadata"] |= {"resourceVersion": "7", "uid": "1"}
    return found if status is None else {**found, "status": status}


def status_of(outcome: Outcome) -> Manifest:
    (write,) = (one for one in outcome.writes if not isinstance(one, Record))
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
    reported = {"connectionState": {"lastObservedState": "READY"}}
    assert decided(a_catalog(reported)).writes == ()


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
def test_a_spec_that_cannot_be_read_states_why(spec: dict[str, Any], reason: str, message: str) -> None:
    outcome = decided(a_catalog(**spec))
    status = status_of(outcome)
    assert status["reason"] == reason
    assert message in status["message"]
    assert message in outcome.message
    assert decided(a_catalog(status, **spec)).writes == (), "once"


def test_a_catalog_that_can_be_read_no_more_is_told_to_its_users() -> None:
    served = {"connectionState": {"lastObservedState": "READY"}}
    assert decided(a_catalog(served, image="")).emits == (Emit(names.CATALOG_SNAPSHOTTED, REF),)


SERVER = "olmf-catalogs.olm.svc.cluster.local:50051"
SERVICE = kinds.SERVICE.ref("local", "olm")
SERVICE_STATUS = {"protocol": "grpc", "serviceName": "local", "serviceNamespace": "olm", "port": "50051"}


def a_service(**meta: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "local", "namespace": "olm", **meta},
        "spec": {},
    }


def its_own() -> Manifest:
    owner = {"apiVersion": kinds.CATALOG_SOURCE.api_version, "kind": "CatalogSource", "name": "local"}
    return a_service(ownerReferences=[{**owner, "uid": "1"}], uid="9", resourceVersion="3")


def test_catalog_md_2_4_1_a_catalog_gets_its_service_and_its_status_reports_it_in_one_decision() -> None:
    service, status = decided(a_catalog(), address=SERVER).writes
    assert isinstance(service, Create)
    assert (Ref.of(service.manifest), service.must_be_new) == (SERVICE, True)
    assert isinstance(status, SetStatus)
    assert status.status["registryService"].items() >= SERVICE_STATUS.items()
    assert status.status["connectionState"]["address"] == "local.olm.svc:50051"
    done = decided(a_catalog(status.status), service.manifest, address=SERVER)
    assert (done.writes, done.again_in) == ((), None)


def test_catalog_md_8_1_20_what_olm_left_of_it_leads_to_us() -> None:
    service, status = decided(a_catalog(), its_own(), address=SERVER).writes
    assert isinstance(service, Replace)
    assert service.manifest["metadata"]["resourceVersion"] == "3"
    assert service.manifest["spec"]["externalName"] == "olmf-catalogs.olm.svc.cluster.local"
    assert isinstance(status, SetStatus)


def test_a_service_of_somebody_else_is_left_alone_and_the_catalog_is_read() -> None:
    outcome = decided(a_catalog({"registryService": SERVICE_STATUS}), a_service(), address=SERVER)
    assert "registryService" not in status_of(outcome)
    assert status_of(outcome)["connectionState"]["lastObservedState"] == "CONNECTING"
    assert (outcome.message, outcome.again_in) == (
        "the Service local is not its own: rename one of the two", timedelta(minutes=15),
    )  # fmt: skip
    assert Record(REF, "Warning", "NoService", outcome.message) in outcome.writes
    again = decided(a_catalog(status_of(outcome)), a_service(), address=SERVER)
    assert (again.writes, again.again_in) == ((), timedelta(minutes=15)), "said once"


def test_a_service_that_is_refused_stops_nothing_else() -> None:
    refused = Attempt(2, WriteFailure("forbidden", "exceeded quota", 0, SERVICE))
    outcome = decided(a_catalog(), attempt=refused, address=SERVER)
    assert status_of(outcome)["connectionState"]["lastObservedState"] == "CONNECTING"
    assert "exceeded quota" in outcome.message
    assert outcome.again_in == timedelta(minutes=15)


def test_a_catalog_whose_name_no_service_can_have_is_read() -> None:
    source = a_catalog()
    source["metadata"]["name"] = "4local"
    cluster = FakeCluster([source])
    ref = kinds.CATALOG_SOURCE.ref("4local", "olm")
    policy = Policy(catalogs_address=SERVER)
    outcome = check_catalog(ref, cluster, cluster, FixedClock(), policy=policy, attempt=Attempt())
    assert [type(one) for one in outcome.writes] == [SetStatus, Record]
    assert outcome.message == "no Service can have its name"


@pytest.mark.parametrize(("present", "want"), [((), 1), ((its_own(),), 2), ((a_service(),), 1)])
def test_catalog_md_2_5_a_server_by_address_needs_no_service(present: tuple[Manifest, ...], want: int) -> None:
    outcome = decided(a_catalog(image="", address="tea.test:50051"), *present, address=SERVER)
    assert len(outcome.writes) == want
    assert outcome.writes[:-1] == ((Delete(SERVICE, "9"),) if want == 2 else ())


def test_a_catalog_that_goes_gets_no_service() -> None:
    source = a_catalog()
    source["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert decided(source, address=SERVER) == NOTHING
