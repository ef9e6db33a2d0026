"""Namespaces take turns: whoever has a thousand jobs waiting delays nobody else by more than one of them."""

from __future__ import annotations

import pytest

from eventing.routes import Job, Lane
from shared.kinds import NAMESPACE, Ref
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result


def a_job_of(namespace: str, name: str, lane: Lane = "direct", step: str = "subscription/look") -> Job:
    return Job(step, Ref("v1", "ConfigMap", name, namespace), lane)


def order(rig: Rig) -> list[str]:
    """Namespace of each job, in the order in which one worker runs them."""
    found = []
    while claim := rig.queue.claim(GROUPS):
        found.append(claim.ref.namespace or claim.ref.name)
        rig.queue.finish(claim, a_result())
    return found


@pytest.mark.parametrize("lane", ["direct", "bulk"])
def test_a_backlog_delays_the_first_job_of_another_namespace_by_one_job(rig: Rig, lane: Lane) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}", lane) for number in range(100)], "event")
    for _ in range(3):
        rig.queue.finish(rig.claim(), a_result())
    rig.queue.add([a_job_of("calm", "job", lane)], "event")

    assert "calm" in order(rig)[:2]


def test_a_chain_of_steps_passes_the_backlog_at_each_step(rig: Rig) -> None:
    """An install is a chain: each run rings the next one."""
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(200)], "event")
    rig.queue.add([a_job_of("calm", "step-0")], "event")
    ran, step = 0, 0
    while step < 20:
        claim = rig.claim()
        ran += 1
        emitted: tuple[Job, ...] = ()
        if claim.ref.namespace == "calm":
            step += 1
            emitted = (a_job_of("calm", f"step-{step}"),)
        rig.queue.finish(claim, a_result(jobs=emitted))
    assert ran <= 2 * step + 2


def test_three_namespaces_share_a_lane(rig: Rig) -> None:
    for namespace in ("a", "b", "c"):
        rig.queue.add([a_job_of(namespace, f"job-{number}") for number in range(4)], "event")

    assert order(rig) == ["a", "b", "c"] * 4


def test_a_namespace_as_key_takes_the_turns_of_its_name(rig: Rig) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(10)], "event")
    rig.queue.add([Job("subscription/track", NAMESPACE.ref("busy"))], "event")
    rig.queue.add([Job("subscription/track", NAMESPACE.ref("calm"))], "event")

    assert order(rig).index("calm") <= 1


def test_endless_direct_work_leaves_one_claim_in_eight_to_bulk(rig: Rig) -> None:
    rig.queue.add([a_job_of("calm", "job", "bulk")], "event")
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(50)], "event")

    assert order(rig).index("calm") < 8


def test_a_job_that_leaves_the_bulk_lane_while_its_ref_is_held_has_its_turn_among_the_direct_ones(rig: Rig) -> None:
    """Each lane counts its turns for itself: the place in the one means nothing in the other."""
    rig.queue.add([a_job_of("served", f"job-{number}", "bulk") for number in range(30)], "event")
    order(rig)
    rig.queue.add([a_job_of("calm", "job", "bulk")], "event")
    held = rig.claim()
    rig.queue.add([a_job_of("calm", "job", "bulk")], "event-2")
    rig.queue.add([a_job_of("calm", "job", "direct")], "event-3")
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(20)], "event")
    rig.queue.finish(held, a_result())

    assert order(rig).index("calm") <= 1


def test_turns_leave_nothing_behind(rig: Rig) -> None:
    for number in range(50):
        rig.queue.add([a_job_of(f"namespace-{number}", "job")], "event")
    order(rig)
    for _ in range(2):
        rig.queue.add([a_job("again")], "event")
        order(rig)

    assert rig.client.zcard("olmf:shares:direct") <= 1
