"""What a CatalogSource asks for, and the status that answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.api.manifest import Manifest, timestamp
from shared.api.views import CatalogSource
from shared.domain import catalog_source
from shared.domain.catalog_source import CatalogRequest, Refused

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 2, tzinfo=UTC)
REFERENCE = "registry/local@sha256:1"
CONTENT = {
    "type": "ResolvedContent", "status": "True", "reason": "ContentRead", "message": REFERENCE,
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}  # fmt: skip
SERVICE = {"protocol": "grpc", "serviceName": "local", "serviceNamespace": "olm", "port": "50051"}


def catalog_request(**spec: object) -> CatalogRequest | Refused:
    return catalog_source.catalog_request(CatalogSource({"spec": spec}))


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        pytest.param(
            {"sourceType": "nope"}, "SpecInvalidError", "unknown sourcetype: nope", id="catalog.md 8.1.1: unknown"
        ),
        pytest.param(
            {"sourceType": "grpc"}, "SpecInvalidError",
            "image and address unset: at least one must be set for sourcetype: grpc",
            id="catalog.md 8.1.2: grpc without image and address",
        ),
        pytest.param(
            {"sourceType": "internal"}, "SpecInvalidError",
            "configmap name unset: must be set for sourcetype: internal",
            id="catalog.md 8.1.3: internal without ConfigMap",
        ),
        pytest.param(
            {"sourceType": "configmap"}, "SpecInvalidError",
            "configmap name unset: must be set for sourcetype: configmap",
            id="catalog.md 8.1.3: configmap without ConfigMap",
        ),
    ],
)  # fmt: skip
def test_a_catalog_that_is_not_served(spec: Manifest, reason: str, message: str) -> None:
    assert catalog_request(**spec) == Refused(reason, message)


@pytest.mark.parametrize(
    ("strategy", "interval", "error"),
    [
        pytest.param(None, None, "", id="no polling unless asked"),
        pytest.param({}, None, "", id="catalog.md 8.1.12: an empty updateStrategy means no polling"),
        pytest.param({"registryPoll": {"interval": "45m"}}, timedelta(minutes=45), "", id="an interval"),
        pytest.param({"registryPoll": {"interval": "0s"}}, timedelta(seconds=10), "", id="not without any pause"),
        pytest.param(
            {"registryPoll": {"interval": "45mError.code"}}, timedelta(minutes=15),
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s instead. "
            'Error: time: unknown unit "mError" in duration "45mError.code"',
            id="catalog.md 8.3.41: a bad interval is told, and 15 minutes count",
        ),
        pytest.param(
            {"registryPoll": {"interval": "99999999999h"}}, timedelta(minutes=15),
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s instead. "
            'Error: time: invalid duration "99999999999h"',
            id="an interval that is too long for Go",
        ),
        pytest.param(
            {"registryPoll": {}}, timedelta(minutes=15),
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s instead. "
            'Error: time: invalid duration ""',
            id="catalog.md 2.2: polling without interval",
        ),
    ],
)  # fmt: skip
def test_polling(strategy: Manifest | None, interval: timedelta | None, error: str) -> None:
    spec = {"sourceType": "grpc", "image": "i:v1", "secrets": ["", "pull"], "updateStrategy": strategy}
    assert catalog_request(**spec) == CatalogRequest("i:v1", ("pull",), interval, error)


def test_a_snapshot_records_the_digest_and_clears_the_error() -> None:
    """catalog.md 2.3: an error disappears as soon as a pass no longer raises it."""
    before = {"reason": "RegistryServerError", "message": "no route", "other": "kept"}
    after = catalog_source.snapshotted(before, REFERENCE, CatalogRequest("i"), NOW)
    assert after == {
        "other": "kept",
        "connectionState": {"lastObservedState": "READY", "lastConnect": "2026-01-01T00:00:00Z"},
        "conditions": [CONTENT],
    }
    assert catalog_source.serves_anew(before, after)
    assert catalog_source.is_healthy(CatalogSource({"status": after}))


def test_the_same_snapshot_later_changes_nothing() -> None:
    once = catalog_source.snapshotted({}, REFERENCE, CatalogRequest("i", interval=timedelta(minutes=5)), NOW)
    again = catalog_source.snapshotted(once, REFERENCE, CatalogRequest("i", interval=timedelta(minutes=5)), LATER)
    assert again == once
    assert not catalog_source.serves_anew(once, again)


def test_a_failure_keeps_the_last_good_reference() -> None:
    good = catalog_source.snapshotted({}, REFERENCE, CatalogRequest("i"), NOW)
    failed = catalog_source.unavailable(good, "no route", LATER)
    assert failed["connectionState"] == {
        "lastObservedState": "TRANSIENT_FAILURE", "lastConnect": "2026-01-02T00:00:00Z",
    }  # fmt: skip
    assert CatalogSource({"status": failed}).content == REFERENCE
    assert (failed["reason"], failed["message"]) == ("RegistryServerError", "couldn't connect to registry - no route")
    assert not catalog_source.is_healthy(CatalogSource({"status": failed}))
    assert catalog_source.unavailable(failed, "no route", NOW) == failed


def test_a_bad_interval_does_not_make_a_catalog_unhealthy() -> None:
    status = catalog_source.snapshotted(
        {}, REFERENCE, CatalogRequest("i", (), timedelta(minutes=15), "bad interval"), NOW
    )
    assert status["reason"] == "InvalidIntervalError"
    assert catalog_source.is_healthy(CatalogSource({"status": status}))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        pytest.param("foo", "couldn't connect to registry - address foo: missing port in address", id="no port"),
        pytest.param(
            "http://bar.com:8080",
            "couldn't connect to registry - address http://bar.com:8080: too many colons in address",
            id="a scheme",
        ),
    ],
)
def test_catalog_md_8_3_43_what_is_no_address_is_reported_as_olm_does(address: str, message: str) -> None:
    assert catalog_request(sourceType="grpc", address=address) == Refused("RegistryServerError", message)


BY_ADDRESS = CatalogRequest("grpc://host:1")


@pytest.mark.parametrize(
    ("known", "request_", "want"),
    [
        pytest.param(None, BY_ADDRESS, {"protocol": "grpc", "createdAt": "2026-01-01T00:00:00Z"}, id="8.1.24"),
        pytest.param(
            {"protocol": "grpc", "createdAt": "x"}, BY_ADDRESS, {"protocol": "grpc", "createdAt": "x"}, id="once"
        ),
        pytest.param(
            {"protocol": "grpc", "serviceName": "s"}, BY_ADDRESS,
            {"protocol": "grpc", "createdAt": "2026-01-01T00:00:00Z"}, id="the Service of an image that it was",
        ),
        pytest.param({"protocol": "grpc", "createdAt": "x"}, CatalogRequest("i"), None, id="8.1.20: left over"),
        pytest.param({"serviceName": "s"}, CatalogRequest("i"), None, id="a Service that is no more"),
        pytest.param(None, CatalogRequest("i"), None, id="an image"),
    ],
)  # fmt: skip
def test_catalog_md_2_5_the_registry_service_of_an_address(
    known: Manifest | None, request_: CatalogRequest, want: Manifest | None
) -> None:
    status: Manifest = {"reason": "r"} | ({"registryService": known} if known else {})
    found = catalog_source.registered(status, request_, {}, NOW)
    assert (found.get("registryService"), found["reason"]) == (want, "r")


@pytest.mark.parametrize(
    ("known", "at"),
    [
        pytest.param({}, NOW, id="8.1.8: none yet"),
        pytest.param({"protocol": "grpc", "createdAt": "x"}, NOW, id="8.1.20: of an address that it was"),
        pytest.param({**SERVICE, "port": "1", "createdAt": "x"}, NOW, id="another port"),
        pytest.param({**SERVICE, "createdAt": "2026-01-02T00:00:00Z"}, LATER, id="8.1.5: once"),
    ],
)
def test_catalog_md_2_4_5_the_registry_service_of_an_image(known: Manifest, at: datetime) -> None:
    found = catalog_source.registered({"registryService": known} if known else {}, CatalogRequest("i"), SERVICE, NOW)
    assert found == {"registryService": {**SERVICE, "createdAt": timestamp(at)}}


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("local.olm.svc:", id="8.1.10: a stale one"),
        pytest.param(REFERENCE, id="what an earlier build wrote there"),
    ],
)
def test_catalog_md_2_1_the_address_is_that_of_the_service_and_the_content_stays(address: str) -> None:
    state = {"address": address, "lastObservedState": "READY", "lastConnect": "2026-01-01T00:00:00Z"}
    status = {"connectionState": state, "conditions": [CONTENT] if address != REFERENCE else []}
    assert CatalogSource({"status": status}).content == REFERENCE
    found = catalog_source.registered(status, CatalogRequest("i"), SERVICE, NOW)
    assert found["connectionState"] == {**state, "address": "local.olm.svc:50051"}
    assert (found["conditions"], CatalogSource({"status": found}).content) == ([CONTENT], REFERENCE)
    again = catalog_source.snapshotted(found, REFERENCE, CatalogRequest("i"), LATER)
    assert catalog_source.registered(again, CatalogRequest("i"), SERVICE, LATER) == found
    failed = catalog_source.unavailable(found, "no route", LATER)
    assert failed["connectionState"]["address"] == "local.olm.svc:50051"


def test_catalog_md_2_1_the_address_of_a_server_is_that_of_the_spec() -> None:
    read = catalog_source.snapshotted({}, "grpc://host:1@sha256:1", BY_ADDRESS, NOW)
    assert read["connectionState"]["address"] == "host:1"
    moved = catalog_source.registered(read, CatalogRequest("grpc://host:2"), {}, NOW)
    assert moved["connectionState"]["address"] == "host:2"
    gone = catalog_source.registered(read, CatalogRequest("i"), {}, NOW)
    assert "address" not in gone["connectionState"]
    unread = catalog_source.registered({"connectionState": {"lastObservedState": "IDLE"}}, BY_ADDRESS, {}, NOW)
    assert (unread["connectionState"]["address"], "conditions" in unread) == ("host:1", False)


def test_other_content_within_the_same_second_is_told_to_its_users() -> None:
    before, after = (catalog_source.snapshotted({}, f"i@sha256:{one}", CatalogRequest("i"), NOW) for one in "12")
    assert before["connectionState"] == after["connectionState"]
    assert catalog_source.serves_anew(before, after)


def test_catalog_md_2_9_2_the_first_state_names_the_address() -> None:
    status = {"registryService": {**SERVICE, "createdAt": "x"}}
    found = catalog_source.connecting(status, CatalogRequest("i"), NOW)
    assert found is not None
    assert found["connectionState"] == {
        "address": "local.olm.svc:50051", "lastObservedState": "CONNECTING", "lastConnect": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert catalog_source.connecting(found, CatalogRequest("i"), LATER) is None


def test_catalog_md_2_5_an_address_wins_over_an_image_and_is_asked_again_and_again() -> None:
    found = catalog_request(sourceType="grpc", address="host:1", image="i")
    assert isinstance(found, CatalogRequest)
    assert found.image == "grpc://host:1"
    assert found.interval is not None
    polled = catalog_request(sourceType="grpc", address="host:1", updateStrategy={"registryPoll": {"interval": "1h"}})
    assert isinstance(polled, CatalogRequest)
    assert polled.interval == timedelta(hours=1)
