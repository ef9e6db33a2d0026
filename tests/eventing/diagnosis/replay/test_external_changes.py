"""Others act again as they did: on what is there, late on what is made late, and never on what is ours to decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eventing.diagnosis.replay.archive import Capture
from eventing.diagnosis.replay.external_changes import ExternalChanges
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.events.event import Event, change_id
from eventing.journal import JournalIndex
from shared import names
from shared.adapters.kube import ApiError
from shared.adapters.kube.client import Propagation
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_ROLE, CONFIG_MAP, DEPLOYMENT, INSTALL_PLAN, SUBSCRIPTION, Ref
from tests.eventing.effects.fake_api import FakeApi

TIDE = DEPLOYMENT.ref("tide", "demo")
EARLY, LATE = "2026-11-30T10:00:00Z", "2026-11-30T10:00:01Z"


def a_deployment(image: str = "tide:1", generation: int = 1, **more: Any) -> Manifest:
    meta = {"name": TIDE.name, "namespace": TIDE.namespace, "generation": generation}
    return {"apiVersion": TIDE.api_version, "kind": TIDE.kind, "metadata": meta, "spec": {"image": image}, **more}


def seen(manifest: Manifest, uid: str = "then", version: str = "7") -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "uid": uid, "resourceVersion": version}}


def a_change(
    after: Manifest | None,
    before: Manifest | None = None,
    *,
    verb: str = "update",
    ref: Ref = TIDE,
    answer: bool = True,
) -> Change:
    event = Event(change_id("then", "7", verb), names.RESOURCE_EVENT + verb, "api", ref)
    return Change(event, 0, before, after, is_answer=answer)


def others(api: FakeApi) -> ExternalChanges:
    return ExternalChanges(Recording(Capture(JournalIndex())), api)


def available(api: FakeApi) -> Any:
    return api.objects[TIDE].get("status", {}).get("available")


def a_plan(name: str) -> Manifest:
    spec = {"clusterServiceVersionNames": ["tide.v1"], "approved": False, "generation": 1}
    meta = {"name": name, "namespace": "demo"}
    return {"apiVersion": INSTALL_PLAN.api_version, "kind": INSTALL_PLAN.kind, "metadata": meta, "spec": spec}


READY = a_change(seen(a_deployment(status={"available": True, "observedGeneration": 1})))
NOT_READY = a_change(seen(a_deployment(status={"available": False, "observedGeneration": 1})))


def test_what_is_there_is_answered_at_once_and_only_once() -> None:
    api = FakeApi([a_deployment()])
    them = others(api)
    them.act(READY)
    assert available(api) is True
    assert list(them.answer(again=True)) == []


def test_what_is_made_late_is_answered_late_in_the_order_of_then() -> None:
    api = FakeApi()
    them = others(api)
    them.act(NOT_READY)
    them.act(READY)
    assert list(them.answer()) == []
    api.create(a_deployment())
    assert list(them.answer()) == [NOT_READY.event, READY.event]
    assert available(api) is True


def test_what_was_changed_since_is_answered_again_on_request() -> None:
    api = FakeApi([a_deployment()])
    them = others(api)
    them.act(READY)
    api.merge(TIDE, {"metadata": {"generation": 2}})
    assert list(them.answer()) == []
    assert list(them.answer(again=True)) == [READY.event]
    assert api.objects[TIDE]["status"]["observedGeneration"] == 2


def test_an_answer_does_not_hide_what_we_decide_differently_today() -> None:
    api = FakeApi([a_deployment("tide:2")])
    others(api).act(READY)
    assert api.objects[TIDE]["spec"] == {"image": "tide:2"}
    assert available(api) is True


def test_what_a_person_did_to_an_object_of_ours_is_done_again_and_no_more() -> None:
    api = FakeApi([a_deployment("tide:2")])
    scaled = a_deployment(status={"available": True})
    scaled["spec"]["replicas"] = 3
    others(api).act(a_change(seen(scaled), seen(a_deployment(status={"available": True}))))
    assert api.objects[TIDE]["spec"] == {"image": "tide:2", "replicas": 3}


def test_what_was_done_to_an_earlier_object_is_not_done_to_the_next_of_that_name() -> None:
    api = FakeApi([a_deployment()])
    them = others(api)
    them.act(NOT_READY)
    api.delete(TIDE)
    api.create(a_deployment())
    assert list(them.answer()) == []
    them.act(a_change(seen(a_deployment(status={"available": True}), uid="then, too")))
    assert available(api) is True


def test_the_status_of_our_own_kinds_is_left_to_our_steps() -> None:
    ref = SUBSCRIPTION.ref("tide", "demo")
    manifest = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": "tide", "namespace": "demo"}}
    api = FakeApi([{**manifest, "spec": {"channel": "alpha"}}])
    after = seen({**manifest, "spec": {"channel": "beta"}, "status": {"state": "AtLatestKnown"}})
    others(api).act(a_change(after, ref=ref, answer=False))
    assert api.objects[ref]["spec"] == {"channel": "beta"}
    assert "status" not in api.objects[ref]


def test_what_a_program_wrote_into_an_object_without_status_is_written_again() -> None:
    ref = CONFIG_MAP.ref("content", "demo")
    empty = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "content", "namespace": "demo"}}
    api = FakeApi([empty])
    others(api).act(a_change(seen({**empty, "data": {"a": "b"}}), empty, ref=ref))
    assert api.objects[ref]["data"] == {"a": "b"}


def test_a_plan_is_approved_under_the_name_that_it_has_here_even_when_it_is_made_late() -> None:
    index, plan = JournalIndex(), a_plan("install-aaaaaaaa")
    recording = Recording(Capture(index, (seen(plan),)))
    api = FakeApi()
    them = ExternalChanges(recording, api)
    approved = {**plan, "spec": {**plan["spec"], "approved": True}}
    them.act(a_change(seen(approved), seen(plan), ref=Ref.of(plan)))
    assert api.objects == {}
    made = api.create(a_plan("install-bbbbbbbb"))
    (event,) = them.answer()
    assert event.ref == Ref.of(made)
    assert api.objects[Ref.of(made)]["spec"]["approved"] is True


def approved(plan: Manifest, *entries: Manifest) -> Manifest:
    """The plan when somebody has approved it; `entries` of its managedFields."""
    meta = {**plan["metadata"], "managedFields": list(entries)}
    return {**plan, "metadata": meta, "spec": {**plan["spec"], "approved": True}}


def an_entry(manager: str, time: str, subresource: str = "") -> Manifest:
    return {"manager": manager, "operation": "Update", "time": time, "subresource": subresource}


@pytest.mark.parametrize(
    ("entries", "who"),
    [
        pytest.param([], "", id="nobody is named"),
        pytest.param([an_entry("olmf", LATE), an_entry("argo", LATE)], "argo", id="of one second, not ours"),
        pytest.param([an_entry("argo", EARLY), an_entry("olmf-approve", LATE)], "olmf-approve", id="the last one"),
        pytest.param([an_entry("argo", EARLY), an_entry("olmf", LATE, "status")], "argo", id="a status is another's"),
        pytest.param([{"manager": "argo"}], "argo", id="at no time"),
    ],
)
def test_a_change_is_made_by_the_field_manager_of_then(entries: list[Manifest], who: str) -> None:
    plan = a_plan("install-aaaaaaaa")
    api = FakeApi([plan])
    others(api).act(a_change(seen(approved(plan, *entries)), seen(plan), ref=Ref.of(plan), answer=False))
    assert api.calls[-1] == f"merge {who and f'by {who} '}install-aaaaaaaa"


def test_a_plan_that_is_gone_counts_so_the_next_of_its_purpose_is_the_second_here_too() -> None:
    gone, second = a_plan("install-aaaaaaaa"), a_plan("install-bbbbbbbb")
    second["spec"]["generation"] = 2
    recording = Recording(Capture(JournalIndex(), (seen(gone), seen(second, "then, too"))))
    api = FakeApi([seen(a_plan("install-cccccccc"), "here")])
    them = ExternalChanges(recording, api)
    them.act(a_change(None, verb="delete", ref=Ref.of(gone), answer=False))
    assert api.objects == {}
    made = api.create(seen({**second, "metadata": {"name": "install-dddddddd", "namespace": "demo"}}, "here, too"))
    them.act(a_change(seen(approved(second)), seen(second), ref=Ref.of(second)))
    assert api.objects[Ref.of(made)]["spec"]["approved"] is True


def test_the_rules_of_an_aggregated_role_are_gathered_by_this_world() -> None:
    ref = CLUSTER_ROLE.ref("admin")
    role = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": "admin"}, "aggregationRule": {}}
    api = FakeApi([role])
    others(api).act(a_change(seen({**role, "rules": [{"verbs": ["*"]}]}), ref=ref))
    assert "rules" not in api.objects[ref]


def test_a_deletion_ends_what_waits_to_be_done() -> None:
    api = FakeApi()
    them = others(api)
    them.act(READY)
    them.act(a_change(None, verb="delete", answer=False))
    api.create(a_deployment())
    assert list(them.answer(again=True)) == []


def dying(*finalizers: str) -> Change:
    """Somebody deletes what finalizers keep."""
    alive = seen(a_deployment())
    meta = {**alive["metadata"], "deletionTimestamp": LATE, "finalizers": [*finalizers]}
    return replace(a_change({**alive, "metadata": meta}, alive, answer=False), is_deletion=True)


class DeletingApi(FakeApi):
    """Notes what was to become of the dependents of what was deleted last."""

    propagation: Propagation | None = None

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "", propagation: Propagation = "Background"
    ) -> None:
        self.propagation = propagation
        super().delete(ref, uid=uid, resource_version=resource_version)


@pytest.mark.parametrize(
    ("finalizer", "propagation"),
    [("example.com/a", "Background"), ("foregroundDeletion", "Foreground"), ("orphan", "Orphan")],
)
def test_what_somebody_deletes_is_deleted_in_the_same_way(finalizer: str, propagation: str) -> None:
    api = DeletingApi([a_deployment()])
    others(api).act(dying(finalizer))
    assert (api.objects, api.propagation) == ({}, propagation)


def test_what_is_gone_here_is_not_made_again_to_be_deleted() -> None:
    api = FakeApi()
    others(api).act(dying("example.com/a"))
    assert api.objects == {}


def test_what_the_server_refuses_is_reported() -> None:
    api = FakeApi([a_deployment()])
    api.refuse("merge status", TIDE.name, ApiError(403, "Forbidden", "no"))
    them = others(api)
    them.act(READY)
    (failure,) = them.unrepeatable
    assert "Deployment/demo/tide could not be repeated: Forbidden (403): no" in failure
