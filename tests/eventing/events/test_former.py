"""What an earlier build queued or recorded is run and read by the present names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest
from cloudevents.http import CloudEvent

from eventing.deploy.rules import RULES
from eventing.events.cloudevents import event_of
from eventing.events.event import Event
from eventing.events.former import EVENT_TYPES, GROUPS, STEPS, queues_of, step_now
from eventing.events.job import Job
from eventing.journal.records import ReceivedEvent, Recorded, Run, pack, unpack_brief_run, unpack_event, unpack_run
from eventing.routes import STEPS as ROUTED
from eventing.runner import Steps
from eventing.worker import drainer
from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import NAMESPACE, Kind


@pytest.mark.parametrize("former", sorted(STEPS))
def test_a_former_step_is_the_present_one(former: str) -> None:
    steps = Steps()
    assert step_now(former) in ROUTED
    assert steps[former] == steps[step_now(former)]
    assert former not in ROUTED


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        pytest.param(["fanout"], ("fanout",), id="a group without former queues"),
        pytest.param(["maintenance"], ("maintenance", "platform"), id="the queue of a former group is served"),
        pytest.param(["platform", "bundle"], ("maintenance", "bundle", "platform"), id="settings of an earlier build"),
    ],
)
def test_queues_of_groups(groups: list[str], want: tuple[str, ...]) -> None:
    assert queues_of(groups) == want


@pytest.mark.parametrize("former", sorted(step for step in STEPS if step.partition("/")[0] in GROUPS))
def test_the_account_that_serves_a_former_queue_may_do_what_its_steps_do(former: str) -> None:
    serving, present = GROUPS[former.partition("/")[0]], step_now(former).partition("/")[0]
    allowed: defaultdict[tuple[Kind, str], set[str]] = defaultdict(set)
    for right in RULES[serving]:
        allowed[right.kind, right.subresource].update(right.verbs)
    assert all(set(right.verbs) <= allowed[right.kind, right.subresource] for right in RULES[present])


def test_what_an_earlier_build_queued_is_run_and_ended(redis_url: str) -> None:
    ran: list[str] = []

    def run(claim: Claim) -> RunResult:
        ran.append(Steps()[claim.step].name)
        return RunResult(run_id="run", record=b"{}")

    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        queue.add([Job("platform/ring_dependents", NAMESPACE.ref("ns"), "bulk")], "event")
        drainer.Drainer(queue, queues_of(drainer.GROUPS), run).drain(linger=0)
        assert (ran, queue.ls(), queue.dead()) == (["fanout/notify_dependents"], (), ())


@pytest.mark.parametrize("unpack", [unpack_run, unpack_brief_run])
def test_a_recorded_run_is_read_under_the_present_names(unpack: Callable[[bytes], Recorded]) -> None:
    ref = str(NAMESPACE.ref("ns"))
    run = Run("1", "platform/audit_cluster", ref, 1, 1.0, "code", jobs=[["platform/ring_plans", ref], ["a/b", ref]])
    found = unpack(pack(Recorded(run))).run
    assert (found.step, found.jobs) == (
        "maintenance/audit_cluster",
        [["fanout/notify_install_plans", ref], ["a/b", ref]],
    )


@pytest.mark.parametrize(("former", "present"), EVENT_TYPES.items())
def test_an_event_of_a_former_type_has_the_present_one(former: str, present: str) -> None:
    ref = NAMESPACE.ref("ns")
    sent = CloudEvent(
        {"id": "1", "source": "x", "type": former, "apiversion": ref.api_version, "kind": ref.kind, "name": ref.name}
    )
    recorded = pack(ReceivedEvent.of(Event("1", former, "x", ref), at=1))
    assert event_of(sent, trusted=True).type == unpack_event(recorded).type == present
    assert present not in EVENT_TYPES
