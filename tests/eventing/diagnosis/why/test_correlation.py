"""Which objects belong together, and what of a run concerns them."""

from __future__ import annotations

import pytest

from eventing.diagnosis.why.correlation import Correlation
from eventing.diagnosis.why.explain import why
from eventing.events.event import OWNERS, Event, change_id
from eventing.journal import JournalIndex, ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision, StatementRecord
from shared import names
from shared.domain.statement import Code, Statement
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, INSTALL_PLAN, JOB, NAMESPACE, SUBSCRIPTION, Ref

SUB = SUBSCRIPTION.ref("etcd", "olm")
CSV = CLUSTER_SERVICE_VERSION.ref("etcdoperator.v1", "olm")
ATLAS = SUBSCRIPTION.ref("atlas", "olm")
ATLAS_CSV = CLUSTER_SERVICE_VERSION.ref("atlas.v3", "olm")
ATLAS_PLAN = INSTALL_PLAN.ref("install-2", "olm")
ATLAS_JOB = JOB.ref("77", "catalogs")
DEPLOY = DEPLOYMENT.ref("etcd-operator", "olm")
PLAN = INSTALL_PLAN.ref("install-1", "olm")


def received(ref: Ref, owners: str = "") -> ReceivedEvent:
    event_id = change_id(f"uid-{ref.name}", "1", "add")
    return ReceivedEvent.of(Event(event_id, f"{names.RESOURCE_EVENT}add", "api", ref, {OWNERS: owners}), 0)


def a_statement(message: str, *about: Ref, code: Code = Code.CHOSEN) -> StatementRecord:
    return StatementRecord.of(Statement(about, code, message))


def ran(*statements: StatementRecord, summary: str = "", failure: str = "") -> Recorded:
    run = Run(
        f"run-{summary}{[one.message for one in statements]}", "a/resolve", str(NAMESPACE.ref("olm")), 0, 1.0, "0",
        failure=failure, message=summary if failure else "",
        decisions=[Decision([], "outcome", summary=summary, statements=list(statements))],
    )  # fmt: skip
    return Recorded(run)


KNOWN = (
    received(SUB),
    received(CSV),
    received(ATLAS),
    received(PLAN, "Subscription/etcd"),
    received(ATLAS_PLAN, "Subscription/atlas"),
    received(DEPLOY, "ClusterServiceVersion/etcdoperator.v1"),
    ran(
        a_statement("atlas: atlas.v3 from its catalog", ATLAS, ATLAS_CSV),
        a_statement("etcd: etcdoperator.v1 from its catalog", SUB, CSV),
    ),
    ran(a_statement("atlas.v3: Job 77 is made", ATLAS_CSV, ATLAS_JOB, code=Code.UNPACKING)),
)


@pytest.mark.parametrize(
    "ref",
    [
        pytest.param(SUB, id="the Subscription"),
        pytest.param(CSV, id="its CSV, which a statement names with it"),
        pytest.param(PLAN, id="its plan, which it owns"),
        pytest.param(DEPLOY, id="a Deployment of its CSV"),
    ],
)
def test_each_object_of_a_package_leads_to_the_others(ref: Ref) -> None:
    found = Correlation.of(JournalIndex.of(KNOWN), ref)
    assert found.mine == frozenset((one.kind, one.namespace, one.name) for one in (SUB, CSV, PLAN, DEPLOY))
    assert all(found.is_foreign(str(one)) for one in (ATLAS, ATLAS_CSV, ATLAS_PLAN, ATLAS_JOB))
    assert not found.is_foreign(str(NAMESPACE.ref("atlas"))), "a kind that concerns everybody"


def denied(account: str) -> str:
    user = f'User "system:serviceaccount:olm:{account}"'
    return f'jobs.batch is forbidden: {user} cannot create resource "jobs" in API group "batch" at the cluster scope'


LACKS = "ServiceAccount olm/few may not create jobs.batch in the cluster"
MINE, OTHER = a_statement("etcd: it waits; for what", SUB), a_statement("atlas: none fits", ATLAS)


@pytest.mark.parametrize(
    ("run", "want"),
    [
        pytest.param(
            ran(MINE, a_statement(denied("few"), SUB), a_statement(denied("few"), CSV)),
            f"etcd: it waits; for what; {LACKS}",
            id="what is denied, once, beside the others",
        ),
        pytest.param(
            ran(a_statement(denied("few"), SUB), a_statement(denied("one"), CSV)),
            f"{LACKS}; {LACKS.replace('few', 'one')}",
            id="each account in its statement",
        ),
        pytest.param(ran(OTHER, MINE, a_statement("x", ATLAS_CSV)), "etcd: it waits; for what", id="statements"),
        pytest.param(ran(summary="no OperatorGroup in olm"), "no OperatorGroup in olm", id="what concerns everybody"),
        pytest.param(ran(OTHER), "", id="what concerns others"),
        pytest.param(
            ran(OTHER, MINE, summary="planned all"), "etcd: it waits; for what", id="a statement before the summary"
        ),
        pytest.param(ran(OTHER, summary="TypeError: no", failure="bug"), "TypeError: no", id="a failure"),
    ],
)
def test_what_a_run_reports_of_a_package(run: Recorded, want: str) -> None:
    assert Correlation.of(JournalIndex.of(KNOWN), SUB).message(run.run) == want


def test_names_in_a_sentence_tie_nothing_together() -> None:
    tricky = (*KNOWN, ran(a_statement("atlas: waits for etcd; etcdoperator.v1: no", ATLAS)))
    assert Correlation.of(JournalIndex.of(tricky), SUB).is_foreign(str(ATLAS))


def test_an_entry_of_an_older_build_shows_its_message() -> None:
    index = JournalIndex.of([received(SUB), received(ATLAS), ran(summary="atlas: none fits; etcd: etcd.v1 fits")])
    found = Correlation.of(index, SUB)
    assert not found.is_foreign(str(ATLAS)), "nothing says what belongs together"
    assert [one.message for one in why(index, SUB).last] == ["atlas: none fits; etcd: etcd.v1 fits"]


def test_everything_belongs_to_a_namespace() -> None:
    found = Correlation.of(JournalIndex.of(KNOWN), NAMESPACE.ref("olm"))
    assert not found.is_foreign(str(SUB))
    assert found.message(ran(OTHER, MINE).run) == "atlas: none fits; etcd: it waits; for what"


def test_an_object_that_only_a_statement_is_about_is_known_with_its_code() -> None:
    answer = why(JournalIndex.of(KNOWN), ATLAS_CSV)
    assert answer.is_known
    assert [(one.codes, one.message) for one in answer.last] == [(("BundleUnpacking",), "atlas.v3: Job 77 is made")]
    assert not why(JournalIndex.of(KNOWN), CLUSTER_SERVICE_VERSION.ref("atlas", "olm")).is_known
