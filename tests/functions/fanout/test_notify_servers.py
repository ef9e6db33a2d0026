from __future__ import annotations

import pytest

from eventing.events import event as events
from eventing.events.event import Event
from eventing.routes import jobs_for
from functions.fanout.notify_servers import notify_servers
from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.endpoints import sharing
from shared.domain.endpoints.endpoint import endpoints_of
from shared.kinds import CLUSTER_ROLE_BINDING, CLUSTER_SERVICE_VERSION, ROLE_BINDING, Ref
from shared.step import Emit
from tests.domain.endpoints.builders import a_server, a_webhook
from tests.kit.cluster import FakeCluster

DELEGATOR = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")
READER = ROLE_BINDING.ref("operator-service-auth-reader", "kube-system")
SERVER = a_server(a_webhook())
HARMED = (Emit(names.CONFIG_CHANGED, CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")),)
COPY = a_server(a_webhook(), meta={"labels": {"olm.copiedFrom": "x"}})


def bindings(*missing: Ref) -> list[Manifest]:
    """Both bindings of the version; the subjects of those that are named were taken out."""
    [endpoint] = endpoints_of(csv := Csv(SERVER))
    found = (sharing.delegator(csv, endpoint, None), sharing.reader(endpoint, None))
    return [{**one, "subjects": []} if Ref.of(one) in missing else one for one in found]


@pytest.mark.parametrize(
    ("csv", "missing", "emits"),
    [
        pytest.param(SERVER, (DELEGATOR,), HARMED, id="it cannot ask about its callers any more"),
        pytest.param(SERVER, (READER,), HARMED, id="it cannot read how the API server proves itself"),
        pytest.param(SERVER, (), (), id="nothing is missing"),
        pytest.param(a_server(), (READER,), (), id="another version"),
        pytest.param(COPY, (READER,), (), id="a copy"),
    ],
)
@pytest.mark.parametrize("ref", [DELEGATOR, READER])
def test_versions_that_lack_a_permission(
    csv: Manifest, missing: tuple[Ref, ...], emits: tuple[Emit, ...], ref: Ref
) -> None:
    outcome = notify_servers(ref, FakeCluster([csv, *bindings(*missing)]))

    assert (outcome.writes, outcome.emits) == ((), emits)


def steps(ref: Ref, verb: str, owner: str = "") -> set[str]:
    event = Event("e", f"{names.RESOURCE_EVENT}{verb}", "cluster", ref, {events.OWNERS: owner})
    return {job.step for job in jobs_for(event)}


def test_an_edit_is_looked_at_and_the_owner_of_one_that_is_gone_is_reported() -> None:
    assert "fanout/notify_servers" in steps(READER, ".update") & steps(DELEGATOR, ".delete")
    assert "fanout/notify_servers" not in steps(READER, ".add")
    assert "fanout/notify_servers" not in steps(ROLE_BINDING.ref("any", "kube-system"), ".update")
    owner = "ClusterServiceVersion/ns/a.v1"
    assert "cluster_service_version/probe_operator" in steps(DELEGATOR, ".delete", owner)
