"""`why` walks from a write to what came from outside, and tells what a stuck object waits for."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from eventing.cli.why_text import text_of
from eventing.diagnosis.why.explain import why
from eventing.events.event import Event, change_id
from eventing.events.job import Job
from eventing.journal import JournalIndex, ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision, StatementRecord, Write
from eventing.workqueue import Listed
from shared import names
from shared.domain.statement import Code, Statement
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    NAMESPACE,
    NETWORK_POLICY,
    SUBSCRIPTION,
    Ref,
)

SUB = SUBSCRIPTION.ref("etcd", "olm")
CSV = CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm")
DEPLOY = DEPLOYMENT.ref("etcd", "olm")
ATLAS = SUBSCRIPTION.ref("atlas", "olm")
ATLAS_CSV = CLUSTER_SERVICE_VERSION.ref("atlas.v1", "olm")


def received(ref: Ref, uid: str, version: str, verb: str = "add", at: int = 0) -> ReceivedEvent:
    return ReceivedEvent.of(Event(change_id(uid, version, verb), names.RESOURCE_EVENT + verb, "api", ref), at)


def wrote(op: str, ref: Ref, uid: str, version: str) -> Write:
    return Write(op, str(ref), did="sent", uid=uid, version=version)


def about(message: str, *refs: Ref) -> StatementRecord:
    return StatementRecord.of(Statement(refs, Code.CHOSEN, message))


def ran(run_id: str, step: str, ref: Ref, causes: list[str], *writes: Write, **arguments: Any) -> Recorded:
    end, summary, wait = arguments.pop("end", "outcome"), arguments.pop("summary", ""), arguments.pop("wait", None)
    decision = Decision([], end, list(writes), summary=summary, wait=wait, statements=arguments.pop("statements", []))
    return Recorded(
        Run(run_id, step, str(ref), arguments.pop("at", 0), 1.0, "0", causes=causes, decisions=[decision], **arguments)
    )


INSTALL = (
    received(SUB, "sub", "1"),
    ran("run-1", "a/resolve", NAMESPACE.ref("olm"), ["sub.1.add"], summary="etcd.v1 was chosen"),
    ran("run-2", "b/write_csv", NAMESPACE.ref("olm"), ["run-1"], wrote("Create", CSV, "csv", "5")),
    received(CSV, "csv", "5"),
    ran(
        "run-3", "c/install", CSV, ["csv.5.add"], wrote("Apply", DEPLOY, "dep", "9"), summary="its requirements are met"
    ),
)


def test_a_write_is_traced_to_what_came_from_outside() -> None:
    text = text_of(why(JournalIndex.of(INSTALL), DEPLOY))
    tree = re.sub(r"[0-9:.]{12} ", "", text.partition("\n\n")[0])
    assert tree.splitlines() == [
        str(DEPLOY),
        "└─ ✎ Apply Deployment olm/etcd",
        "   └─ ▶ c/install on ClusterServiceVersion olm/etcd.v1: its requirements are met",
        "      └─ ● add of ClusterServiceVersion olm/etcd.v1",
        "         └─ ✎ Create ClusterServiceVersion olm/etcd.v1",
        "            └─ ▶ b/write_csv on Namespace olm",
        "               └─ ▶ a/resolve on Namespace olm: etcd.v1 was chosen",
        "                  └─ ● add of Subscription olm/etcd (from outside)",
    ]


def test_an_event_that_is_no_longer_there_is_traced_by_its_write() -> None:
    index = JournalIndex.of(entry for entry in INSTALL if not isinstance(entry, ReceivedEvent))
    text = text_of(why(index, DEPLOY))
    assert "change of ClusterServiceVersion olm/etcd.v1" in text
    assert "sub.1.add (no longer in the journal)" in text


def test_a_run_is_reported_once() -> None:
    again = ran("run-4", "c/install", CSV, ["run-3"], wrote("Apply", DEPLOY, "dep", "10"))
    text = text_of(why(JournalIndex.of((*INSTALL, again)), DEPLOY))
    assert text.count("(see above)") == 1
    assert text.count("a/resolve on") == 1


def test_runs_that_enqueue_each_other_come_to_an_end() -> None:
    ping = ran("run-1", "a/ping", SUB, ["sub.3.update"], wrote("Merge", SUB, "sub", "2"))
    pong = ran("run-2", "a/pong", SUB, ["sub.2.update"], wrote("Merge", SUB, "sub", "3"))
    assert "(see above)" in text_of(why(JournalIndex.of((ping, pong)), SUB))


def test_a_deletion_is_traced_to_the_step_that_deleted() -> None:
    delete = ran("run-1", "a/replace", SUB, [], Write("Delete", str(CSV), did="sent"), at=5)
    gone = received(CSV, "csv", "5", "delete", at=6)
    notice = ran("run-2", "a/notice", SUB, [gone.id], wrote("Merge", SUB, "sub", "9"), at=7)
    created = ran("run-0", "a/create", SUB, [], wrote("Create", CSV, "csv", "5"), at=1)
    text = text_of(why(JournalIndex.of((created, delete, gone, notice)), SUB))
    assert "a/replace on Subscription olm/etcd" in text.partition("last runs")[0]
    assert "a/create" not in text.partition("last runs")[0]


def test_many_causes_are_counted() -> None:
    causes = [f"uid.{number}.update" for number in range(9)]
    entries = [*(received(SUB, "uid", str(number), "update") for number in range(9))]
    run = ran("run-1", "a/step", SUB, causes, wrote("Merge", SUB, "sub", "20"))
    assert "4 more" in text_of(why(JournalIndex.of([*entries, run]), SUB))


def test_a_write_that_was_not_sent_is_none() -> None:
    same = ran("run-1", "a/step", SUB, [], Write("Merge", str(SUB), did="same", uid="sub", version="1"))
    assert why(JournalIndex.of([same]), SUB).writes == ()


WAIT = {"what": "an OperatorGroup in olm", "since": "2026-01-01T00:00:00+00:00", "next_try": None}

GIVEN = "when ServiceAccount olm/limited is given what it lacks"


def test_a_stuck_object_reports_what_it_waits_for_and_when_it_is_tried() -> None:
    run = ran(
        "run-1", "a/resolve", NAMESPACE.ref("olm"), [], summary="no group", wait=WAIT, at=1_000, again_in=30.0,
        end="retry", failure="retry", message="no OperatorGroup",
    )  # fmt: skip
    (stuck,) = why(JournalIndex.of([run]), SUB).last
    assert (stuck.step, stuck.message, stuck.waits_for) == ("a/resolve", "no OperatorGroup", WAIT["what"])
    assert stuck.since == WAIT["since"]
    assert stuck.next_try == datetime(1970, 1, 1, 0, 0, 31, 1000, UTC)


def test_a_run_whose_write_is_refused_waits_for_that_since_the_first_refusal() -> None:
    def tried(number: int, message: str = "write 0 (v1/Job//olm/etcd) was refused, forbidden: no") -> Recorded:
        arguments = {"wait": WAIT, "at": number * 60_000, "failure": "retry" if message else "", "message": message}
        return ran(f"run-{number}", "b/unpack", NAMESPACE.ref("olm"), [], **arguments)

    due = datetime(2026, 5, 5, tzinfo=UTC)
    index = JournalIndex.of(
        [tried(1), tried(2, ""), tried(3), tried(4), ran("other", "a/track", NAMESPACE.ref("olm"), [])]
    )
    job = Listed("b/unpack", NAMESPACE.ref("olm"), "direct", "delayed", attempts=2, due=due)
    (stuck,) = why(index, SUB, [job]).last
    assert stuck.waits_for.endswith("was refused, forbidden: no"), "not what it had decided"
    assert (stuck.since, stuck.next_try) == ("1970-01-01T00:03:00+00:00", due)


def test_a_run_that_does_not_know_since_when_it_waits_does_so_since_the_first_in_a_row() -> None:
    waits = ["a group", "approval", "", "approval", "approval"]
    runs = [
        ran(f"run-{n}", "a/execute", SUB, [], at=n * 60_000, summary="it ran", wait={"what": what} if what else None)
        for n, what in enumerate(waits)
    ]
    (stuck,) = why(JournalIndex.of(runs), SUB).last
    assert (stuck.waits_for, stuck.since) == ("approval", "1970-01-01T00:03:00+00:00")
    (stuck,) = why(JournalIndex.of(runs[:2]), SUB).last
    assert (stuck.waits_for, stuck.since) == ("approval", "1970-01-01T00:01:00+00:00"), "a group was something else"


def test_what_an_account_lacks_is_one_sentence_that_waits_until_it_is_given() -> None:
    """The step runs when roles and bindings change, and by itself, too, as it says: the queue knows when."""
    user = 'User "system:serviceaccount:olm:limited" cannot create resource'
    where = 'in API group "" in the namespace "olm"'
    summary = f'Service a: x is forbidden: {user} "services" {where}; besides: Secret b: {user} "secrets" {where}'
    runs = [
        ran(
            f"run-{n}", "a/execute", SUB, [], wrote("Merge", SUB, "s", str(n)), summary=text, at=n * 1_000, again_in=9.0
        )
        for n, text in enumerate(["waits for approval", summary, summary])
    ]
    due = datetime(2026, 5, 5, tzinfo=UTC)
    job = Listed("a/execute", SUB, "direct", "delayed", due=due)
    answer = why(JournalIndex.of(runs), SUB, [job])
    plain = "ServiceAccount olm/limited may not create services, secrets in namespace olm"
    (stuck,) = answer.last
    assert (stuck.message, stuck.waits_for, stuck.next_try) == (plain, plain, due)
    assert stuck.since == "1970-01-01T00:00:01+00:00", "since the first time"
    text = text_of(answer.until("at that time"))
    assert text.count("forbidden") == 0
    assert f"next try: {due.isoformat()}, or {GIVEN}" in text


def test_a_wait_for_permissions_has_only_the_time_that_its_run_states() -> None:
    who = 'User "system:serviceaccount:olm:limited" cannot create resource "services" in API group ""'
    wait = {**WAIT, "what": f"permissions: install failed: x is forbidden: {who}"}
    plain = "ServiceAccount olm/limited may not create services in the cluster"
    waiting = ran("1", "a/check", CSV, [], summary="waits for permissions", wait=wait, end="retry", failure="retry")
    job = Listed("a/check", CSV, "direct", "delayed", due=datetime(2026, 5, 5, tzinfo=UTC))
    (stuck,) = why(JournalIndex.of([waiting]), CSV, [job]).last
    assert (stuck.waits_for, stuck.since) == (f"permissions: {plain}", WAIT["since"])
    assert (stuck.next_try, stuck.until) == (None, GIVEN), "not that of the queue"
    text = text_of(why(JournalIndex.of([waiting]), CSV).until(""))
    assert f"waits for permissions: {plain}, since" in text
    assert f"next try: {GIVEN}" in text
    timed = {**wait, "next_try": "2026-05-05T00:00:00+00:00"}
    again = ran("1", "a/check", CSV, [], summary="waits", wait=timed, end="retry", failure="retry")
    assert why(JournalIndex.of([again]), CSV).last[0].when == f"{timed['next_try']}, or {GIVEN}"
    refused = ran("1", "a/check", CSV, [], failure="retry", message=f"write 0 was refused: {who}", again_in=3.0)
    (stuck,) = why(JournalIndex.of([refused]), CSV).last
    assert (stuck.waits_for, stuck.next_try is not None) == (f"write 0 was refused: {who}", True), "it is ours to try"


def test_what_an_account_lacks_for_another_package_is_not_awaited_for_this_one() -> None:
    user = 'User "system:serviceaccount:olm:limited"'
    denied = (
        f'jobs.batch is forbidden: {user} cannot create resource "jobs" in API group "batch" in the namespace "olm"'
    )
    statements = [about("etcd.v1 is unpacked", SUB, CSV), about(denied, ATLAS)]
    wait = {**WAIT, "what": f"atlas: {denied}", "about": [str(ATLAS)]}
    run = ran("run-1", "b/unpack_bundle", NAMESPACE.ref("olm"), [], statements=statements, wait=wait)
    index = JournalIndex.of([received(SUB, "sub", "1"), received(ATLAS, "other", "2"), run])
    (mine,) = why(index, SUB).last
    assert (mine.message, mine.waits_for, mine.since, mine.until) == ("etcd.v1 is unpacked", "", "", "")
    plain = "ServiceAccount olm/limited may not create jobs.batch in namespace olm"
    (others,) = why(index, ATLAS).last
    assert (others.message, others.waits_for, others.until) == (plain, plain, GIVEN)
    (all_of_it,) = why(index, NAMESPACE.ref("olm")).last
    assert (all_of_it.message, all_of_it.waits_for) == (f"etcd.v1 is unpacked; {plain}", f"permissions: {plain}")


def test_the_queue_knows_best_when_a_job_is_tried_next() -> None:
    due = datetime(2026, 5, 5, tzinfo=UTC)
    run = ran("run-1", "a/track", SUB, [], summary="waiting", wait=WAIT)
    job = Job("a/track", SUB)
    (stuck,) = why(JournalIndex.of([run]), SUB, [Listed(job.step, job.ref, "direct", "delayed", due=due)]).last
    assert stuck.next_try == due
    assert "next try: 2026-05-05T00:00:00+00:00" in text_of(
        why(JournalIndex.of([run]), SUB, [Listed(job.step, SUB, "direct", "delayed", due=due)])
    )


def test_a_wait_may_have_an_end() -> None:
    runs = [
        ran("run-1", "a/execute", SUB, [], summary="waits", wait=WAIT),
        ran("run-2", "a/b", SUB, [], summary="done"),
    ]
    answer = why(JournalIndex.of(runs), SUB)
    assert "next try: at the next event" in text_of(answer)
    assert [one.until for one in answer.until("when approved").last] == ["when approved", ""]
    assert "next try: when approved" in text_of(answer.until("when approved"))


def test_only_the_last_result_of_each_step_counts() -> None:
    runs = [ran(f"run-{n}", "a/track", SUB, [], summary=f"verdict {n}", at=n) for n in range(3)]
    assert [stuck.message for stuck in why(JournalIndex.of(runs), SUB).last] == ["verdict 2"]


def test_nothing_known_is_reported() -> None:
    assert "no write of ours" in text_of(why(JournalIndex(), SUB))


def test_the_answer_is_json() -> None:
    answer = why(JournalIndex.of(INSTALL), DEPLOY).json()
    assert answer["writes"][0]["causes"][0]["id"] == "run-3"
    assert answer["isKnown"], "its keys are spelled like those of Kubernetes"


def test_what_another_subscription_waits_for_is_not_reported_this_one() -> None:
    wait = {**WAIT, "what": "atlas: no operators found in package atlas", "about": [str(ATLAS)]}
    statements = [about("atlas: no operators", ATLAS), about("etcd: nothing new", SUB)]
    run = ran("run-1", "a/resolve", NAMESPACE.ref("olm"), [], statements=statements, wait=wait)
    index = JournalIndex.of([received(SUB, "sub", "1"), received(ATLAS, "other", "2"), run])
    assert [stuck.waits_for for stuck in why(index, ATLAS).last] == [wait["what"]]
    assert [stuck.waits_for for stuck in why(index, SUB).last] == [""]


def test_what_holds_up_the_namespace_is_reported_each_object_until_it_is_over() -> None:
    locked = ran("run-1", "a/resolve", NAMESPACE.ref("olm"), [], failure="retry", message="no OperatorGroup")
    assert [stuck.message for stuck in why(JournalIndex.of([locked]), SUB).last] == ["no OperatorGroup"]
    over = ran("run-2", "a/resolve", NAMESPACE.ref("olm"), [], statements=[about("atlas: chosen", ATLAS)], at=9)
    assert why(JournalIndex.of([locked, over]), SUB).last == ()


def test_a_dead_letter_reports_how_it_is_released() -> None:
    run = ran("run-1", "a/track", SUB, [], failure="bug", message="ValueError: no", again_in=3.0)
    dead_letter = Listed("a/track", SUB, "direct", "dead", attempts=8)
    (stuck,) = why(JournalIndex.of([run]), SUB, [dead_letter]).last
    assert (stuck.attempts, stuck.next_try) == (8, None)
    assert "given up after 8 failures in a row: `olmf queue retry --step a/track`" in text_of(
        why(JournalIndex.of([run]), SUB, [dead_letter])
    )


def test_what_a_step_waited_for_earlier_is_not_waited_for_any_more() -> None:
    wait = {**WAIT, "what": "etcd: its bundle is being unpacked", "about": [str(SUB)]}
    mine, others = [about("etcd: at work", SUB)], [about("atlas: at work", ATLAS)]
    before = ran("run-1", "b/unpack", NAMESPACE.ref("olm"), [], statements=mine, wait=wait, at=1)
    after = ran("run-2", "b/unpack", NAMESPACE.ref("olm"), [], statements=others, at=2)
    (stuck,) = why(JournalIndex.of([before, after]), SUB).last
    assert (stuck.message, stuck.waits_for) == ("etcd: at work", "")


OTHERS = [*(f"o{number}.3.add" for number in range(30))]


def both(atlas: str, etcd: str) -> list[StatementRecord]:
    return [about(atlas, ATLAS, ATLAS_CSV), about(etcd, SUB, CSV)]


CROWD: tuple[Recorded | ReceivedEvent, ...] = (
    received(SUB, "sub", "1"),
    received(ATLAS, "atlas", "2"),
    *(received(SUBSCRIPTION.ref(f"other{number}", "olm"), f"o{number}", "3") for number in range(30)),
    ran(
        "run-1", "a/resolve", NAMESPACE.ref("olm"), ["atlas.2.add", *OTHERS, "sub.1.add"], at=1,
        statements=both("atlas: atlas.v1 from its catalog", "etcd: etcd.v1 from its catalog"),
    ),
    ran(
        "run-2", "b/unpack", NAMESPACE.ref("olm"), ["run-1"], at=2,
        statements=both("atlas.v1: at work", "etcd.v1: at work"),
    ),
    ran(
        "run-3", "b/unpack", NAMESPACE.ref("olm"), ["run-2"], at=3,
        statements=both("atlas.v1: unpacked", "etcd.v1: unpacked"),
    ),
    ran(
        "run-4", "c/plan", NAMESPACE.ref("olm"), ["run-3"], wrote("SetStatus", SUB, "sub", "9"),
        wrote("SetStatus", ATLAS, "atlas", "8"), summary="planned atlas.v1, etcd.v1", at=4,
        statements=both("planned atlas.v1", "planned etcd.v1"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (NETWORK_POLICY.ref("p", "olm"), "delete of NetworkPolicy olm/p, or of its label olm.managed (from outside)"),
        (CSV, "delete of ClusterServiceVersion olm/etcd.v1 (from outside)"),
    ],
    ids=["watched by its label", "watched whatever its labels"],
)
def test_what_is_watched_by_its_label_may_have_lost_that_alone(gone: Ref, told: str) -> None:
    again = ran("run-1", "a/repair", NAMESPACE.ref("olm"), ["u.1.delete"], wrote("Create", DEPLOY, "dep", "9"))
    assert told in text_of(why(JournalIndex.of((received(gone, "u", "1", "delete"), again)), DEPLOY))


def test_what_concerns_other_packages_is_folded() -> None:
    text = re.sub(r"[0-9:.]{12} ", "", text_of(why(JournalIndex.of(CROWD), SUB)))
    assert text.splitlines() == [
        str(SUB),
        "└─ ✎ SetStatus Subscription olm/etcd",
        "   └─ ▶ c/plan on Namespace olm: planned etcd.v1",
        "      └─ ▶ b/unpack on Namespace olm: etcd.v1: unpacked (the last of 2 runs)",
        "         └─ ▶ a/resolve on Namespace olm: etcd: etcd.v1 from its catalog",
        "            ├─ ● add of Subscription olm/etcd (from outside)",
        "            └─ … 31 that concern others",
        "",
        "last runs",
        "  a/resolve: etcd: etcd.v1 from its catalog",
        "  b/unpack: etcd.v1: unpacked",
        "  c/plan: planned etcd.v1",
    ]


def test_unfolded_everything_is_reported() -> None:
    text = text_of(why(JournalIndex.of(CROWD), SUB, is_folding=False))
    assert "add of Subscription olm/atlas (from outside)" in text
    assert "27 more" in text
    assert "concern others" not in text


def test_of_a_namespace_everything_is_reported() -> None:
    results = [stuck.message for stuck in why(JournalIndex.of(CROWD), NAMESPACE.ref("olm")).last]
    assert "atlas: atlas.v1 from its catalog; etcd: etcd.v1 from its catalog" in results


def test_changes_of_one_run_are_shown_together() -> None:
    make = ran("run-1", "a/make", SUB, [], wrote("Create", CSV, "csv", "5"), wrote("Create", DEPLOY, "dep", "6"))
    look = ran("run-2", "b/look", CSV, ["csv.5.add", "dep.6.add"], wrote("SetStatus", CSV, "csv", "7"))
    text = text_of(
        why(JournalIndex.of([make, received(CSV, "csv", "5"), received(DEPLOY, "dep", "6"), look]), CSV, writes=1)
    )
    assert "add of ClusterServiceVersion olm/etcd.v1, and 1 more" in text
    assert text.count("a/make on") == 1


def test_a_run_that_wrote_twice_is_one_and_events_for_people_are_no_write() -> None:
    notifications = Write("Record", str(SUB), did="sent")
    run = ran(
        "run-1", "a/step", SUB, [], wrote("Merge", SUB, "sub", "2"), wrote("SetStatus", SUB, "sub", "3"), notifications
    )
    assert [node.text for node in why(JournalIndex.of([run]), SUB).writes] == ["SetStatus Subscription olm/etcd"]


def test_a_summary_about_the_namespace_is_no_knowledge_of_the_object() -> None:
    run = ran("run-1", "a/resolve", NAMESPACE.ref("olm"), [], summary="done")
    assert not why(JournalIndex.of([run]), SUB).is_known
    assert why(JournalIndex.of([run, received(SUB, "sub", "1")]), SUB).is_known


def test_how_far_a_pull_is_is_reported_only_while_it_goes_on() -> None:
    catalog = CATALOG_SOURCE.ref("local", "olm")
    report = ran("r", "catalog_source/report_progress", catalog, [], at=5_000, summary="pulling, 3 of 8 MB")
    before = ran("p1", "catalog_source/snapshot_catalog", catalog, [], at=1_000, summary="tried again")
    ended = Recorded(
        Run("p2", "catalog_source/snapshot_catalog", str(catalog), 2_000, 9_000.0, "0",
            decisions=[Decision([], "outcome", summary="holds 2 packages")])
    )  # fmt: skip

    assert [one.message for one in why(JournalIndex.of([before, report]), catalog).last] == [
        "tried again", "pulling, 3 of 8 MB",
    ]  # fmt: skip
    assert [one.message for one in why(JournalIndex.of([before, report, ended]), catalog).last] == ["holds 2 packages"]
