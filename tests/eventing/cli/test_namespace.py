"""What a namespace waits for, on one screen."""

from __future__ import annotations

import pytest

from eventing.cli.namespace import Row, show, waiting
from eventing.journal import Book, Recorded, Run
from eventing.journal.records import Decision
from eventing.workqueue import Listed
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Ref

SINCE = "2026-01-01T00:00:00+00:00"


def a_row(name: str, phase: str = "Succeeded", says: str = "") -> Row:
    return {"namespace": "olm", "subscription": name, "version": f"{name}.v1", "phase": phase, "says": says}


def waited(ref: Ref, what: str) -> Book:
    decision = Decision([], "outcome", verdict=what, wait={"what": what, "since": SINCE, "next_try": None})
    return Book.of([Recorded(Run("run-1", "a/step", str(ref), 0, 1.0, "0", decisions=[decision]))])


def test_what_waits_says_since_when() -> None:
    book = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    (row,) = waiting([a_row("etcd", "Installing"), a_row("atlas")], book, ())
    assert (row["since"], row["next try"], row["says"]) == (SINCE, "at the next event", "its Deployments")


def test_what_was_given_up_says_how_it_goes_on() -> None:
    ref = SUBSCRIPTION.ref("etcd", "olm")
    letter = Listed("a/step", ref, "direct", "dead", attempts=8)
    (row,) = waiting([a_row("etcd", "Resolving", "no group")], waited(ref, "a group"), [letter])
    assert (row["next try"], row["says"]) == ("`olmf queue retry`", "no group")


def test_a_crowd_fits_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [a_row(f"fine{number}") for number in range(200)] + [a_row(f"bad{number}", "Failed") for number in range(99)]
    troubled = waiting(rows, Book(), ())
    show("olm", rows, troubled, [f"olmf approve plan{number} -n olm" for number in range(99)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Namespace olm: 299 Subscriptions, 99 of them wait"
    assert "and 74 more: `olmf list -n olm`" in lines
    assert lines[-1] == "`olmf why Subscription/bad0 -n olm` tells more"
    assert len(lines) <= 40


def test_where_all_is_well_nothing_else_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    show("olm", [a_row("etcd")], [], [])
    assert capsys.readouterr().out == "Namespace olm: 1 Subscriptions, 0 of them wait\n\nas wanted: etcd\n"
