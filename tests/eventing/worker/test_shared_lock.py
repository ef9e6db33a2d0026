"""Many hold it side by side, or one alone."""

from __future__ import annotations

import threading

from eventing.worker.shared_lock import SharedLock
from tests.kit.waiting import wait_for


def test_many_hold_it_side_by_side() -> None:
    lock = SharedLock()
    lock.take(alone=False)
    lock.take(alone=False)
    assert not lock.wants_to_be_alone


def test_who_wants_it_alone_waits_for_those_before_and_for_nobody_who_comes_later() -> None:
    lock, order = SharedLock(), list[str]()
    before, inside = threading.Event(), threading.Event()

    def hold(name: str, until: threading.Event | None, *, alone: bool) -> threading.Thread:
        def act() -> None:
            lock.take(alone=alone)
            order.append(name)
            if until:
                until.wait()
            lock.give_back(alone=alone)

        thread = threading.Thread(target=act, daemon=True)
        thread.start()
        return thread

    first = hold("before", before, alone=False)
    wait_for(lambda: order == ["before"])
    alone = hold("alone", inside, alone=True)
    wait_for(lambda: lock.wants_to_be_alone)
    later = hold("later", None, alone=False)
    assert order == ["before"]
    before.set()
    wait_for(lambda: order == ["before", "alone"])
    inside.set()
    for thread in (first, alone, later):
        thread.join()
    assert order == ["before", "alone", "later"]
    assert not lock.wants_to_be_alone
