"""The timeline of the demo: what wrote or enqueued something, in the order of time."""

from __future__ import annotations

from eventing.cli.demo.play import timeline
from eventing.journal import Run
from eventing.journal.records import Decision, Write
from shared.kinds import NAMESPACE, SUBSCRIPTION


def a_run(at: int, step: str, ref: str, *writes: str, summary: str = "", jobs: int = 0, failed_with: str = "") -> Run:
    decision = Decision([], "outcome", [Write("Merge", ref, did=did) for did in writes], summary=summary)
    enqueued = [["subscription/track_subscription", ref]] * jobs
    return Run(
        f"run-{at}",
        step,
        ref,
        at,
        1.0,
        "code",
        decisions=[decision],
        jobs=enqueued,
        failure=failed_with and "retry",
        message=failed_with,
    )


def test_lines_come_in_the_order_of_time_and_idle_runs_are_left_out() -> None:
    sub, place = str(SUBSCRIPTION.ref("etcd", "a")), str(NAMESPACE.ref("a"))
    lines = list(
        timeline(
            [
                a_run(3500, "bundle/unpack_bundle", place, "sent", "sent", "same"),
                a_run(2000, "subscription/resolve_subscriptions", place, summary="etcd.v1", jobs=1),
                a_run(1500, "subscription/track_subscription", sub, "same", summary="idle"),
                a_run(4000, "subscription/track_subscription", sub, failed_with="no catalog yet"),
            ]
        )
    )
    assert [line.split() for line in lines] == [
        ["0.000", "s", "resolve_subscriptions", "Namespace", "a", "enqueued", "etcd.v1"],
        ["1.500", "s", "unpack_bundle", "Namespace", "a", "2", "writes"],
        ["2.000", "s", "track_subscription", "Subscription", "a/etcd", "failed", "no", "catalog", "yet"],
    ]


def test_nothing_ran() -> None:
    assert list(timeline([])) == []
