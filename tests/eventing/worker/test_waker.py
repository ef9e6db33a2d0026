"""Who is sent for, when, and how often: events may be lost, and a Broker may be away."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from eventing.deploy.knative import SLEEPERS as SERVED
from eventing.events.job import INSTALL, Job
from eventing.worker.waker import AGAIN_SECONDS, ENTERED, KEEP_SECONDS, REFUSED_SECONDS, SLEEPERS, Waker, following
from eventing.workqueue import Backlog, WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import CONFIG_MAP
from tests.kit.waiting import wait_for

LAST, FIRST = "cluster_service_version", "subscription"


class Hand:
    """A clock, and a Broker that takes events or does not; what is sent is sent at once."""

    def __init__(self) -> None:
        self.now, self.takes, self.returns = 0.0, True, 0
        self.sent: list[str] = []
        self.waker = Waker(self.send, self.back, lambda: self.now)

    def send(self, group: str) -> None:
        self.sent.append(group)
        if not self.takes:
            raise OSError("the Broker is away")

    def back(self) -> None:
        self.returns += 1

    def at(self, now: float, *backlog: Backlog) -> list[str]:
        """Who is sent for at that time."""
        self.now, self.sent = now, []
        chosen = self.waker.wake_due(backlog)
        for thread in [one for one in threading.enumerate() if one.name.startswith("wake ")]:
            thread.join()
        assert sorted(self.sent) == sorted(chosen)
        return self.sent


@pytest.fixture
def hand() -> Hand:
    return Hand()


def test_who_rests_and_has_work_is_sent_for_once_until_it_is_late(hand: Hand) -> None:
    work = Backlog(LAST)
    assert hand.at(0, work) == [LAST]
    assert hand.at(1, work) == [], "it is starting"
    assert hand.at(AGAIN_SECONDS, work) == [LAST], "the event, or the Pod, was lost"
    assert hand.at(AGAIN_SECONDS + 1) == []


def test_who_is_awake_hears_of_work_from_redis(hand: Hand) -> None:
    assert hand.at(0, Backlog(LAST, is_awake=True)) == []


def test_who_works_for_long_is_kept_awake(hand: Hand) -> None:
    """Serving ends a Pod that had no request for a minute: a pull may take ten."""
    work = Backlog("long", is_awake=True)
    seconds = [now for now in range(150) if hand.at(now, work)]
    assert seconds == [KEEP_SECONDS, 2 * KEEP_SECONDS, 3 * KEEP_SECONDS]


def test_a_broker_that_is_away_is_asked_soon_again_and_its_return_is_reported_once(hand: Hand) -> None:
    hand.takes = False
    assert hand.at(0, Backlog(LAST)) == [LAST]
    assert hand.at(1, Backlog(LAST)) == []
    assert hand.at(REFUSED_SECONDS, Backlog(LAST)) == [LAST]
    hand.takes = True
    assert (hand.at(2 * REFUSED_SECONDS, Backlog(LAST)), hand.returns) == ([LAST], 1)
    assert (hand.at(2 * REFUSED_SECONDS + AGAIN_SECONDS, Backlog(LAST)), hand.returns) == ([LAST], 1)


def test_an_install_wakes_the_groups_to_which_it_goes_with_its_first_one(hand: Hand) -> None:
    """They start while it works: an install pays one cold start, not a chain of them."""
    others = {"bundle", "install_plan", "operator_group", LAST}
    assert set(hand.at(0, Backlog(FIRST))) == {FIRST, *others}
    assert hand.at(1, Backlog(FIRST), Backlog("bundle")) == [], "which is starting already"
    assert set(following("bundle")) == others - {"bundle"}
    assert following(LAST) == following("fanout") == ()
    assert {step.partition("/")[0] for step in INSTALL} - set(ENTERED) == {"fanout"}, "a look-up is no place of its own"


def test_only_who_has_a_service_is_sent_for_and_by_the_present_name(hand: Hand) -> None:
    assert hand.at(0, Backlog("sink"), Backlog("platform"), Backlog("no such group")) == ["maintenance"]
    assert set(SLEEPERS) == set(SERVED)


def a_job(step: str, name: str = "one", *, is_long: bool = False) -> Job:
    return Job(step, CONFIG_MAP.ref(name, "ns"), "long" if is_long else "direct")


def groups(backlog: Iterable[Backlog]) -> list[tuple[str, bool]]:
    return [(one.group, one.is_awake) for one in backlog]


def test_the_backlog_is_what_could_run_or_runs(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        assert queue.backlog() == ()
        queue.add([a_job("bundle/look"), a_job("bundle/pull_bundle", is_long=True)], "event")
        queue.note_awake(["bundle"], 5)
        assert groups(queue.backlog()) == [("bundle", True), ("long", False)]
        claim = queue.claim(["bundle"])
        assert claim
        assert groups(queue.backlog()) == [("bundle", True), ("long", False)], "what runs is work"
        queue.note_awake(["bundle"], 0)
        assert groups(queue.backlog())[0] == ("bundle", False)
        assert queue.finish(claim, RunResult("run", b""))
        long = queue.claim_long(a_job("bundle/pull_bundle", is_long=True))
        assert long
        assert groups(queue.backlog()) == [("long", False)], "also a run of the long lane"
        assert queue.finish(long, RunResult("run", b""))
        assert queue.backlog() == ()


def test_whoever_adds_work_for_a_group_that_rests_wakes_the_waker(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue, sent = WorkQueue(client, Settings()), list[str]()
        waker = Waker(sent.append)

        def turn() -> None:
            waker.wake_and_wait(queue)

        thread = threading.Thread(target=turn)
        thread.start()
        wait_for(lambda: client.client_list(), "that it waits")
        queue.add([a_job("cluster_service_version/look")], "event")
        thread.join()
        turn()
        wait_for(lambda: sent == [LAST])
        queue.note_awake([LAST], 5)
        client.delete("olmf:waker")
        queue.add([a_job("cluster_service_version/look", "two")], "event")
        assert not client.exists("olmf:waker"), "who is awake needs nobody"
        for job in (a_job("bundle/look"), a_job("bundle/pull_bundle", is_long=True)):
            client.delete("olmf:waker")
            queue.add([job], "event")
            assert client.llen("olmf:waker") == 1, "nobody drains this one"
