"""Which names belong together, and what of a verdict concerns them."""

from __future__ import annotations

import pytest

from eventing.diagnosis.why.correlation import Correlation
from eventing.events.event import OWNERS, Event, change_id
from eventing.journal import JournalIndex, ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision
from shared import names
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, INSTALL_PLAN, NAMESPACE, SUBSCRIPTION, Ref

SUB = SUBSCRIPTION.ref("etcd", "olm")
CSV = CLUSTER_SERVICE_VERSION.ref("etcdoperator.v1", "olm")


def saw(ref: Ref, owners: str = "") -> ReceivedEvent:
    event_id = change_id(f"uid-{ref.name}", "1", "add")
    return ReceivedEvent.of(Event(event_id, f"{names.RESOURCE_EVENT}add", "api", ref, {OWNERS: owners}), 0)


def said(verdict: str, failure: str = "") -> Recorded:
    run = Run(
        verdict, "a/resolve", str(NAMESPACE.ref("olm")), 0, 1.0, "0", failure=failure,
        message=verdict if failure else "", decisions=[Decision([], "outcome", verdict=verdict)],
    )  # fmt: skip
    return Recorded(run)


KNOWN = JournalIndex.of(
    [
        saw(SUB),
        saw(CSV),
        saw(SUBSCRIPTION.ref("atlas", "olm")),
        saw(INSTALL_PLAN.ref("install-1", "olm"), "Subscription/etcd"),
        saw(INSTALL_PLAN.ref("install-2", "olm"), "Subscription/atlas"),
        saw(DEPLOYMENT.ref("etcd-operator", "olm"), "ClusterServiceVersion/etcdoperator.v1"),
        said("atlas: atlas.v3 from its catalog; etcd: etcdoperator.v1 from its catalog"),
        said("atlas.v3: Job 77 is made"),
    ]
)


@pytest.mark.parametrize(
    "ref",
    [
        pytest.param(SUB, id="the Subscription"),
        pytest.param(CSV, id="its CSV, which a verdict names with it"),
        pytest.param(INSTALL_PLAN.ref("install-1", "olm"), id="its plan, which it owns"),
        pytest.param(DEPLOYMENT.ref("etcd-operator", "olm"), id="a Deployment of its CSV"),
    ],
)
def test_each_object_of_a_package_leads_to_the_others(ref: Ref) -> None:
    found = Correlation.of(KNOWN, ref)
    assert found.names == {"etcd", "etcdoperator.v1", "install-1", "etcd-operator"}
    assert found.others == {"atlas", "atlas.v3", "install-2"}
    assert found.is_foreign(str(INSTALL_PLAN.ref("install-2", "olm")))
    assert not found.is_foreign(str(NAMESPACE.ref("atlas"))), "a kind that concerns everybody"


@pytest.mark.parametrize(
    ("verdict", "want"),
    [
        pytest.param(
            "atlas: none fits; etcd: it waits; for what; atlas.v3: x", "etcd: it waits; for what", id="clauses"
        ),
        pytest.param("no OperatorGroup in olm", "no OperatorGroup in olm", id="what concerns everybody"),
        pytest.param("atlas: none fits", "", id="what concerns others"),
        pytest.param("planned atlas.v3, atlas, install-2, etcd", "planned etcd, 3 others", id="a list"),
        pytest.param("planned atlas.v3, etcdoperator.v1", "planned atlas.v3, etcdoperator.v1", id="a short list"),
    ],
)
def test_what_a_verdict_tells_of_a_package(verdict: str, want: str) -> None:
    book = JournalIndex.of(
        [*KNOWN.events.values(), said("atlas: atlas.v3 fits; etcd: etcdoperator.v1 fits"), said("atlas.v3: x")]
    )
    assert Correlation.of(book, SUB).told(verdict) == want


def test_the_sentence_of_a_failure_names_no_package() -> None:
    found = Correlation.of(JournalIndex.of([saw(SUB), said("TypeError: no such thing", "bug")]), SUB)
    assert found.others == frozenset()
    assert found.told("TypeError: no such thing") == "TypeError: no such thing"


def test_everything_belongs_to_a_namespace() -> None:
    found = Correlation.of(KNOWN, NAMESPACE.ref("olm"))
    assert not found.is_foreign(str(SUB))
    assert found.told("atlas: none fits") == "atlas: none fits"
