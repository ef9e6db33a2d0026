"""The look at the Secrets of serving certificates that comes with each audit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.events.job import Job
from eventing.routes import jobs_for
from shared import names
from shared.adapters.keys.stored import public_part
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, ROLE
from shared.step import Emit, Outcome
from tests.domain.endpoints.builders import a_webhook
from tests.functions.cluster_service_version.served import CERTIFICATE, a_working_world, a_world, installed
from tests.functions.cluster_service_version.world import World, csv_ref

ANYTHING = ROLE.ref(names.ANY, "ns")
HARMED = (Emit(names.REQUIREMENT_CHANGED, csv_ref("a.v1")),)


def looked(world: World) -> Outcome:
    return world.decide(Job("cluster_service_version/check_certificates", ANYTHING))


@pytest.fixture
def world() -> World:
    return a_working_world()


def test_nothing_is_emitted_and_little_is_read_when_all_is_well(world: World) -> None:
    """The bindings, the versions of one namespace, one Secret and one Deployment."""
    world.requests.clear()
    assert looked(world).emits == ()
    assert world.requests == {"read": 4}


def test_an_audit_comes_with_a_look() -> None:
    event = Event("id", names.AUDIT_REQUESTED, "test", ANYTHING, {})
    assert "cluster_service_version/check_certificates" in [job.step for job in jobs_for(event)]


def test_a_deleted_secret_is_noticed_and_made_again_csv_md_18_row_86(world: World) -> None:
    world.remove(CERTIFICATE)
    assert looked(world).emits == HARMED
    world.walk_until_rest()
    assert looked(world).emits == ()


def test_an_edited_secret_is_noticed(world: World) -> None:
    with world.edited(CERTIFICATE) as secret:
        del secret["data"]["tls.key"]
    assert looked(world).emits == HARMED


def test_another_whole_secret_is_noticed_by_what_the_pods_were_reported(world: World) -> None:
    """Its certificate fits its CA, but who calls trusts another one."""
    other = installed(a_world()).objects[CERTIFICATE]
    with world.edited(CERTIFICATE) as secret:
        secret["data"], secret["metadata"]["annotations"] = other["data"], other["metadata"]["annotations"]
    assert looked(world).emits == HARMED
    world.does("probe")
    world.walk_until_rest()
    assert looked(world).emits == ()
    template = world.objects[DEPLOYMENT.ref("operator", "ns")]["spec"]["template"]
    digest = public_part(world.objects[CERTIFICATE]).content.pair.digest
    assert template["metadata"]["annotations"]["olmcahash"] == digest


def test_a_certificate_that_ends_is_noticed(world: World) -> None:
    world.time += timedelta(days=730)
    assert looked(world).emits == HARMED


@pytest.mark.parametrize("phase", ["Pending", "Installing", "Failed"])
def test_a_version_that_is_looked_at_anyway_is_left_to_its_steps(world: World, phase: str) -> None:
    world.remove(CERTIFICATE)
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"]["phase"] = phase
    assert looked(world).emits == ()


def test_a_copy_is_no_version_that_serves(world: World) -> None:
    world.remove(CERTIFICATE)
    with world.edited(CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")) as csv:
        csv["metadata"].setdefault("labels", {})[names.COPIED_FROM] = "other"
    assert looked(world).emits == ()


def test_a_version_without_webhooks_is_not_read_for_certificates() -> None:
    hooks: tuple[Any, ...] = (a_webhook(),)
    world = a_world(hooks=hooks)
    world.requests.clear()
    assert looked(world).emits == ()
    assert world.requests == {"read": 1}
