"""The log of the gateway, read."""

from __future__ import annotations

from tests.conformance.knative.deliveries import Delivery, deliveries, told

LOG = """\
[2026-06-17 21:12:49][info] something else
delivery olmf-intake.olm.svc.cluster.local 204 11 a1 dev.knative.apiserver.resource.add
delivery olmf-intake.olm.svc.cluster.local 204 12 a1 dev.knative.apiserver.resource.add
delivery olmf-bundle.olm.svc.cluster.local 503 900 w1 io.olmf.work.ready
delivery olmf-bundle.olm.svc.cluster.local 200 1 - -
delivery other.shop.svc.cluster.local 200 1 b1 shop.order
""".splitlines()


def test_only_events_to_services_of_ours_are_read() -> None:
    change = Delivery("olmf-intake", 204, "a1", "dev.knative.apiserver.resource.add")
    assert deliveries(LOG) == [change, change, Delivery("olmf-bundle", 503, "w1", "io.olmf.work.ready")]


def test_repeats_and_refusals_are_told() -> None:
    assert told(deliveries(LOG)) == (
        "2 changes delivered, 1 of them again; 1 wake-ups; answered otherwise than with an empty 204: {503: 1}"
    )
