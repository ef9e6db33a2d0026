"""What keeps an operator of a Subscription from becoming a ClusterExtension as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension, Csv, OperatorGroup, Subscription
from shared.domain.extension.adoption import Operator, as_they_are, offered, refusals, spec_of, taking_over, unlike
from shared.domain.extension.making import Addition
from shared.domain.extension.phases.order import Phase

OWNED = {"owned": [{"name": "lamps.a.io", "kind": "Lamp", "version": "v1"}]}


def a_csv(name: str = "lamp.v1", *, phase: str = "Succeeded", targets: str = "", **spec: Any) -> Csv:
    meta: Manifest = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}
    meta["annotations"] = {names.TARGET_NAMESPACES: targets}
    declared = {"version": "1.0.0", "customresourcedefinitions": OWNED, **spec}
    return Csv({"metadata": meta, "spec": declared, "status": {"phase": phase}})


def a_subscription(installed: str = "lamp.v1", current: str = "lamp.v1", **spec: Any) -> Subscription:
    status = {"installedCSV": installed, "currentCSV": current}
    return Subscription({"metadata": {"name": "s"}, "spec": {"name": "lamp", **spec}, "status": status})


def an_extension(name: str, package: str) -> ClusterExtension:
    spec = {"source": {"catalog": {"packageName": package}}}
    return ClusterExtension({"metadata": {"name": name}, "spec": spec})


CERTIFICATES = "lamp.v1 serves webhooks or aggregated APIs: their certificates are made for the version, and go with it"
GOOD = Operator(a_subscription(), a_csv())
GENERATED = Subscription({
    **GOOD.subscription.raw, "metadata": {"name": "s", "annotations": {names.GENERATED_BY: "plan-1"}}
})  # fmt: skip
DELETED = Csv({**GOOD.csv.raw, "metadata": {**GOOD.csv.raw["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})
GROUP = OperatorGroup({"metadata": {"name": "g"}, "spec": {"serviceAccountName": "sa"}})


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(GOOD, (), id="nothing"),
        pytest.param(
            replace(GOOD, subscription=a_subscription(current="lamp.v2")),
            ("Subscription s is on its way from lamp.v1 to lamp.v2",), id="an upgrade",
        ),
        pytest.param(
            replace(GOOD, csv=a_csv(phase="Failed")), ("lamp.v1 is Failed, not Succeeded",), id="it does not work"
        ),
        pytest.param(replace(GOOD, csv=DELETED), ("lamp.v1 is being deleted, not Succeeded",), id="it goes"),
        pytest.param(
            replace(GOOD, subscription=GENERATED),
            ("Subscription s was made for what another package needs, by plan-1",), id="a dependency",
        ),
        pytest.param(
            replace(GOOD, csv=a_csv(webhookdefinitions=[{"type": "ValidatingAdmissionWebhook"}])),
            (CERTIFICATES,), id="webhooks",
        ),
        pytest.param(
            replace(GOOD, csv=a_csv(targets="ns")),
            ("lamp.v1 watches some namespaces only; an extension would give it rights in all of them",),
            id="some namespaces",
        ),
        pytest.param(
            replace(GOOD, groups=(OperatorGroup({}), GROUP)),
            ("OperatorGroup g is limited to what sa may; nothing limits an extension",), id="an account",
        ),
        pytest.param(
            replace(GOOD, csv=a_csv(customresourcedefinitions={"required": [{"name": "oils.a.io"}]})),
            ("lamp.v1 needs oils.a.io: OLM v1 installs nothing that an operator needs",), id="it needs something",
        ),
        pytest.param(
            replace(GOOD, others=(
                a_csv("wick.v1", customresourcedefinitions={"required": OWNED["owned"]}), a_csv("lantern.v1"),
                a_csv("stone.v1", customresourcedefinitions={}),
            )),
            (
                "ClusterServiceVersion ns/wick.v1 needs lamps.a.io, which lamp.v1 would no longer provide to it",
                "ClusterServiceVersion ns/lantern.v1 owns lamps.a.io, too",
            ),
            id="others need or own what it owns",
        ),
        pytest.param(
            replace(GOOD, extensions=(an_extension("lamp", "x"), an_extension("y", "lamp"), an_extension("z", "z"))),
            (
                "ClusterExtension lamp is there already, of package x",
                "ClusterExtension y is there already, of package lamp",
            ),
            id="extensions",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_moved_is_reported(found: Operator, why: tuple[str, ...]) -> None:
    assert refusals(found) == why


def a_thing(name: str, kind: str = "ConfigMap", *, meta: Manifest | None = None, **content: Any) -> Manifest:
    version = "apps/v1" if kind == "Deployment" else "v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ns", **(meta or {})},
        **content,
    }


OWNER = {"kind": "ClusterServiceVersion", "apiVersion": "operators.coreos.com/v1alpha1", "uid": "uid-lamp.v1"}
MINE = {"uid": "u", "ownerReferences": [OWNER]}
COMPONENT = {"uid": "u", "labels": {"operators.coreos.com/lamp.ns": ""}}
LABELS = {names.OWNER: "lamp.v1", names.OWNER_NAMESPACE: "ns", names.OWNER_KIND: "ClusterServiceVersion"}
LABELLED = {"uid": "u", "labels": LABELS}
CONTROLLED = {"uid": "u", "ownerReferences": [{**OWNER, "controller": True}]}


@pytest.mark.parametrize(
    ("present", "why"),
    [
        pytest.param([], [], id="it is not there"),
        pytest.param([a_thing("a", meta=MINE, data={"x": "1"})], [], id="owned by the version"),
        pytest.param([a_thing("a", meta=COMPONENT, data={"x": "1"})], [], id="a component"),
        pytest.param([a_thing("a", meta=LABELLED, data={"x": "1"})], [], id="labelled for the version"),
        pytest.param(
            [a_thing("a", meta={"uid": "u"}, data={"x": "1"})],
            ["Object ConfigMap.v1 ns/a is there already, and not of lamp.v1"], id="of somebody else",
        ),
        pytest.param(
            [a_thing("a", meta=CONTROLLED, data={"x": "1"})],
            ["Object ConfigMap.v1 ns/a is controlled by somebody else"], id="controlled",
        ),
        pytest.param(
            [a_thing("a", meta=MINE, data={"x": "2"})], ["Object ConfigMap.v1 ns/a would change: data.x"], id="edited"
        ),
    ],
)  # fmt: skip
def test_what_is_there_must_be_what_the_revision_has(present: list[Manifest], why: list[str]) -> None:
    desired = [a_thing("a", meta={"labels": {"new": "label"}}, data={"x": "1"})]
    assert list(unlike(GOOD, desired, present)) == why


def test_a_deployment_stays_as_it_is() -> None:
    live = a_thing("d", "Deployment", meta=MINE, spec={"template": {"live": True}})
    other = a_thing("a", data={"x": "1"})
    phases = (Phase("deploy", (a_thing("d", "Deployment", spec={}), other)),)
    [found] = as_they_are(phases, [live, a_thing("a", data={"x": "2"})])
    assert [one.get("spec") for one in found.objects] == [{"template": {"live": True}}, None]
    assert found.objects[1] is other


def test_the_first_revision_takes_what_nobody_controls() -> None:
    made = Addition({"spec": {"collisionProtection": "Prevent", "revision": 1}}, (), ())
    assert taking_over(made).revision == {"spec": {"collisionProtection": "IfNoController", "revision": 1}}


def test_the_extension_is_pinned_to_what_runs() -> None:
    assert spec_of(GOOD) == {
        "namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {"packageName": "lamp", "version": "1.0.0"}}
    }  # fmt: skip
    config = {"env": [{"name": "A", "value": "b"}]}
    rich = replace(GOOD, subscription=a_subscription(channel="stable", config=config))
    found = spec_of(rich, "main")
    assert found["source"]["catalog"]["channels"] == ["stable"]
    assert found["source"]["catalog"]["selector"] == {"matchLabels": {names.V1_NAME: "main"}}
    assert found["config"] == {"configType": "Inline", "inline": {"deploymentConfig": config}}


def test_what_an_earlier_revision_let_go_is_offered_without_its_mark() -> None:
    marked = a_thing("a", meta={"annotations": {names.V1_REVISION: "1", "other": "stays"}})
    unmarked = {"metadata": {"annotations": {names.V1_REVISION: None}}}
    assert offered(marked) == unmarked
    assert offered(a_thing("a")) is None
    fields: Manifest = {"manager": names.FIELD_MANAGER, "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {}}
    found = offered(a_thing("a", meta={"managedFields": [fields], **marked["metadata"]})) or {}
    assert found["metadata"]["annotations"] == unmarked["metadata"]["annotations"]
    assert found["metadata"]["managedFields"][0]["operation"] == "Apply"
