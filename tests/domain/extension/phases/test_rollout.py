"""What a ClusterObjectSet says about its rollout (v1.md §21.6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared import names
from shared.domain.conditions import Condition
from shared.domain.extension.phases.actions import Action
from shared.domain.extension.phases.probes import Result
from shared.domain.extension.phases.rollout import (
    ObjectResult,
    PhaseResult,
    RolloutStatus,
    archived,
    blocked,
    retrying,
    rolled_out,
    until_deadline,
)

Object = dict[str, Any]
NOW = datetime(2026, 11, 21, 12, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ROLLING = "Revision 1.0.0 is rolling out."
IS_ROLLING = Condition("Progressing", "True", "RollingOut", ROLLING)
LATE = "Revision has not rolled out for 10 minute(s). Last status: "


def revision(minutes: int = 0, *, age: float = 5, state: str = "Active", **more: Any) -> Object:
    meta = {"creationTimestamp": (NOW - age * MINUTE).isoformat(), "annotations": {names.V1_BUNDLE_VERSION: "1.0.0"}}
    declared = {"lifecycleState": state} | ({"progressDeadlineMinutes": minutes} if minutes else {})
    return {"metadata": meta | more.pop("meta", {}), "spec": declared, **more}


def stating(kind: str, status: str = "True") -> Object:
    return {"conditions": [{"type": kind, "status": status}]}


def result(name: str = "a", status: str = "True", *messages: str, action: Action = Action.IDLE) -> ObjectResult:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}}
    return ObjectResult(manifest, action, Result(status, messages), f"report of {name}")  # type: ignore[arg-type]  # why: a status


DONE = PhaseResult((result(),))
FAILING = PhaseResult((result(), result("b", "False", "x", "y"), result("c", "Unknown", "z")))
UNREACHED = PhaseResult(is_reached=False)


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        pytest.param(revision(), None, id="v1.md 21.6 deadline: none"),
        pytest.param(revision(10), 5 * MINUTE, id="v1.md 21.6 deadline: time is left"),
        pytest.param(revision(10, age=12), -2 * MINUTE, id="v1.md 21.6 deadline: exceeded"),
        pytest.param(revision(10, status=stating("Succeeded")), None, id="v1.md 21.6 deadline: succeeded"),
        pytest.param(
            revision(10, status=stating("Succeeded", "False")), 5 * MINUTE, id="v1.md 21.6 deadline: not succeeded"
        ),
        pytest.param(revision(10, state="Archived"), None, id="v1.md 21.6 deadline: archived"),
        pytest.param(revision(10, meta={"deletionTimestamp": "now"}), None, id="v1.md 21.6 deadline: deleting"),
    ],
)
def test_deadline(declared: Object, want: timedelta | None) -> None:
    assert until_deadline(declared, NOW) == want


def test_v1_md_21_6_blocked_is_not_tried_again() -> None:
    assert blocked("changed") == RolloutStatus((Condition("Progressing", "False", "Blocked", "changed"),))


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        pytest.param(
            revision(), (Condition("Progressing", "True", "Retrying", "oh"),),
            id="v1.md 21.6: Available untouched on error if absent",
        ),
        pytest.param(
            revision(status=stating("Available")),
            (
                Condition("Progressing", "True", "Retrying", "oh"),
                Condition("Available", "Unknown", "Reconciling", "oh"),
            ),
            id="v1.md 21.6: Available Unknown on error if present",
        ),
        pytest.param(
            revision(10, age=11), (Condition("Progressing", "False", "ProgressDeadlineExceeded", f"{LATE}oh"),),
            id="v1.md 21.6: deadline exceeded while retrying",
        ),
    ],
)  # fmt: skip
def test_retrying(declared: Object, want: tuple[Condition, ...]) -> None:
    assert retrying(declared, "oh", NOW) == RolloutStatus(want)


def test_v1_md_21_6_archived_conditions() -> None:
    reported = "revision is archived"
    want = (
        Condition("Progressing", "False", "Archived", reported),
        Condition("Available", "Unknown", "Archived", reported),
    )
    assert archived(revision(state="Archived"), NOW, is_done=True) == RolloutStatus(want)


def test_v1_md_21_6_archival_incomplete() -> None:
    found = archived(revision(state="Archived"), NOW, is_done=False)
    what = "removing revision resources that are not owned by another revision"
    assert found == RolloutStatus((Condition("Progressing", "True", "Retrying", what),), timedelta(seconds=5))


def succeeded() -> tuple[Condition, ...]:
    return (
        Condition("Progressing", "True", "Succeeded", "Revision 1.0.0 has rolled out."),
        Condition("Available", "True", "ProbesSucceeded", "Objects are available and pass all probes."),
        Condition("Succeeded", "True", "Succeeded", "Revision succeeded rolling out."),
    )


@pytest.mark.parametrize(
    ("declared", "phases", "want"),
    [
        pytest.param(revision(), [DONE, DONE], RolloutStatus(succeeded()), id="v1.md 21.6: Succeeded"),
        pytest.param(
            revision(10, age=99), [DONE], RolloutStatus(succeeded()), id="v1.md 21.6: recovery after the deadline"
        ),
        pytest.param(
            revision(), [DONE, UNREACHED],
            RolloutStatus((IS_ROLLING, Condition("Available", "False", "RollingOut", ROLLING))),
            id="v1.md 21.6: RollingOut with no probe failures",
        ),
        pytest.param(
            revision(10, age=1 / 60), [FAILING],
            RolloutStatus((IS_ROLLING, Condition("Available", "False", "RollingOut", ROLLING)), timedelta(seconds=2)),
            id="v1.md 21.6: what a roll-out waits for is said once it lasts",
        ),
        pytest.param(
            revision(age=-1), [PhaseResult((result("b", "False", "x"),))],
            RolloutStatus(
                (IS_ROLLING, Condition("Available", "False", "ProbeFailure", "Object ConfigMap.v1 n/b: x")), None
            ),
            id="v1.md 21.6: a clock that is behind that of the API server delays nothing",
        ),
        pytest.param(
            revision(age=1 / 60, status=stating("Succeeded")), [PhaseResult((result("b", "False", "x"),))],
            RolloutStatus(
                (IS_ROLLING, Condition("Available", "False", "ProbeFailure", "Object ConfigMap.v1 n/b: x")), None
            ),
            id="v1.md 21.6: what was rolled out says at once what is wrong",
        ),
        pytest.param(
            revision(10), [FAILING, DONE, FAILING],
            RolloutStatus(
                (
                    IS_ROLLING,
                    Condition(
                        "Available", "False", "ProbeFailure",
                        "Object ConfigMap.v1 n/b: x and y\nObject ConfigMap.v1 n/b: x and y",
                    ),
                ),
                5 * MINUTE,
            ),
            id="v1.md 21.6: ProbeFailure over two phases, the first failing object of each",
        ),
        pytest.param(
            revision(10, age=10), [UNREACHED],
            RolloutStatus((
                Condition("Progressing", "False", "ProgressDeadlineExceeded", LATE + ROLLING),
                Condition("Available", "False", "RollingOut", ROLLING),
            )),
            id="v1.md 21.6, 26.9 V9: the deadline is exceeded",
        ),
        pytest.param(
            revision(), [DONE, PhaseResult(problem="bad")],
            RolloutStatus(
                (Condition("Progressing", "True", "Retrying", "phase 1 validation error: bad"),),
                timedelta(seconds=10),
            ),
            id="v1.md 21.6: a phase is refused",
        ),
        pytest.param(
            revision(),
            [DONE, PhaseResult((result("b", action=Action.COLLISION), result(), result("c", action=Action.COLLISION)))],
            RolloutStatus(
                (
                    Condition(
                        "Progressing", "True", "Retrying",
                        "revision object collisions in phase 1\nreport of b\n\nreport of c",
                    ),
                ),
                timedelta(seconds=10),
            ),
            id="v1.md 21.6: collisions",
        ),
    ],
)  # fmt: skip
def test_attempts(declared: Object, phases: list[PhaseResult], want: RolloutStatus) -> None:
    assert rolled_out(declared, phases, NOW) == want


def test_v1_md_21_6_the_revision_is_refused() -> None:
    found = rolled_out(revision(), [], NOW, problem="bad")
    why = "revision validation error: bad"
    assert found == RolloutStatus((Condition("Progressing", "True", "Retrying", why),), timedelta(seconds=10))


def test_v1_md_21_6_a_colliding_object_is_not_complete() -> None:
    assert not result(action=Action.COLLISION).is_complete
    assert result(action=Action.PROGRESSED).is_complete
