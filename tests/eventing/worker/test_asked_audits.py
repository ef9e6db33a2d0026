"""Audits that are asked for: soon, once more, and not as often as somebody asks."""

from __future__ import annotations

import pytest

from eventing.worker.asked_audits import APART_SECONDS, SECOND_SECONDS, AskedAudits


class Made:
    """A clock, and the audits that were made at which time."""

    def __init__(self) -> None:
        self.now, self.is_away = 100.0, False
        self.at: list[float] = []
        self.ids: list[str] = []
        self.audits = AskedAudits(self.make, lambda: self.now)

    def make(self, turn: str) -> None:
        if self.is_away:
            raise ConnectionError
        self.at.append(self.now)
        self.ids.append(turn)

    def until(self, end: float) -> list[float]:
        while self.now < end:
            self.audits.make_due()
            self.now += 1
        return self.at


def test_one_is_made_at_once_and_one_when_the_source_watches() -> None:
    made = Made()
    made.until(105)
    made.audits.ask("back")
    assert made.until(200) == [105, 105 + SECOND_SECONDS]
    assert len(set(made.ids)) == 2


def test_however_often_somebody_asks_they_are_some_time_apart() -> None:
    made = Made()
    while made.now < 160:
        made.audits.ask("lost")
        made.audits.make_due()
        made.now += 0.5
    assert made.at == [100 + APART_SECONDS * turn for turn in range(12)]


def test_one_that_could_not_be_made_is_made_later() -> None:
    made = Made()
    made.audits.ask("back")
    made.is_away = True
    with pytest.raises(ConnectionError):
        made.audits.make_due()
    made.is_away = False
    made.now += 1
    assert made.until(103) == [101]
