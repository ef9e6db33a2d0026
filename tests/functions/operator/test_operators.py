"""Operators list what carries their label, and what belongs to a version carries it (csv.md §12)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.cluster_service_version.adopt_components import adopt_components
from functions.operator.update_operator import update_operator
from shared import kinds
from shared.api.manifest import Manifest, timestamp
from shared.domain.subscription.operators import (
    BARE,
    MOST,
    MOST_CONDITIONS,
    MOST_OPERATORS,
    MOST_TEXT,
    WHOLE,
    names_of,
)
from shared.kinds import HIGH_CARDINALITY, Kind, Ref
from shared.step import NOTHING, Create, Merge, Outcome, SetStatus
from tests.kit.cluster import FakeCluster, FixedClock
from tests.kit.inventory import FakeInventory

NAME = "tide.ns"
KEY = f"operators.coreos.com/{NAME}"
REF = kinds.OPERATOR.ref(NAME)
CSV_REF = kinds.CLUSTER_SERVICE_VERSION.ref("tide.v1", "ns")
SINCE = "2026-01-01T00:00:00Z"
OWNED = {"olm.owner": "tide.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"}
MANAGED = {"olm.managed": "true"}


def an_object(kind: Kind, name: str, *, labels: dict[str, str] | None = None, **more: Any) -> Manifest:
    place = {"namespace": "ns"} if kind.is_namespaced else {}
    meta = {"name": name, **place, "labels": {KEY: "", **MANAGED} if labels is None else labels, **more.pop("meta", {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def a_csv(*, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    status = {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "done", "lastTransitionTime": SINCE}
    csv = an_object(kinds.CLUSTER_SERVICE_VERSION, "tide.v1", labels=labels, meta={"uid": "c"}, status=status)
    return {**csv, "spec": spec}


def an_operator(status: Manifest) -> Manifest:
    meta = {"name": NAME, "resourceVersion": "3"}
    return {"apiVersion": "operators.coreos.com/v1", "kind": "Operator", "metadata": meta, "status": status}


def update(*objects: Manifest, ref: Ref = REF) -> Outcome:
    cluster = FakeCluster(objects)
    return update_operator(ref, cluster, FakeInventory(cluster), FixedClock())


def adopt(*objects: Manifest) -> Outcome:
    return adopt_components(CSV_REF, FakeCluster(objects))


def refs(outcome: Outcome) -> list[Manifest]:
    (write,) = (one for one in outcome.writes if isinstance(one, SetStatus))
    found: list[Manifest] = write.status["components"].get("refs", [])
    return found


CONDITION = {"type": "Available", "status": "True", "reason": "R", "lastUpdateTime": SINCE, "lastTransitionTime": SINCE}
DEPLOYMENT = an_object(kinds.DEPLOYMENT, "tide", status={"conditions": [{**CONDITION, "observedGeneration": 4}]})


def with_conditions(*conditions: Manifest) -> Manifest:
    return an_object(kinds.DEPLOYMENT, "tide", status={"conditions": list(conditions)})


def test_an_operator_is_made_of_its_first_component() -> None:
    """csv.md 18 row 147: deleted while it has components, it comes back."""
    create, reported = update(DEPLOYMENT).writes
    assert isinstance(create, Create)
    assert create.manifest["metadata"] == {"name": NAME, "labels": MANAGED}
    assert isinstance(reported, SetStatus)
    assert reported.resource_version == ""
    assert reported.status["components"]["labelSelector"] == {"matchExpressions": [{"key": KEY, "operator": "Exists"}]}


def test_without_components_none_is_made() -> None:
    """csv.md 18 row 147: without components it stays deleted; so does one whose label names nothing."""
    assert update().writes == ()


def test_the_components_are_sorted_and_say_how_they_are() -> None:
    found = refs(update(a_csv(), DEPLOYMENT, an_object(kinds.ROLE, "b"), an_object(kinds.ROLE, "a")))
    assert [(one["kind"], one["name"]) for one in found] == [
        ("ClusterServiceVersion", "tide.v1"), ("Deployment", "tide"), ("Role", "a"), ("Role", "b"),
    ]  # fmt: skip
    phase = {"type": "Succeeded", "status": "True", "reason": "InstallSucceeded", "message": "done"}
    assert found[0]["conditions"] == [{**phase, "lastTransitionTime": SINCE}]
    assert found[1]["conditions"] == [CONDITION]
    assert "conditions" not in found[2]


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param({"type": "A", "status": "Maybe"}, id="no status of a condition"),
        pytest.param({"status": "True"}, id="no type"),
        pytest.param({"type": ["A"], "status": {}}, id="no texts"),
    ],
)
def test_what_is_no_condition_is_left_out(condition: Manifest) -> None:
    (found,) = refs(update(an_object(kinds.DEPLOYMENT, "a", status={"conditions": [condition]})))
    assert "conditions" not in found


def test_a_time_that_is_none_is_left_out() -> None:
    declared = {"type": "A", "status": "True", "lastTransitionTime": "yesterday"}
    (found,) = refs(update(an_object(kinds.DEPLOYMENT, "a", status={"conditions": [declared]})))
    assert found["conditions"] == [{"type": "A", "status": "True"}]


@pytest.mark.parametrize("kind", sorted({*HIGH_CARDINALITY} & {*WHOLE, *BARE}), ids=lambda kind: kind.kind)
def test_what_is_not_marked_as_ours_is_none_where_not_every_change_makes_an_event(kind: Kind) -> None:
    """csv.md §12.4: a ConfigMap or Service that a tenant labelled and deleted would stay listed for ever."""
    foreign = an_object(kind, "a", labels={KEY: ""})
    assert update(foreign).writes == ()
    assert [one["kind"] for one in refs(update(foreign, an_object(kind, "b")))] == [kind.kind]


def test_copies_and_versions_without_a_phase() -> None:
    copied = a_csv(labels={KEY: "", "olm.copiedFrom": "elsewhere"})
    assert update(copied).writes == ()
    (found,) = refs(update({**a_csv(), "status": {}}))
    assert "conditions" not in found


def test_a_component_that_leaves_is_not_listed_any_more_and_nothing_is_written_twice() -> None:
    """csv.md 18 row 148: the label was removed from the last one; the Operator stays till the next audit."""
    namespace = an_object(kinds.NAMESPACE, "any", labels={KEY: "whatever"})
    (reported,) = (one for one in update(namespace).writes if isinstance(one, SetStatus))
    assert refs(update(namespace)) == [{"apiVersion": "v1", "kind": "Namespace", "name": "any"}]
    assert update(namespace, an_operator(reported.status)) == NOTHING
    left = update(an_operator(reported.status))
    assert refs(left) == []
    assert isinstance(left.writes[0], SetStatus)
    assert left.writes[0].resource_version == "3"


ROLLED_OUT = {
    "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": 'ReplicaSet "tide-1"',
    "lastUpdateTime": SINCE, "lastTransitionTime": SINCE,
}  # fmt: skip
NEXT_SET = {"message": 'ReplicaSet "tide-2"', "lastUpdateTime": "2026-01-02T00:00:00Z"}


@pytest.mark.parametrize(
    ("change", "is_written"),
    [
        pytest.param(NEXT_SET, False, id="its next ReplicaSet is there"),
        pytest.param({**NEXT_SET, "status": "False"}, True, id="another status"),
        pytest.param({**NEXT_SET, "reason": "ReplicaSetUpdated"}, True, id="its next ReplicaSet is not there yet"),
        pytest.param({"lastTransitionTime": "2026-01-02T00:00:00Z"}, True, id="it was not for a while"),
        pytest.param({**NEXT_SET, "reason": "Other", "message": "b"}, True, id="a reason of which the message counts"),
    ],
)
def test_a_deployment_that_is_rolled_out_again_is_as_it_was(change: Manifest, is_written: bool) -> None:
    """Each change of its template makes a ReplicaSet; which one it was is told with the next change."""
    (reported,) = (one for one in update(with_conditions(CONDITION, ROLLED_OUT)).writes if isinstance(one, SetStatus))
    outcome = update(with_conditions(CONDITION, {**ROLLED_OUT, **change}), an_operator(reported.status))
    assert bool(outcome.writes) is is_written


def test_what_is_told_anew_is_told_as_it_is() -> None:
    (reported,) = (one for one in update(with_conditions(CONDITION, ROLLED_OUT)).writes if isinstance(one, SetStatus))
    newer = [{**CONDITION, "status": "False"}, {**ROLLED_OUT, **NEXT_SET}]
    (found,) = refs(update(with_conditions(*newer), an_operator(reported.status)))
    assert found["conditions"] == newer


def ago(seconds: int) -> str:
    return timestamp(FixedClock().now() - timedelta(seconds=seconds))


def a_subscription(**status: Any) -> Manifest:
    return an_object(kinds.SUBSCRIPTION, "tide", status={"lastUpdated": ago(5), **status})


def phased(phase: str, seconds: int = 5, **meta: Any) -> Manifest:
    """A version that came to its phase so many seconds ago; one without a phase was made then."""
    status = {"phase": phase, "lastTransitionTime": ago(seconds)} if phase else {}
    meta = {"creationTimestamp": ago(seconds), **meta}
    return an_object(kinds.CLUSTER_SERVICE_VERSION, "tide.v1", meta=meta, status=status)


NEVER = "9999-12-31T23:59:59Z"
UNPACKING = {"type": "BundleUnpacking", "status": "True"}


@pytest.mark.parametrize(
    ("components", "is_awaited"),
    [
        pytest.param([a_subscription(conditions=[UNPACKING])], True, id="its bundle is being unpacked"),
        pytest.param([a_subscription(state="UpgradePending")], True, id="its plan is being carried out"),
        pytest.param([phased("")], True, id="it was just made"),
        pytest.param([phased("Pending")], True, id="it waits for what it requires"),
        pytest.param([phased("Installing"), a_subscription(state="AtLatestKnown")], True, id="its Pods start"),
        pytest.param([phased("Succeeded"), a_subscription(state="UpgradePending")], True, id="it is being replaced"),
        pytest.param([phased("Pending", 30)], False, id="it has waited for long"),
        pytest.param([a_subscription(state="UpgradePending", lastUpdated=ago(40))], False, id="so has its plan"),
        pytest.param([a_subscription(state="AtLatestKnown"), phased("Succeeded")], False, id="it is installed"),
        pytest.param([phased("Failed")], False, id="it has failed"),
        pytest.param([a_subscription(state="UpgradePending", lastUpdated=NEVER)], False, id="a time that never comes"),
        pytest.param([phased("Pending", -1)], False, id="a time that is yet to come"),
        pytest.param([phased("Pending"), phased("Pending", -9, name="b")], True, id="one of two that is yet to come"),
        pytest.param([phased("Pending", namespace="elsewhere")], False, id="that of somebody else"),
        pytest.param([phased("Pending", labels={KEY: "", "olm.copiedFrom": "x"}), DEPLOYMENT], False, id="a copy"),
    ],
)
def test_an_installation_that_goes_on_is_waited_for(components: list[Manifest], is_awaited: bool) -> None:
    """Each of its steps changes a component: all of them are told in one status, when it is over."""
    outcome = update(*components)
    assert bool(outcome.writes) is not is_awaited
    assert outcome.again_in == (timedelta(seconds=25) if is_awaited else None)


def test_an_operator_that_is_being_deleted_is_left_alone() -> None:
    going = an_operator({})
    assert update({**going, "metadata": {**going["metadata"], "deletionTimestamp": SINCE}}, DEPLOYMENT) == NOTHING


def test_a_name_that_no_label_can_have() -> None:
    assert update(DEPLOYMENT, ref=kinds.OPERATOR.ref("a" * 64)).writes == ()


def test_the_list_has_an_end() -> None:
    assert len(refs(update(*(an_object(kinds.ROLE, f"r{at}") for at in range(MOST + 1))))) == MOST


def test_objects_of_other_namespaces_crowd_nobody_out() -> None:
    """A label names any Operator: a thousand objects of a tenant leave those beside the operator in its list."""
    foreign = [an_object(kinds.CONFIG_MAP, f"c{at}", meta={"namespace": "elsewhere"}) for at in range(MOST)]
    crd = an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "tides.x.io")
    found = refs(update(*foreign, DEPLOYMENT, crd))
    assert len(found) == MOST
    assert [one["kind"] for one in found if one.get("namespace") != "elsewhere"] == [
        "CustomResourceDefinition",
        "Deployment",
    ]


def test_conditions_of_any_length_leave_an_operator_that_can_be_written() -> None:
    """An object has 1.5 MiB: conditions of one component must not keep those of the others from being told."""
    declared = [{**CONDITION, "type": f"C{at}", "message": "x" * 32_768} for at in range(40)]
    foreign = [
        an_object(kinds.DEPLOYMENT, f"d{at}", meta={"namespace": "elsewhere"}, status={"conditions": declared})
        for at in range(40)
    ]
    found = refs(update(*foreign, DEPLOYMENT))
    (own,) = [one for one in found if one["namespace"] == "ns"]
    assert own["conditions"] == [CONDITION]
    assert max(len(one.get("conditions", ())) for one in found) == MOST_CONDITIONS
    assert len(str(found)) < 2 * MOST_TEXT


@pytest.mark.parametrize("name", ["UPPER", "under_score", "", "-", "a..b"])
def test_a_label_that_names_no_object_names_no_operator(name: str) -> None:
    assert names_of([f"operators.coreos.com/{name}", "other/tide"]) == ()


def test_one_object_wakes_so_many_operators_at_most() -> None:
    assert len(names_of(f"operators.coreos.com/a{at}" for at in range(99))) == MOST_OPERATORS


INSTALLED = {"annotations": {"operatorframework.io/installed-alongside-1": "ns/tide.v1"}}


def test_what_belongs_to_a_version_is_labelled_once() -> None:
    """csv.md 18 row 150: by owner reference, by owner labels, and definitions that a plan installed for it.

    A version may claim any definition: labels on those of others, as many as one likes, are not its own affair.
    """
    reference = {"ownerReferences": [{"apiVersion": CSV_REF.api_version, "kind": CSV_REF.kind, "uid": "c"}]}
    crd = an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "tides.x.io", labels={}, meta=INSTALLED)
    csv = a_csv(
        customresourcedefinitions={"owned": [{"name": f"{word}.x.io"} for word in ("tides", "absent", "claimed")]}
    )
    lacking = [
        an_object(kinds.SERVICE_ACCOUNT, "a", labels=MANAGED, meta=reference),
        an_object(kinds.CLUSTER_ROLE, "b", labels={**MANAGED, **OWNED}), crd,
        an_object(kinds.OPERATOR_CONDITION, "tide.v1", labels={}, meta=reference),
    ]  # fmt: skip
    others = [
        an_object(kinds.SERVICE, "c", labels={**MANAGED, KEY: ""}, meta=reference),
        an_object(kinds.SERVICE, "foreign", labels=MANAGED),
        an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "claimed.x.io", labels={}),
        an_object(kinds.SERVICE, "going", labels=MANAGED, meta={**reference, "deletionTimestamp": SINCE}),
    ]
    writes = adopt(csv, *lacking, *others).writes
    assert {one.ref for one in writes if isinstance(one, Merge)} == {Ref.of(one) for one in lacking}
    assert {str(one.patch) for one in writes if isinstance(one, Merge)} == {str({"metadata": {"labels": {KEY: ""}}})}


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param((), id="gone"),
        pytest.param((a_csv(labels={}),), id="without a Subscription"),
        pytest.param((a_csv(labels={KEY: "", "olm.copiedFrom": "elsewhere"}),), id="csv.md 18 row 150: a copy"),
    ],
)
def test_what_labels_nothing(csv: tuple[Manifest, ...]) -> None:
    assert adopt(*csv, an_object(kinds.SERVICE_ACCOUNT, "a", labels={**MANAGED, **OWNED})) == NOTHING
