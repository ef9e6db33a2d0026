"""Whatever text others write into an object, the watch goes on, and what the queue gets can be read back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cloudevents.http import CloudEvent
from hypothesis import example, given
from hypothesis import strategies as st

from eventing.events.cloudevents import InvalidEventError, event_of
from eventing.events.event import MOST_OWNERS, OWNERS, Event, Owner
from eventing.journal import RedisJournal
from eventing.routes import jobs_for
from eventing.watch.known_objects import KnownObjects
from eventing.watch.skips import Guarded, Skips
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.values import entry_of, job_of
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import WATCHED, Kind

TEXT = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["x,y", "/", "a/b", "..", ".", "", "a|b", "a\nb", "%2F", "etcd.v1", "ns", "Subscription", "a" * 300]
    ),
)
KINDS = st.sampled_from([*WATCHED])
OWNER_KINDS = st.one_of(TEXT, st.sampled_from(["ClusterServiceVersion", "Subscription", "OperatorGroup"]))
REFERENCES = st.lists(st.fixed_dictionaries({}, optional={"kind": OWNER_KINDS, "name": TEXT, "uid": TEXT}), max_size=3)
KEYS = (names.OWNER, names.OWNER_KIND, names.OWNER_NAMESPACE, names.MANAGED, names.UNPACK_REF, names.COPIED_FROM)
ANNOTATIONS = (names.OPERATOR_NAMESPACE, names.OPERATOR_GROUP)


def texts(keys: Sequence[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(keys), TEXT)


@st.composite
def objects(draw: st.DrawFn) -> Manifest:
    meta = {
        "name": draw(TEXT), "namespace": draw(TEXT), "uid": "u", "resourceVersion": "1",
        "labels": draw(texts(KEYS)), "annotations": draw(texts(ANNOTATIONS)), "ownerReferences": draw(REFERENCES),
    }  # fmt: skip
    return {"metadata": meta, "status": {"phase": draw(TEXT)}}


def a_deployment(name: str, owner: str = "", version: str = "1") -> Manifest:
    reference = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "name": owner}
    meta = {"name": name, "namespace": "plain", "uid": f"uid-{name}", "resourceVersion": version}
    return {"metadata": {**meta, "labels": {names.MANAGED: "true"}, "ownerReferences": [reference] if owner else []}}


@given(kind=KINDS, manifest=objects())
@example(kind=kinds.DEPLOYMENT, manifest=a_deployment("poison", "x,y"))
@example(kind=kinds.DEPLOYMENT, manifest=a_deployment("poison", "/"))
def test_an_object_with_any_text_is_queued_or_skipped(kind: Kind, manifest: Manifest) -> None:
    skips = Skips()
    found = Guarded(KnownObjects(kind, "https://api"), kind, skips).observe("ADDED", manifest)
    assert len(found) + sum(skips.counts.values()) <= 1
    for event in found:
        for job in jobs_for(event):
            assert job_of(entry_of(job), job.lane).ref == job.ref
            assert "\n" not in entry_of(job)


@given(kind=KINDS, manifest=objects(), attributes=st.dictionaries(st.sampled_from(["name", "namespace", OWNERS]), TEXT))
def test_a_request_with_any_text_is_an_event_or_refused(
    kind: Kind, manifest: Manifest, attributes: dict[str, str]
) -> None:
    entry = {"type": f"{names.RESOURCE_EVENT}update", "source": "x", "apiversion": kind.api_version, "kind": kind.kind}
    try:
        event = event_of(CloudEvent({**entry, **attributes}, manifest), trusted=True)
    except InvalidEventError:
        return
    for job in jobs_for(event):
        assert job_of(entry_of(job), job.lane).ref == job.ref


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"name": "a", "namespace": "b", "labels": ["x"]}},
        {"metadata": {"name": "a", "namespace": "b", "ownerReferences": ["x"]}},
        {"metadata": {"name": "a", "namespace": "b", "annotations": 7}},
        {"metadata": {"name": "a", "namespace": "b"}, "status": "x"},
    ],
)
def test_a_request_whose_object_is_none_is_refused(body: Manifest) -> None:
    csv = kinds.CLUSTER_SERVICE_VERSION
    entry = {"type": f"{names.RESOURCE_EVENT}add", "source": "x", "apiversion": csv.api_version, "kind": csv.kind}
    with pytest.raises(InvalidEventError, match="data is no object of Kubernetes"):
        event_of(CloudEvent(entry, body), trusted=True)


def test_owners_survive_their_hint_and_others_are_left_out() -> None:
    owners = [Owner("Role", "system:a,b/c".replace("/", ";")), Owner("Subscription", "etcd", "other")]
    assert Owner.split(Owner.joined(owners)) == tuple(owners)
    assert Owner.split("Role,/,a/b/c/d,Role//x,Role/%2F,,Kind/ok") == (Owner("Kind", "ok"),)
    many = (Owner("Role", f"r{number}") for number in range(1000))
    assert len(Owner.split(Owner.joined(many))) == MOST_OWNERS


def test_an_object_that_cannot_be_reported_takes_no_other_along(redis_url: str) -> None:
    """Of one page and of one chunk the others become jobs, and the poisoned one is counted."""
    skips = Skips()
    observer = Guarded(KnownObjects(kinds.CLUSTER_SERVICE_VERSION, "https://api"), kinds.CLUSTER_SERVICE_VERSION, skips)
    listed: set[tuple[str, str]] = set()
    poison = {"metadata": {"name": "poison", "namespace": "plain", "labels": 7}}
    found = [*observer.page([poison, a_deployment("a", "/"), a_deployment("b")], listed), *observer.settle(listed)]
    found += [*observer.observe("ADDED", poison), *observer.observe("MODIFIED", a_deployment("a", "x,y", "2"))]
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        RedisJournal(client).record_events(found)
        for event in found:
            queue.add(jobs_for(event), event.id)
        assert {job.ref.name for job in queue.ls()} >= {"a", "b"}
    assert skips.counts == {"ClusterServiceVersion": 2}
    assert [str(value) for value in skips.values().values()] == ["2"]


def test_a_skipped_object_is_tried_again_when_it_changes() -> None:
    observer = Guarded(KnownObjects(kinds.SUBSCRIPTION, "x"), kinds.SUBSCRIPTION, Skips())
    assert observer.observe("ADDED", {**a_deployment("a"), "status": 7}) == ()
    (event,) = observer.observe("MODIFIED", a_deployment("a"))
    assert (event.id, isinstance(event, Event)) == ("uid-a.1.add", True)
