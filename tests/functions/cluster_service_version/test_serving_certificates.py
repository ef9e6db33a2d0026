"""The certificates of a version that serves: kept, replaced, rotated; and Secrets that were there before."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest, timestamp
from shared.api.views import Csv
from shared.domain.endpoints.certificates import SETTLED
from shared.domain.endpoints.naming import hosts
from shared.domain.objects.ownership import owner_reference
from shared.kinds import (
    DEPLOYMENT,
)
from shared.step import StoreKeys
from tests.domain.csv.builders import NOW
from tests.domain.endpoints.builders import an_api
from tests.functions.cluster_service_version.served import (
    ANOTHER,
    CERTIFICATE,
    a_working_world,
    becomes,
    bundle,
    phase,
    times,
)
from tests.functions.cluster_service_version.world import csv_ref

pytestmark = pytest.mark.unmeasured


def test_a_rotation_has_three_stages_csv_md_18_rows_87_and_105() -> None:
    """At no time does a server use a certificate of a CA that its clients do not trust."""
    world = a_working_world()
    before = public_part(world.objects[CERTIFICATE]).content.pair
    world.later(days=729, hours=1)
    world.does("probe")
    assert phase(world) == ("Pending", "NeedsCertRotation")
    seen = []
    for _ in range(40):
        for step in ("check", "install", "probe"):
            world.does(step)
            used = public_part(world.objects[CERTIFICATE]).content.pair
            assert used.authority in bundle(world)
            seen.append((used == before, bundle(world).count("BEGIN")))
        world.later(seconds=2)
    assert phase(world)[0] == "Succeeded"
    assert list(dict.fromkeys(seen)) == [(True, 1), (True, 2), (False, 2), (False, 1)]
    content = public_part(world.objects[CERTIFICATE]).content
    assert not content.is_rotating
    assert bundle(world) == content.pair.authority
    made = content.pair.ends - timedelta(days=730)
    assert NOW + timedelta(days=729, hours=1) <= made <= NOW + timedelta(days=729, hours=1, seconds=4)
    assert times(world) == (timestamp(made), timestamp(made + timedelta(days=729)))
    assert [one for one in world.events if one.reason == "CertificateReplaced"] == []


@pytest.mark.measured
@pytest.mark.parametrize(("ahead", "trusted"), [(timedelta(), 2), (timedelta(hours=1), 1)])
def test_the_former_ca_is_trusted_while_a_service_may_lead_to_a_replaced_pod(ahead: timedelta, trusted: int) -> None:
    """The time of a controller whose clock is far ahead is not waited for."""
    world = a_working_world()
    before = public_part(world.objects[CERTIFICATE]).content.pair
    world.later(days=729, hours=1)
    world.does("probe")
    while public_part(world.objects[CERTIFICATE]).content.pair == before:
        for step in ("check", "install", "probe"):
            world.does(step)
        world.later(seconds=2)
    for step in ("check", "install"):
        world.does(step)
    world.later(minutes=1)
    done = {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}
    with world.edited(DEPLOYMENT.ref("operator", "ns")) as deployment:
        reported = deployment["status"].setdefault("conditions", [])
        reported.append({**done, "lastUpdateTime": timestamp(world.time + ahead)})
    world.does("probe")
    assert bundle(world).count("BEGIN") == trusted
    world.later(seconds=SETTLED.total_seconds())
    world.does("probe")
    assert bundle(world).count("BEGIN") == 1


@pytest.mark.parametrize(
    ("days", "slept"),
    [
        pytest.param(0, timedelta(hours=12), id="half a day: delays do not survive the loss of the queue"),
        pytest.param(728, timedelta(hours=12), id="a day before it is due"),
        pytest.param(728.9, timedelta(hours=2, minutes=24), id="when it is due"),
    ],
)
def test_the_next_look_at_a_certificate_csv_md_7_8(days: float, slept: timedelta) -> None:
    world = a_working_world()
    world.later(days=days)
    found = world.step("probe")
    assert (found.writes, found.again_in) == ((), slept)


def test_an_expired_certificate_is_replaced_at_once_csv_md_18_row_89() -> None:
    world = a_working_world()
    world.later(days=731)
    world.walk_until_rest()
    content = public_part(world.objects[CERTIFICATE]).content
    assert (phase(world)[0], content.is_rotating, bundle(world)) == ("Succeeded", False, content.pair.authority)


def test_a_secret_of_somebody_else_is_taken_csv_md_18_rows_234_and_235() -> None:
    """It says nothing of a CA, so that its certificate is of no use; its owners stay, and ours is added once."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ns"}}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}
    theirs = {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"tls.crt": "eA=="},
        "metadata": {"name": CERTIFICATE.name, "namespace": "ns", "ownerReferences": [owner]},
    }  # fmt: skip
    world = a_working_world(config, theirs)
    secret = world.objects[CERTIFICATE]
    assert secret["type"] == "Opaque"
    assert secret["metadata"]["labels"]["olm.managed"] == "true"
    assert [one["kind"] for one in secret["metadata"]["ownerReferences"]] == ["ConfigMap", "ClusterServiceVersion"]
    assert public_part(secret).content.pair.flaw == ""


