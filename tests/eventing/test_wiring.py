"""What is put together fits."""

from __future__ import annotations

from eventing.routes import WATCHED
from eventing.watch.memory import OURS_AMONG_OTHERS
from eventing.wiring import TOLD_IN_FULL


def test_only_kinds_of_which_every_change_becomes_an_event_are_remembered() -> None:
    assert set(TOLD_IN_FULL) <= set(WATCHED) - set(OURS_AMONG_OTHERS)
