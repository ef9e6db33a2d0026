from __future__ import annotations

from typing import Any

import pytest

from eventing.events.event import Event
from eventing.watch.known_objects import KnownObjects
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.kinds import Kind

CSV_LABELS = {"olm.owner": "csv", "olm.owner.namespace": "olm", "olm.owner.kind": "ClusterServiceVersion"}


def an_object(name: str = "a", version: int = 1, *, uid: str = "", labels: dict[str, str] | None = None) -> Manifest:
    meta: dict[str, Any] = {"name": name, "namespace": "olm", "uid": uid or f"uid-{name}"}
    return {"metadata": {**meta, "resourceVersion": str(version), "labels": labels or {}}}


def known_objects_with(*known: Manifest, kind: Kind = kinds.SUBSCRIPTION) -> KnownObjects:
    """The objects known after its first list."""
    watched = KnownObjects(kind, "https://api")
    relist(watched, *known)
    return watched


def relist(watched: KnownObjects, *items: Manifest) -> list[str]:
    listed: set[tuple[str, str]] = set()
    found = [
        *watched.page(items[:1], listed),
        *watched.page(items[1:], listed),
        *watched.settle(listed),
    ]
    return ids(*found)


def ids(*events: Event) -> list[str]:
    return [event.id for event in events]


def test_an_event_reports_what_changed() -> None:
    (event,) = known_objects_with().observe("ADDED", an_object())
    assert (event.id, event.type, event.source, event.ref) == (
        "uid-a.1.add",
        "dev.knative.apiserver.resource.add",
        "https://api",
        kinds.SUBSCRIPTION.ref("a", "olm"),
    )


@pytest.mark.parametrize(
    ("change", "manifest", "want"),
    [
        pytest.param("ADDED", an_object("b"), ["uid-b.1.add"], id="an object we did not know is added"),
        pytest.param("MODIFIED", an_object("a", 2), ["uid-a.2.update"], id="a known object is updated"),
        pytest.param("ADDED", an_object("a", 2), ["uid-a.2.update"], id="a known object told anew is an update"),
        pytest.param("MODIFIED", an_object("a", 1), [], id="the version that we know makes no event"),
        pytest.param("DELETED", an_object("a", 3), ["uid-a.3.delete"], id="a deletion has a version of its own"),
        pytest.param(
            "ADDED",
            an_object("a", 4, uid="new"),
            ["uid-a.1.delete", "new.4.add"],
            id="a namesake replaces an object whose deletion we missed",
        ),
    ],
)
def test_one_line_of_a_watch(change: str, manifest: Manifest, want: list[str]) -> None:
    assert ids(*known_objects_with(an_object("a", 1)).observe(change, manifest)) == want


@pytest.mark.parametrize(
    ("known", "listed", "want"),
    [
        pytest.param([], [an_object("a"), an_object("b")], ["uid-a.1.add", "uid-b.1.add"], id="all exist at the start"),
        pytest.param([an_object("a")], [an_object("a")], [], id="an unchanged object after a relist makes no event"),
        pytest.param([an_object("a")], [an_object("a", 5)], ["uid-a.5.update"], id="a change that we missed"),
        pytest.param(
            [an_object("a"), an_object("b")], [an_object("b")], ["uid-a.1.delete"], id="a deletion that we missed"
        ),
        pytest.param([an_object("a")], [], ["uid-a.1.delete"], id="the kind is not served any more"),
    ],
)
def test_a_list_is_a_difference(known: list[Manifest], listed: list[Manifest], want: list[str]) -> None:
    assert relist(known_objects_with(*known), *listed) == want


def test_a_version_is_reported_again_by_every_later_list() -> None:
    """What we made for it while nobody watched, and somebody deleted before the list, is in no other event."""
    csv, copy = an_object("a"), an_object("b", labels={names.COPIED_FROM: "home"})
    assert relist(known_objects_with(csv, copy, kind=kinds.CLUSTER_SERVICE_VERSION), csv, copy) == ["uid-a.1.add"]


def test_a_deletion_that_was_missed_reports_what_the_object_was() -> None:
    watched = known_objects_with(an_object("a", labels=CSV_LABELS), kind=kinds.ROLE)
    (event,) = watched.settle(set())
    assert event.hints == {"owners": "ClusterServiceVersion/csv"}


def test_who_lost_its_owner_enqueues_the_former_owner_once() -> None:
    watched = known_objects_with(an_object("a", labels=CSV_LABELS), kind=kinds.DEPLOYMENT)
    (lost,) = watched.observe("MODIFIED", an_object("a", 2))
    assert lost.hints == {"owners": "ClusterServiceVersion/csv"}
    assert watched.observe("MODIFIED", an_object("a", 3)) == ()


def test_a_limit_that_was_taken_away_is_reported_once_more() -> None:
    """csv.md 15.1: the cluster may go on now."""
    objects = KnownObjects(kinds.CLUSTER_SERVICE_VERSION, "https://cluster")
    limit = {names.PROPERTIES: '{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.18"}]}'}
    with_limit, without = an_object(version=1), an_object(version=2)
    with_limit["metadata"]["annotations"] = limit

    reported = [
        objects.observe("MODIFIED", one)[0].hints["limited"] for one in (with_limit, without, an_object(version=3))
    ]

    assert reported == ["true", "true", "false"]


@pytest.mark.parametrize(
    ("kind", "labels", "at_start", "later"),
    [
        pytest.param(kinds.DEPLOYMENT, {}, 0, 0, id="a Deployment of somebody else is not ours to look at"),
        pytest.param(kinds.JOB, {}, 0, 0, id="a Job of somebody else is not ours to look at"),
        pytest.param(kinds.CLUSTER_ROLE, {}, 0, 1, id="a ClusterRole may give an account its rights when it changes"),
        pytest.param(kinds.SERVICE_ACCOUNT, {}, 0, 1, id="a ServiceAccount that nobody owns enqueues when it appears"),
        pytest.param(kinds.ROLE, {}, 0, 1, id="a Role that nobody owns enqueues when it changes"),
        pytest.param(kinds.ROLE, {"olm.managed": "true"}, 1, 1, id="the audit looks for every object of ours"),
        pytest.param(kinds.DEPLOYMENT, CSV_LABELS, 1, 1, id="a Deployment of a ClusterServiceVersion enqueues"),
        pytest.param(kinds.JOB, {"operatorframework.io/bundle-unpack-ref": "h"}, 1, 1, id="an unpack Job enqueues"),
        pytest.param(kinds.SUBSCRIPTION, {}, 1, 1, id="a Subscription enqueues"),
    ],
)
def test_bystanders(kind: Kind, labels: dict[str, str], at_start: int, later: int) -> None:
    watched = KnownObjects(kind, "https://api")
    listed: set[tuple[str, str]] = set()
    first = watched.page([an_object("a", labels=labels)], listed)
    assert len(first) + len(watched.settle(listed)) == at_start
    assert len(watched.observe("MODIFIED", an_object("a", 2, labels=labels))) == later


def test_a_redelivery_has_the_same_trace() -> None:
    one, other = (known_objects_with().observe("ADDED", an_object())[0] for _ in range(2))
    assert one == other
    assert one.traceparent.count("-") == 3