def a_secret(texts: dict[str, str], *owners: Manifest) -> Manifest:
    """The Secret of the Deployment, as somebody made it before the version was there."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    meta = {"name": CERTIFICATE.name, "namespace": "ns", "ownerReferences": list(owners)}
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data, "metadata": meta}


def a_stored_pair(begins: timedelta, name: str = "operator") -> Manifest:
    """A Secret with a whole certificate that is valid from that time on."""
    pair, private = x509.issue(hosts(name, "ns"), NOW + begins)
    texts = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}
    return a_secret(texts)


THERE = [
    pytest.param((), id="it was made with the version"),
    pytest.param((a_stored_pair(timedelta()),), id="it was there before, in a Secret of another type, which stays"),
]


@pytest.mark.parametrize("there", THERE)
def test_what_is_valid_is_used_again_csv_md_18_row_85(there: tuple[Manifest, ...]) -> None:
    world = a_working_world(*there)
    secret, before = world.objects[CERTIFICATE], times(world)
    world.later(days=1)
    world.remove(DEPLOYMENT.ref("operator", "ns"))
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[CERTIFICATE], times(world)) == ("Succeeded", secret, before)
    becomes(world, "InstallReady")
    assert [write for write in world.step("install").writes if isinstance(write, StoreKeys)] == []


REPLACED = [
    pytest.param(a_secret({"note": "x"}), "no certificate", id="it holds none"),
    pytest.param(a_stored_pair(timedelta(days=-800)), "expired at 2025", id="csv.md 18 row 89: it has expired"),
    pytest.param(a_stored_pair(timedelta(days=30)), "not valid before 2026", id="csv.md 7.2: it is not valid yet"),
    pytest.param(a_stored_pair(timedelta(), "x"), "not for the name operator-service.ns", id="csv.md 7.2: names"),
]


@pytest.mark.measured
@pytest.mark.parametrize(("there", "reported"), REPLACED)
def test_a_secret_that_is_of_no_use_is_reported_by_an_event(there: Manifest, reported: str) -> None:
    world = a_working_world(there)
    [event] = [one for one in world.events if one.reason == "CertificateReplaced"]
    assert (event.type, event.ref) == ("Warning", csv_ref("a.v1"))
    assert event.message.startswith(f"Secret {CERTIFICATE.name} gets another certificate: {reported}")


@pytest.mark.parametrize(
    ("there", "is_owned"),
    [
        pytest.param(a_secret({"password": "x"}), False, id="csv.md 7.2: data of somebody else outlive the version"),
        pytest.param(
            a_secret({"password": "x"}, owner_reference(Csv(ANOTHER))),
            True,
            id="csv.md 7.2: a version owned it before",
        ),
        pytest.param(a_secret({"tls.crt": "x"}), True, id="it holds nothing but what is written anew"),
    ],
)
def test_who_owns_a_secret_that_was_there_before_csv_md_18_row_235(there: Manifest, is_owned: bool) -> None:
    world = a_working_world(ANOTHER, there)
    found = world.objects[CERTIFICATE]
    owners = {one["uid"] for one in found["metadata"].get("ownerReferences", ())}
    assert (world.csv()["metadata"]["uid"] in owners) is is_owned
    assert found["data"].get("password") == there["data"].get("password")
    assert found["metadata"]["labels"]["olm.managed"] == "true"
    reported = [one for one in world.events if "holds data of somebody else" in one.message]
    assert bool(reported) is not is_owned
    assert world.step("probe").writes == ()


def test_a_failed_version_rotates_too_csv_md_4_6_8_and_18_row_87() -> None:
    world = a_working_world(apis=(an_api(),))
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"] |= {"phase": "Failed", "reason": "ComponentUnhealthy"}
    world.later(days=729, hours=1)
    world.does("probe")
    reported = world.csv()["status"]["message"]
    assert (phase(world), reported) == (("Pending", "NeedsCertRotation"), "owned APIServices need cert refresh")


@pytest.mark.parametrize("days", [-3, 800])
def test_a_clock_that_jumps_and_comes_back_csv_md_7_2(days: int) -> None:
    """What is valid at each of both times is served, and every jump ends in rest."""
    world = a_working_world()
    for jump in (days, -days):
        world.later(days=jump)
        world.walk_until_rest()
        pair = public_part(world.objects[CERTIFICATE]).content.pair
        assert pair.serves(("operator-service.ns.svc",), world.time)
        assert (phase(world)[0], bundle(world)) == ("Succeeded", pair.authority)
        assert world.step("probe").writes == ()
