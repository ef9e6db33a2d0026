"""Namespaces share the time of the workers: however much of one waits, the next job of another has its share."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from eventing.events.job import Job, Lane
from eventing.workqueue import Claim, WorkQueue
from shared.config import Settings
from shared.kinds import CLUSTER_ROLE, NAMESPACE, OPERATOR, Ref
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


def forget_order(rig: Rig) -> None:
    """Leave of the jobs in line what a build without lines of namespaces leaves."""
    for key in ("olmf:order*", "olmf:next*", "olmf:spent*", "olmf:level*"):
        rig.client.delete(*rig.client.scan_iter(key), "none")


@pytest.mark.parametrize("lane", ["direct", "bulk"])
def test_a_backlog_delays_the_first_job_of_another_namespace_by_one_job(rig: Rig, lane: Lane) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}", lane) for number in range(100)], "event")
    for _ in range(3):
        rig.queue.finish(rig.claim(), a_result())
    rig.queue.add([a_job_of("calm", "job", lane)], "event")

    assert "calm" in order(rig)[:2]


def test_operators_that_labels_name_delay_no_other_cluster_scoped_object(rig: Rig) -> None:
    """Whoever may label one object in one namespace names as many Operators as he likes."""
    named = [Job("subscription/look", OPERATOR.ref(f"any-{number}.calm"), "bulk") for number in range(100)]
    rig.queue.add(named, "event")
    for _ in range(3):
        rig.queue.finish(rig.claim(), a_result())
    rig.queue.add([Job("subscription/look", CLUSTER_ROLE.ref("view"), "bulk")], "event")

    assert "view" in order(rig)[:2]


def test_a_chain_of_steps_passes_the_backlog_at_each_step(rig: Rig) -> None:
    """An install is a chain: each run enqueues the next one."""
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


def took_40_or_2_ms(claim: Claim) -> float:
    return 40.0 if claim.ref.namespace == "slow" else 2.0


def test_whoever_runs_for_long_has_fewer_turns(rig: Rig) -> None:
    """Namespaces share the time of the workers, not the number of runs."""
    rig.queue.add([a_job_of("slow", f"job-{number}") for number in range(20)], "event")
    rig.queue.add([a_job_of("quick", f"job-{number}") for number in range(40)], "event")

    found = order(rig, took_40_or_2_ms)
    assert found[:42].count("slow") <= 3


def test_who_was_quiet_goes_before_a_backlog_for_five_seconds(rig: Rig) -> None:
    """As long as an install needs; after that both share."""
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(130)], "event")
    for _ in range(70):
        rig.queue.finish(rig.claim(), a_result(took_ms=100.0))
    rig.queue.add([a_job_of("calm", f"step-{number}") for number in range(80)], "event")

    found = order(rig, lambda _: 100.0)
    assert found[:50].count("calm") >= 47
    assert 8 <= found[54:74].count("busy") <= 12


def test_what_runs_cost_before_buys_nothing(rig: Rig) -> None:
    """Jobs that were cheap so far may become dear once they are in line."""
    rig.queue.add([a_job_of("slow", f"cheap-{number}") for number in range(30)], "event")
    order(rig)
    rig.queue.add([a_job_of("slow", f"dear-{number}") for number in range(20)], "event")
    rig.queue.add([a_job_of("quick", f"job-{number}") for number in range(40)], "event")

    assert order(rig, took_40_or_2_ms)[:42].count("slow") <= 3


def test_one_slow_run_shuts_nobody_out(rig: Rig) -> None:
    rig.queue.add([a_job_of("slow", "first")], "event")
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(40)], "event")
    rig.queue.finish(rig.claim(), a_result(took_ms=600_000.0))
    rig.queue.add([a_job_of("slow", "second")], "event")

    assert "slow" in order(rig, lambda _: 40.0)[:30]


def test_a_run_that_is_killed_costs_what_it_took(rig: Rig) -> None:
    rig.queue.add([a_job_of("killed", f"job-{number}") for number in range(2)], "event")
    rig.queue.add([a_job_of("calm", f"job-{number}") for number in range(4)], "event")
    claim = rig.claim()
    time.sleep(0.02)  # so that it took 20 ms at least; more changes nothing
    rig.end_leases()
    rig.queue.sweep()

    assert claim.ref.namespace == "killed"
    assert order(rig)[:4] == ["calm"] * 4


def test_long_runs_cost_no_turn_in_other_lanes(rig: Rig) -> None:
    pull = a_job_of("catalogs", "pull", "long", "bundle/pull")
    rig.queue.add([pull], "event")
    claim = rig.queue.claim_long(pull)
    assert claim
    rig.queue.finish(claim, a_result(took_ms=120_000.0))
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(20)], "event")
    rig.queue.add([a_job_of("catalogs", "job")], "event")

    assert order(rig).index("catalogs") <= 1
    assert not rig.client.exists("olmf:spent:long")


def test_a_job_that_was_blocked_for_long_gives_nobody_an_advantage(rig: Rig) -> None:
    rig.queue.add([a_job_of("held", "ref")], "event")
    locked = rig.claim()
    rig.queue.add([a_job_of("held", "ref", step="bundle/look")], "event")
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(20)], "event")
    order(rig, lambda _: 40.0)
    rig.queue.finish(locked, a_result(took_ms=1.0))
    rig.queue.finish(rig.claim(), a_result(took_ms=1.0))
    rig.queue.add([a_job_of("victim", f"job-{number}") for number in range(3)], "event")
    rig.queue.add([a_job_of("evil", f"job-{number}") for number in range(200)], "event")

    assert order(rig)[:6].count("victim") >= 2


def test_nobody_waits_behind_a_run_once_the_jobs_of_others_have_ended(rig: Rig) -> None:
    rig.queue.add([a_job_of("calm", f"job-{number}") for number in range(2)], "event")
    order(rig, lambda _: 900.0)
    rig.queue.add([a_job_of("busy", "job")], "event")

    assert not rig.queue.is_awaited(rig.claim())


def test_a_worker_of_one_group_is_not_awaited_by_jobs_of_another(rig: Rig) -> None:
    rig.queue.add([a_job_of("busy", "job")], "event")
    rig.queue.add([a_job_of("calm", "job", step="bundle/look")], "event")
    claim = rig.queue.claim(["subscription"])

    assert claim
    assert not rig.queue.is_awaited(claim)


def test_others_are_seen_behind_many_namespaces_of_another_group(rig: Rig) -> None:
    rig.queue.add([a_job_of(f"namespace-{number}", "job", step="bundle/look") for number in range(60)], "event")
    rig.queue.add([a_job_of("busy", "job"), a_job_of("calm", "job")], "event")
    claim = rig.queue.claim(["subscription"])

    assert claim
    assert rig.queue.is_awaited(claim)


def test_a_worker_of_one_group_finds_its_jobs_behind_many_of_another(rig: Rig) -> None:
    rig.queue.add([a_job_of(f"namespace-{number}", "job") for number in range(130)], "event")
    rig.queue.add([a_job_of("calm", "job", step="bundle/look")], "event")
    claim = rig.queue.claim(["bundle"])

    assert claim
    assert claim.ref.namespace == "calm"


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


def test_who_has_used_the_same_goes_in_the_order_of_arrival(rig: Rig) -> None:
    names = ["one", "a-name-that-sorts-first", "two"]
    for name in names:
        rig.queue.add([a_job_of(name, "job")], "event")

    assert order(rig) == names


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
    locked = rig.claim()
    rig.queue.add([a_job_of("calm", "job", "bulk")], "event-2")
    rig.queue.add([a_job_of("calm", "job", "direct")], "event-3")
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(20)], "event")
    rig.queue.finish(locked, a_result())

    assert order(rig).index("calm") <= 1


def test_what_a_build_kept_that_knew_no_distances_is_forgotten(rig: Rig) -> None:
    rig.queue.add([a_job_of("one", "job")], "event")
    entry = "subscription/look|v1/ConfigMap/one/job"
    rig.client.zadd("olmf:line:subscription:direct:one", {entry: 1})
    rig.client.hset("olmf:lines:direct", "one", 1)
    rig.client.zadd("olmf:waiting:direct", {"one": 0})
    rig.client.zadd("olmf:rested:direct", {"two": 0})
    rig.client.set("olmf:used:direct", 0)
    rig.queue.sweep(lost_worker="of the build before")

    former = ("line:*", "lines:*", "waiting:*", "rested:*", "used:*")
    assert not [key for pattern in former for key in rig.client.scan_iter(f"olmf:{pattern}")]
    assert order(rig) == ["one"]


def test_a_worker_that_starts_finds_what_a_build_without_lines_of_namespaces_left(rig: Rig) -> None:
    rig.queue.add([a_job_of("one", "job"), a_job_of("two", "job", "bulk")], "event")
    forget_order(rig)
    rig.queue.add([a_job_of("one", "other")], "event")
    rig.queue.add([a_job_of("two", "job", "direct")], "event")
    assert sorted(order(rig)) == ["one", "two"]

    rig.queue.sweep(lost_worker="of the build before")
    assert order(rig) == ["one"]


def test_a_claim_of_a_build_that_noted_no_lane_is_taken_back(rig: Rig) -> None:
    rig.queue.add([a_job("one")], "event")
    rig.claim()
    rig.client.hdel("olmf:job:subscription/look|v1/ConfigMap/ns/one", "running_lane")
    rig.end_leases()
    rig.queue.sweep()
    rig.end_delays()

    assert rig.claim().ref.name == "one"


def test_a_sweeper_finds_what_a_build_without_lines_adds_beside_this_one(rig: Rig) -> None:
    rig.queue.sweep(lost_worker="somebody")
    rig.queue.add([a_job_of("one", "job")], "event")
    forget_order(rig)
    assert order(rig) == []

    rig.client.delete("olmf:mended")  # as if time had passed
    rig.queue.sweep()
    assert order(rig) == ["one"]


def test_what_a_build_without_lines_has_run_is_not_run_again(rig: Rig) -> None:
    rig.queue.add([a_job_of("one", "run"), a_job_of("one", "waits")], "event")
    entry = "subscription/look|v1/ConfigMap/one/run"
    rig.client.zrem("olmf:ready:subscription:direct", entry)
    rig.client.delete(f"olmf:job:{entry}")

    assert [rig.claim().ref.name, rig.queue.claim(GROUPS)] == ["waits", None]
    assert not list(rig.client.scan_iter("olmf:order*"))


@pytest.mark.parametrize("late", ["subscription/look", "bundle/look"], ids=["same group", "a group nobody serves"])
def test_whoever_waits_for_long_saves_nothing_up(rig: Rig, late: str) -> None:
    """A namespace whose jobs no worker takes for a while must not go before all others for as long afterwards."""
    rig.queue.add([a_job_of("evil", "first", step="bundle/look")], "event")
    for number in range(60):
        rig.queue.add([a_job_of("busy", f"job-{number}")], "event")
        claim = rig.queue.claim(["subscription"])
        assert claim
        rig.queue.finish(claim, a_result(took_ms=900.0))
    rig.queue.add([a_job_of("evil", f"job-{number}", step=late) for number in range(60)], "event")
    rig.queue.add([a_job_of("calm", f"job-{number}") for number in range(3)], "event")

    assert order(rig, lambda _: 100.0).index("calm") <= 3


def test_turns_leave_nothing_behind(rig: Rig) -> None:
    for number in range(50):
        rig.queue.add([a_job_of(f"namespace-{number}", "job")], "event")
    order(rig)
    for number in range(10):
        rig.queue.add([a_job("again"), a_job_of(f"other-{number}", "job")], "event")
        order(rig, lambda _: 1000.0)

    assert rig.client.zcard("olmf:spent:direct") <= 7
    assert not list(rig.client.scan_iter("olmf:order*"))
    assert not list(rig.client.scan_iter("olmf:next*"))


def test_a_worker_gets_no_second_run_of_a_namespace_until_the_first_has_ended(rig: Rig) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(3)], "event")
    rig.queue.add([a_job_of("calm", "job")], "event")
    claims = [rig.queue.claim(GROUPS, runs_per_namespace=1) for _ in range(3)]
    assert [claim.ref.namespace if claim else "" for claim in claims] == ["busy", "calm", ""]

    assert claims[0]
    rig.queue.finish(claims[0], a_result())
    next_one = rig.queue.claim(GROUPS, runs_per_namespace=1)
    assert next_one
    assert next_one.ref.namespace == "busy"


def test_what_one_worker_runs_of_a_namespace_does_not_count_for_another(rig: Rig) -> None:
    rig.queue.add([a_job_of("busy", f"job-{number}") for number in range(2)], "event")

    assert rig.queue.claim(GROUPS, runs_per_namespace=1)
    assert WorkQueue(rig.client, Settings(), worker="another").claim(GROUPS, runs_per_namespace=1)
