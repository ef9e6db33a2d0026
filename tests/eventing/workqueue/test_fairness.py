"""Namespaces take turns: whoever has a thousand jobs waiting delays nobody else by more than one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eventing.events.job import Job, Lane
from eventing.workqueue import Claim
from shared.kinds import NAMESPACE, Ref
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result


def a_job_of(namespace: str, name: str, lane: Lane = "direct", step: str = "subscription/look") -> Job:
    return Job(step, Ref("v1", "ConfigMap", name, namespace), lane)


def order(rig: Rig, took_ms: Callable[[Claim], float] = lambda _: 0.0) -> list[str]:
    """Namespace of each job, in the order in which one worker runs them."""
    found = []
    while claim := rig.queue.claim(GROUPS):
        found.append(claim.ref.namespace or claim.ref.name)
        rig.queue.finish(claim, a_result(took_ms=took_ms(claim)))
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


def test_whoever_runs_for_long_has_fewer_turns(rig: Rig) -> None:
    """Namespaces share the time of the workers, not the number of runs."""

    def took_ms(claim: Claim) -> float:
        return 40.0 if claim.ref.namespace == "slow" else 2.0

    rig.queue.add([a_job_of("slow", f"job-{number}") for number in range(20)], "event")
    order(rig, took_ms)
    rig.queue.add([a_job_of("slow", f"job-{number}") for number in range(20)], "event")
    rig.queue.add([a_job_of("quick", f"job-{number}") for number in range(20)], "event")

    found = order(rig, took_ms)
    assert found.index("slow") <= 1
    assert found[:21].count("slow") <= 2


def test_what_a_namespace_costs_is_forgotten(rig: Rig) -> None:
    rig.queue.add([a_job_of("slow", "job")], "event")
    order(rig, lambda _: 1000.0)

    assert 0 < rig.client.ttl("olmf:cost:slow") <= 300


@pytest.mark.parametrize(
    ("mine", "others", "want"),
    [
        pytest.param("direct", "direct", True, id="another namespace waits in the lane"),
        pytest.param("bulk", "direct", True, id="another namespace waits in the lane before it"),
        pytest.param("direct", "bulk", False, id="another namespace waits in the lane behind it"),
        pytest.param("bulk", "bulk", True, id="another namespace waits in the lane bulk"),
    ],
)
def test_whether_others_wait_behind_a_run(rig: Rig, mine: Lane, others: Lane, want: bool) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}", mine) for number in range(3)], "event")
    claim = rig.claim()
    assert not rig.queue.is_awaited(claim)
    rig.queue.add([a_job_of("calm", "job", others)], "event")

    assert rig.queue.is_awaited(claim) == want


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
