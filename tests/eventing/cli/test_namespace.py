"""What a namespace waits for, on one screen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eventing.cli.namespace import Row, show, standing_of, told_of, waiting
from eventing.events.event import Event
from eventing.journal import JournalIndex, ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision
from eventing.workqueue import Listed
from shared import names
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, NAMESPACE, SUBSCRIPTION, Ref

SINCE = "2026-01-01T00:00:00+00:00"


LATER = datetime(2026, 1, 2, tzinfo=UTC)


def a_row(name: str, phase: str = "Succeeded", says: str = "", **more: str) -> Row:
    return {"namespace": "olm", "subscription": name, "version": f"{name}.v1", "phase": phase, "says": says, **more}


def waited(ref: Ref, what: str) -> JournalIndex:
    decision = Decision([], "outcome", verdict=what, wait={"what": what, "since": SINCE, "next_try": None})
    return JournalIndex.of([Recorded(Run("run-1", "a/step", str(ref), 0, 1.0, "0", decisions=[decision]))])


def test_what_waits_says_since_when() -> None:
    book = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    (row,) = waiting([a_row("etcd", "Installing"), a_row("atlas")], book, ())
    assert (row["since"], row["nextTry"], row["says"]) == (SINCE, "at the next event", "its Deployments")


def test_the_status_knows_since_when_and_until_when_better_than_an_old_verdict() -> None:
    book = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    until = "when OperatorGroup mine changes"
    (row,) = waiting([a_row("etcd", "Failed", "no", since="2026-01-03T00:00:00+00:00", until=until)], book, ())
    assert (row["since"], row["nextTry"]) == ("2026-01-03T00:00:00+00:00", until)


def test_what_was_given_up_says_how_it_goes_on() -> None:
    ref = SUBSCRIPTION.ref("etcd", "olm")
    letter = Listed("a/step", ref, "direct", "dead", attempts=8)
    (row,) = waiting([a_row("etcd", "Resolving", "no group")], waited(ref, "a group"), [letter])
    assert (row["nextTry"], row["says"]) == ("`olmf queue retry`", "no group")


def test_what_no_step_tells_is_told_by_the_status() -> None:
    plan = a_row("etcd", "InstallPlanPending", "RequiresApproval", plan="install-1", since=SINCE)
    refused = a_row("atlas", "ResolutionFailed", "no such channel", since=SINCE)
    found = [(row["since"], row["nextTry"]) for row in waiting([plan, refused], JournalIndex(), ())]
    assert found == [(SINCE, "when approved"), (SINCE, "at the next event")]


def test_what_waits_for_a_sick_catalog_is_tried_with_it() -> None:
    row = a_row("etcd", "ResolutionFailed", "unreadable", catalog="olm/local", since=SINCE)
    row["reason"] = "ErrorPreventedResolution"
    local, other = (CATALOG_SOURCE.ref(name, "olm") for name in ("local", "other"))
    jobs = [Listed("a/step", ref, "direct", "delayed", due=LATER) for ref in (other, local)]

    def next_try(row: Row, book: JournalIndex) -> object:
        return next(iter(waiting([row], book, jobs)))["nextTry"]

    assert next_try(row, waited(local, "its image")) == LATER.isoformat(timespec="seconds")
    assert next_try(row, waited(other, "its image")) == "at the next event", "another one is sick"
    assert next_try(row, JournalIndex()) == "at the next event", "a healthy one is only polled"
    elsewhere = {**row, "reason": "ConstraintsNotSatisfiable"}
    assert next_try(elsewhere, waited(local, "its image")) == "at the next event", "it waits for something else"


def test_the_next_try_is_that_of_what_fails() -> None:
    book = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    due = LATER.isoformat(timespec="seconds")
    row = a_row("etcd", "Pending", "write 0 (v1/Secret/olm/s) was refused", nextTry=due)
    found = [
        (each["since"], each["nextTry"]) for each in (*waiting([row], book, ()), *waiting([row], JournalIndex(), ()))
    ]
    assert found == [(SINCE, due), ("", due)]


def test_a_step_on_the_namespace_that_names_the_first_package_tries_the_others_too() -> None:
    namespace = NAMESPACE.ref("olm")
    what = "atlas: its bundle is being unpacked"
    told = Decision(
        [],
        "outcome",
        verdict="atlas.v1: at work; etcd.v1: at work",
        wait={"what": what, "since": SINCE, "next_try": None},
    )
    seen = [
        ReceivedEvent.of(Event(name, f"{names.RESOURCE_EVENT}add", "api", SUBSCRIPTION.ref(name, "olm")), 0)
        for name in ("atlas", "etcd")
    ]
    book = JournalIndex.of([*seen, Recorded(Run("run-1", "a/step", str(namespace), 0, 1.0, "0", decisions=[told]))])
    row = {**a_row("etcd", "BundleUnpacking", since=SINCE), "version": "etcd.v1"}
    (found,) = waiting([row], book, [Listed("a/step", namespace, "direct", "delayed", due=LATER)])
    assert (found["nextTry"], found["says"]) == (LATER.isoformat(timespec="seconds"), "")


def test_one_subscription_says_what_approves_it_and_since_when() -> None:
    row = a_row("etcd", "InstallPlanPending", "RequiresApproval", plan="install-1", since=SINCE)
    found = standing_of({**row, "reason": "RequiresApproval"}, JournalIndex(), ())
    assert (found["plan"], found["reason"]) == ("install-1", "RequiresApproval")
    assert list(told_of(found)) == [
        f"stands at: etcd.v1 InstallPlanPending: RequiresApproval\n  since {SINCE}, next try: when approved",
        "waits for approval: olmf approve install-1 -n olm",
    ]
    held = standing_of({**row, "held": "etcd.v0: audit"}, JournalIndex(), ())
    assert list(told_of(held))[1] == (
        "waits for approval: olmf approve install-1 -n olm (but it is held at etcd.v0: audit; approved, it goes on all "
        "the same)"
    )
    well = standing_of(a_row("etcd"), JournalIndex(), ())
    assert list(told_of(well)) == ["stands at: etcd.v1 Succeeded"]
    assert list(told_of(standing_of({}, JournalIndex(), ()))) == [], "of other kinds nothing is told"


def test_a_version_without_a_subscription_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    row = {**a_row("", "Pending", "no Subscription; webhooks are not supported yet. More"), "version": "old.v1"}
    show("olm", [row], waiting([row], JournalIndex(), ()))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Namespace olm: 0 Subscriptions, 0 of them wait; 1 installed without one"
    assert lines[3].endswith("no Subscription; webhooks are not supported yet. More"), "nothing is cut in a pipe"
    assert lines[-1] == "`olmf why ClusterServiceVersion/old.v1 -n olm` tells more"


def test_a_crowd_fits_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [a_row(f"fine{number}") for number in range(200)] + [
        a_row(f"bad{number}", "Failed", plan=f"plan{number}") for number in range(99)
    ]
    troubled = waiting(rows, JournalIndex(), ())
    show("olm", rows, troubled)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Namespace olm: 299 Subscriptions, 99 of them wait"
    assert "and 74 more: `olmf list -n olm`" in lines
    assert lines[-1] == "`olmf why Subscription/bad0 -n olm` tells more"
    assert len(lines) <= 40


def test_where_all_is_well_nothing_else_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    show("olm", [a_row("etcd")], [])
    assert capsys.readouterr().out == "Namespace olm: 1 Subscriptions, 0 of them wait\n\nas wanted: etcd\n"
