"""A step that cannot bear its events otherwise is found, with the fewest events that it takes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eventing.diagnosis.replay.perturbation import Kind, Perturbation, drawn
from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from eventing.diagnosis.replay.search import TRIES, Shrinking, changes_of, search, story
from eventing.diagnosis.replay.world import WorldReport
from shared.kinds import Ref
from shared.ports import Cluster
from shared.step import NOTHING, Create, Merge, Outcome
from tests.eventing.diagnosis.replay.test_world import TheseSteps, a_subscription, an_incident, track
from tests.replay.living import LivingWorld

PLACES = st.frozensets(st.integers(0, 40), min_size=1)


def counting(ref: Ref, cluster: Cluster) -> Outcome:
    """Counts its own runs in a ConfigMap, so that it matters how often an event comes."""
    if cluster.get(ref) is None:
        return NOTHING
    meta = {"name": f"runs-{ref.name}", "namespace": ref.namespace}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"runs": "1"}}
    present = cluster.get(Ref.of(made))
    if present is None:
        return Outcome((Create(made),))
    return Outcome((Merge(Ref.of(made), {"data": {"runs": str(int(present["data"]["runs"]) + 1)}}),))


def a_count(path: Path) -> Path:
    then = LivingWorld(steps=TheseSteps(counting))
    for name in ("one", "two", "three", "four"):
        then.add(a_subscription(name, "alpha"))
    return then.save(path)


def test_the_fewest_events_are_reported_as_a_story(tmp_path: Path) -> None:
    path = a_count(tmp_path / "count.tar")
    changes = changes_of(path)
    again = partial(replay_in_sandbox, path, steps=TheseSteps(counting))
    found = search(lambda perturbed: again(perturbed=perturbed), len(changes), "duplicate", range(5))
    assert found.perturbed
    assert len(found.perturbed.places) == 1
    ((ref, diff),) = found.report.differences
    assert ref.name.startswith("runs-")
    assert '+    "runs": "2"' in diff
    (line,) = story(changes, found.perturbed)
    assert line.startswith("delivered twice: add operators.coreos.com/v1alpha1/Subscription/olm/")
    assert f"of {len(changes)} after " in line
    assert "which enqueues" in line
    assert "subscription/track_subscription" in line


def test_steps_that_bear_it_end_alike_in_every_world(tmp_path: Path) -> None:
    path = an_incident(tmp_path / "incident.tar")
    again = partial(replay_in_sandbox, path, steps=TheseSteps(track))
    found = search(lambda perturbed: again(perturbed=perturbed), len(changes_of(path)), "drop", range(3))
    assert (found.worlds, found.report.exit_code, found.perturbed) == (4, 0, None)


def test_what_differs_undisturbed_is_not_searched() -> None:
    asked: list[Perturbation | None] = []

    def differs(perturbed: Perturbation | None) -> WorldReport:
        asked.append(perturbed)
        return WorldReport(1, (), is_settled=False)

    found = search(differs, 9, "drop", range(5))
    assert (asked, found.worlds, found.perturbed) == ([None], 1, None)


def fewest_of(places: frozenset[int], fails: Callable[[frozenset[int]], bool], most: int) -> Shrinking:
    shrinking = Shrinking(places)
    shrinking.run(fails, most)
    return shrinking


@given(PLACES, PLACES)
def test_nothing_can_be_left_out_of_the_fewest(culprits: frozenset[int], others: frozenset[int]) -> None:
    found = fewest_of(culprits | others, lambda some: culprits <= some, 10_000)
    assert (found.places, found.is_fewest) == (culprits, True)


@given(PLACES, st.integers())
def test_nor_where_more_events_may_do_less(places: frozenset[int], seed: int) -> None:
    def fails(some: frozenset[int]) -> bool:
        return some == places or random.Random(f"{seed} {sorted(some)}").random() < 1 / 3

    found = fewest_of(places, fails, 10_000)
    assert found.is_fewest
    assert fails(found.places)
    if len(found.places) > 1:
        assert not any(fails(found.places - {one}) for one in found.places)


@given(PLACES, st.integers(0, 10))
def test_what_a_small_budget_leaves_still_fails(culprits: frozenset[int], tries: int) -> None:
    asked: list[frozenset[int]] = []

    def fails(some: frozenset[int]) -> bool:
        asked.append(some)
        return culprits <= some

    found = fewest_of(culprits | frozenset(range(40)), fails, tries)
    assert culprits <= found.places
    assert len(asked) == found.tried <= tries
    assert len(set(asked)) == len(asked), "no world is lived twice"
    assert found.places == culprits or not found.is_fewest


def test_the_number_of_worlds_is_bounded_and_reported_before_each() -> None:
    output: list[str] = []
    lived: list[Perturbation | None] = []

    def differs(perturbed: Perturbation | None) -> WorldReport:
        lived.append(perturbed)
        assert len(output) == len(lived), "it is said first"
        is_bad = perturbed is not None and len(perturbed.places) > 40
        return WorldReport(len(lived), (), is_settled=not is_bad)

    found = search(differs, 400, "drop", range(5), report_progress=output.append)
    assert (found.worlds, found.tried, found.is_fewest) == (2, TRIES, False)
    assert len(lived) == 2 + TRIES
    assert found.perturbed in lived
    assert found.report.runs == lived.index(found.perturbed) + 1, "the report is that of this very world"
    assert output[0] == "world 1 of at most 6: undisturbed, 400 changes"
    assert output[1].startswith("world 2 of at most 6: seed 0, ")


def test_who_interrupts_gets_the_fewest_known_by_then() -> None:
    def differs(perturbed: Perturbation | None) -> WorldReport:
        if perturbed and len(perturbed.places) < 5:
            raise KeyboardInterrupt
        return WorldReport(1, (), is_settled=perturbed is None)

    found = search(differs, 40, "drop", range(1))
    assert found.perturbed
    assert not found.is_fewest
    assert found.report.exit_code == 1


@given(st.sampled_from(("drop", "duplicate", "reorder", "delay")), st.integers(0, 30), st.integers(0, 99))
def test_each_event_comes_once_but_what_is_lost_or_doubled(kind: Kind, count: int, seed: int) -> None:
    perturbed = drawn(kind, count, seed)
    assert perturbed == drawn(kind, count, seed)
    burst = range(count)
    at_once = [place for place in burst for _ in range(perturbed.times(place))]
    came = sorted([*at_once, *perturbed.late(burst), *perturbed.lost(burst)])
    assert came == sorted([*burst, *(perturbed.places if kind == "duplicate" else ())])
