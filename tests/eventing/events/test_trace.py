"""One story from the event that began it to the news that ends it, across runs, writes and their watch events."""

from __future__ import annotations

import re

import pytest

from eventing.events.event import Event, change_id
from eventing.events.job import SINK
from eventing.events.trace import begun_by, continued
from eventing.routes import ROUTES, TO_SINK, by_subject, jobs_for
from eventing.wiring.intake import sink
from eventing.worker.outlet import event_of
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.config import Settings
from shared.kinds import INSTALL_PLAN, SUBSCRIPTION

SENT_CONTEXT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PLAN = INSTALL_PLAN.ref("install-1", "ns")
FORM = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


def story(traceparent: str) -> str:
    return traceparent.split("-")[1]


def test_a_story_that_an_event_begins_is_the_same_when_it_is_delivered_again() -> None:
    assert FORM.fullmatch(begun_by("uid.7.add"))
    assert begun_by("uid.7.add") == begun_by("uid.7.add") != begun_by("uid.8.update")


def test_each_run_is_a_span_of_its_own() -> None:
    one, other = continued(SENT_CONTEXT, "run-1"), continued(SENT_CONTEXT, "run-2")
    assert FORM.fullmatch(one)
    assert story(one) == story(other) == story(SENT_CONTEXT)
    assert len({SENT_CONTEXT, one, other}) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("", id="none"),
        pytest.param("nonsense", id="not of the form"),
        pytest.param(f"00-{'0' * 32}-b7ad6b7169203331-01", id="a trace of zeros"),
        pytest.param("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", id="a version that is none"),
    ],
)
def test_what_is_no_context_begins_a_story(arguments: str) -> None:
    assert continued(arguments, "run-1") == begun_by("run-1")


def test_from_an_event_through_a_write_to_the_notification(redis_url: str) -> None:
    notifications = jobs_for(Event("run-2.0", names.PLAN_WAITING, "olmf", PLAN), by_subject((*ROUTES, *TO_SINK)))
    with connect(redis_url) as client:
        queue, take = WorkQueue(client, Settings()), sink(Settings(redis_url=redis_url))
        take(
            [
                Event(
                    "sent",
                    f"{names.RESOURCE_EVENT}update",
                    "them",
                    SUBSCRIPTION.ref("etcd", "ns"),
                    traceparent=SENT_CONTEXT,
                )
            ]
        )
        first = queue.claim(["subscription"])
        assert first is not None
        assert first.trace == SENT_CONTEXT
        written, span = change_id("uid", "7", "update"), continued(first.trace, "run-1")
        queue.finish(first, RunResult("run-1", b"", own_events=(written,), trace=span))
        watched = Event(written, f"{names.RESOURCE_EVENT}update", "api", PLAN, traceparent=begun_by(written))
        take([watched])
        second = queue.claim(["install_plan"])
        assert second is not None
        assert second.trace == span
        queue.finish(second, RunResult("run-2", b"", jobs=notifications, trace=continued(span, "run-2")))
        reported = queue.claim([SINK])
        assert reported is not None
        assert story(event_of(reported).traceparent) == story(SENT_CONTEXT)


def test_without_a_story_the_watch_event_begins_one_and_nothing_is_kept(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        event = Event("uid.7.add", f"{names.RESOURCE_EVENT}add", "api", PLAN, traceparent=begun_by("uid.7.add"))
        sink(Settings(redis_url=redis_url))([event])
        claim = queue.claim(["install_plan"])
        assert claim is not None
        assert claim.trace == ""
        queue.finish(claim, RunResult("run-1", b"", trace=begun_by("uid.7.add")))
        assert not client.keys("olmf:trace:*"), "a run that caused nothing"
