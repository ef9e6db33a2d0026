"""Who is nearer to the end of an install goes first, and passes over nobody for longer than the credit."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from itertools import chain

import pytest

from eventing.events.job import CHECK, INSTALL, WAITS_FOR, Job
from eventing.routes import ROUTES, STEPS
from eventing.workqueue import Claim
from shared.kinds import Ref
from tests.eventing.workqueue.conftest import Rig, a_result

GROUPS = tuple(dict.fromkeys(step.partition("/")[0] for step in STEPS))
FIRST, LAST, ASIDE = INSTALL[-1], INSTALL[0], "cluster_service_version/copy_csvs"
EXECUTE = "install_plan/execute_install_plan"
CREDIT_MS = 5000


def a_job_of(namespace: str, step: str, name: str = "one") -> Job:
    return Job(step, Ref("v1", "ConfigMap", name, namespace))


def run(rig: Rig, took_ms: float = 10.0, *emits: Job) -> Claim:
    """The next claim, whose run has ended."""
    claim = rig.claim(GROUPS)
    rig.queue.finish(claim, a_result(took_ms=took_ms, jobs=emits))
    return claim


def follow(rig: Rig, took_ms: Mapping[str, float]) -> dict[str, float]:
    """When the last step of each namespace ended in the time of one worker, whose runs take so long there."""
    now, ended = 0.0, dict[str, float]()
    while claim := rig.queue.claim(GROUPS):
        namespace, step = claim.ref.namespace, claim.step
        now += took_ms[namespace]
        emits = (a_job_of(namespace, INSTALL[INSTALL.index(step) - 1]),) if step in INSTALL[1:] else ()
        rig.queue.finish(claim, a_result(took_ms=took_ms[namespace], jobs=emits))
        if step == LAST:
            ended[namespace] = now
    return ended


def test_the_steps_of_an_install_are_steps_that_wait_for_no_lane_of_their_own() -> None:
    assert set(INSTALL) <= set(STEPS)
    assert not {route.step for route in ROUTES if route.lane == "long"} & set(INSTALL)
    assert {*WAITS_FOR, *chain.from_iterable(WAITS_FOR.values())} <= set(INSTALL)


@pytest.mark.parametrize("near", range(len(INSTALL) - 1))
def test_the_nearer_to_the_end_goes_first(rig: Rig, near: int) -> None:
    rig.queue.add([a_job_of("begins", INSTALL[near + 1])], "event")
    rig.queue.add([a_job_of("ends", INSTALL[near])], "event")

    assert [run(rig).ref.namespace, run(rig).ref.namespace] == ["ends", "begins"]


def test_in_one_namespace_too(rig: Rig) -> None:
    steps = [ASIDE, FIRST, LAST]
    for number, step in enumerate(steps):
        rig.queue.add([a_job_of("one", step, str(number))], "event")

    assert [run(rig).step for _ in steps] == [LAST, FIRST, ASIDE]


def test_of_24_installs_that_begin_together_half_end_early(rig: Rig) -> None:
    """In the order of arrival all ended in the last tenth of the time."""
    took_ms = {f"namespace-{number:02}": 20.0 + 2 * (number * 7 % 24) for number in range(24)}
    for namespace in took_ms:
        rig.queue.add([a_job_of(namespace, FIRST), a_job_of(namespace, ASIDE)], "event")

    ended = sorted(follow(rig, took_ms).values())
    assert ended[0] <= 0.1 * ended[-1]
    assert statistics.median(ended) <= 0.55 * ended[-1]


def test_a_large_install_holds_up_no_small_one(rig: Rig) -> None:
    took_ms = {"large": 900.0, **{f"small-{number}": 20.0 for number in range(10)}}
    for namespace in took_ms:
        rig.queue.add([a_job_of(namespace, FIRST)], "event")

    ended = follow(rig, took_ms)
    assert ended["large"] == max(ended.values())
    assert min(ended.values()) <= 0.25 * ended["large"]


def test_eight_runs_at_a_time_end_installs_one_after_the_other_too(rig: Rig) -> None:
    """Each of them takes eight times as long, of which an eighth is its own."""
    now, ended, under_way = 0.0, dict[str, float](), list[Claim]()
    for number in range(24):
        rig.queue.add([a_job_of(f"namespace-{number:02}", FIRST)], "event")
    while len(ended) < 24:
        while len(under_way) < 8 and (claim := rig.queue.claim(GROUPS, runs_per_namespace=1)):
            under_way.append(claim)
        claim, now = under_way.pop(0), now + 100.0
        step, namespace = claim.step, claim.ref.namespace
        emits = (a_job_of(namespace, INSTALL[INSTALL.index(step) - 1]),) if step != LAST else ()
        rig.queue.finish(claim, a_result(took_ms=800.0, jobs=emits))
        if step == LAST:
            ended[namespace] = now

    assert min(ended.values()) <= 0.4 * now
    assert statistics.median(ended.values()) <= 0.7 * now


def test_a_backlog_of_last_steps_delays_no_install(rig: Rig) -> None:
    """The events of last steps are cheap to make; whoever makes them all the time has no credit."""
    rig.queue.add([a_job_of("evil", LAST, f"job-{number}") for number in range(2000)], "event")
    for _ in range(600):
        run(rig)
    rig.queue.add([a_job_of("calm", FIRST)], "event")
    ran, left = 0, list(INSTALL)
    while left:
        claim = rig.claim(GROUPS)
        ran += 1
        emits: tuple[Job, ...] = ()
        if claim.ref.namespace == "calm":
            left.pop()
            emits = (a_job_of("calm", left[-1]),) if left else ()
        rig.queue.finish(claim, a_result(took_ms=10.0, jobs=emits))

    assert ran <= len(INSTALL) + 2


def test_whoever_comes_back_with_last_steps_is_ahead_for_no_longer_than_its_credit(rig: Rig) -> None:
    rig.queue.add([a_job_of("evil", LAST, f"job-{number}") for number in range(300)], "event")
    rig.queue.add([a_job_of("calm", ASIDE, f"job-{number}") for number in range(300)], "event")

    order = [run(rig, 100.0).ref.namespace for _ in range(200)]
    assert order.index("calm") * 100 <= CREDIT_MS + 100
    assert 45 <= order[-100:].count("calm") <= 55


def test_in_one_namespace_nothing_waits_for_ever(rig: Rig) -> None:
    """Its other steps are passed over for ten seconds of its own runs at most."""
    rig.queue.add([a_job_of("one", ASIDE, "aside")], "event")
    for number in range(40):
        rig.queue.add([a_job_of("one", LAST, f"job-{number}")], "event")
        if (claim := run(rig, 500.0)).step == ASIDE:
            break
    assert claim.step == ASIDE


def test_a_version_is_checked_after_what_it_waits_for_in_its_turn(rig: Rig) -> None:
    """A check that goes first finds nothing new, has to be made again, and takes the turn of what it waits for."""
    rig.queue.add([a_job_of("begins", EXECUTE, "plan")], "event")
    for number, step in enumerate((CHECK, *WAITS_FOR[CHECK])):
        rig.queue.add([a_job_of("ends", step, str(number))], "event")
    rig.queue.add([a_job_of("begins", CHECK, "version")], "event")
    found = [run(rig, 1.0) for _ in range(5)]

    assert [claim.step for claim in found if claim.ref.namespace == "ends"] == [*WAITS_FOR[CHECK], CHECK]
    assert [claim.step for claim in found if claim.ref.namespace == "begins"] == [EXECUTE, CHECK]


def test_a_check_waits_for_others_of_its_namespace_only(rig: Rig) -> None:
    rig.queue.add([a_job_of("begins", EXECUTE), a_job_of("ends", CHECK)], "event")

    assert [run(rig).step for _ in range(2)] == [CHECK, EXECUTE]


def test_a_check_is_not_passed_over_for_ever(rig: Rig) -> None:
    """Whoever touches a plan all the time stops the check of its own version for eight seconds of its runs at most."""
    rig.queue.add([a_job_of("one", CHECK, "version")], "event")
    for number in range(40):
        rig.queue.add([a_job_of("one", EXECUTE, f"plan-{number}")], "event")
        if (claim := run(rig, 500.0)).step == CHECK:
            break
    assert claim.step == CHECK
    assert number > 1


def test_a_worker_that_cannot_run_what_a_check_waits_for_runs_the_check(rig: Rig) -> None:
    rig.queue.add([a_job_of("one", CHECK, "version"), a_job_of("one", EXECUTE, "plan")], "event")

    assert rig.claim(["cluster_service_version"]).step == CHECK


def test_a_step_that_waits_for_its_ref_keeps_its_place(rig: Rig) -> None:
    rig.queue.add([a_job_of("one", LAST, "ref")], "event")
    rig.queue.add([a_job_of("one", ASIDE, "ref")], "event")
    for _ in range(40):
        claim = rig.claim(GROUPS)
        if claim.step == ASIDE:
            break
        rig.queue.add([a_job_of("one", LAST, "ref")], "event")
        rig.queue.finish(claim, a_result(took_ms=500.0))
    assert claim.step == ASIDE


def test_a_run_gives_way_only_to_who_would_go_before_it(rig: Rig) -> None:
    rig.queue.add([a_job_of("ends", LAST)], "event")
    claim = rig.claim(GROUPS)
    rig.queue.add([a_job_of("begins", FIRST)], "event")
    assert not rig.queue.is_awaited(claim)

    rig.queue.add([a_job_of("ends-too", LAST)], "event")
    assert rig.queue.is_awaited(claim)
