"""What installing a bundle would do to a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from shared import names
from shared.domain.crd_safety.judgement import Waiver
from shared.domain.extension.outlook import (
    Difference,
    Effect,
    changes,
    differences,
    losses,
    misfits,
    obstacles,
    present,
    waived,
)

Object = dict[str, Any]


def an_object(name: str = "a", kind: str = "ConfigMap", **more: Any) -> Object:
    meta = {"name": name, "namespace": "n"} | more.pop("meta", {})
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, **more}


def a_definition(*required: str) -> Object:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "required": list(required)}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "mice.acme.io"},
        "spec": {"group": "acme.io", "names": {"kind": "Mouse"}, "scope": "Namespaced", "versions": [version]},
    }


LIVE: Object = {"uid": "u", "resourceVersion": "5"}


@pytest.mark.parametrize(
    ("before", "desired", "want"),
    [
        pytest.param([], an_object(), Effect.CREATE, id="not there"),
        pytest.param([an_object("b")], an_object(), Effect.CREATE, id="only another one there"),
        pytest.param([an_object(data={})], an_object(data={}), Effect.KEEP, id="as rendered before"),
        pytest.param([an_object(data={"a": "1"})], an_object(data={}), Effect.CHANGE, id="a field was rendered before"),
        pytest.param(
            [an_object(data={"a": "1", "b": "2"}, meta=LIVE)], an_object(data={"a": "1"}), Effect.KEEP,
            id="a cluster may add fields",
        ),
        pytest.param(
            [an_object(data={"a": "1"}, meta=LIVE)], an_object(data={"a": "2"}), Effect.CHANGE,
            id="a cluster has another value",
        ),
        pytest.param(
            [an_object(list=[{"a": 1, "b": 2}], meta=LIVE)], an_object(list=[{"a": 1}]), Effect.KEEP, id="inside lists"
        ),
        pytest.param([an_object(list=[1, 2], meta=LIVE)], an_object(list=[1]), Effect.CHANGE, id="a longer list"),
    ],
)  # fmt: skip
def test_what_happens_to_an_object(before: list[Object], desired: Object, want: Effect) -> None:
    assert changes(before, [desired])[0].effect == want


def test_entries_without_names_are_compared_by_their_places() -> None:
    found = list(differences({"list": [{"a": 1}, {"a": 2}]}, {"list": [{"a": 1}, {"a": 3}]}))
    assert found == [Difference("list[1].a", 2, 3)]


def test_a_namespace_that_the_cluster_forgets_does_not_count() -> None:
    hook = {**an_object(kind="ValidatingWebhookConfiguration"), "apiVersion": "admissionregistration.k8s.io/v1"}
    live = {**hook, "metadata": {"name": "a", **LIVE}}
    [change] = changes([live], [hook])
    assert change.effect == Effect.KEEP


def test_objects_come_in_the_order_of_the_rollout_and_removals_last() -> None:
    found = changes([an_object("old", "Secret")], [an_object("d", "Deployment"), an_object("s", "ServiceAccount")])
    assert [(one.effect, one.manifest["metadata"]["name"]) for one in found] == [
        (Effect.CREATE, "s"),
        (Effect.CREATE, "d"),
        (Effect.REMOVE, "old"),
    ]


def test_what_an_extension_has() -> None:
    before, live = an_object("a"), an_object("a", meta=LIVE)
    owned = an_object("owned", meta={"labels": {names.V1_OWNER_NAME: "e"}})
    foreign = an_object("foreign", meta={"labels": {names.V1_OWNER_NAME: "f"}})
    desired = an_object("w")
    assert present([before], [live, owned, foreign, desired], [desired], "e") == (live, owned, desired)


def test_an_unsafe_definition_stands_in_the_way() -> None:
    [found] = obstacles([a_definition()], [a_definition("tail"), an_object()])
    assert found.startswith(
        'validating upgrade for CRD "mice.acme.io": v1: ^.spec: required: new required fields: [tail]'
    )
    assert "\n  required: objects without the field will be refused; make the field optional" in found


def test_a_safe_definition_and_a_waived_one_do_not() -> None:
    assert not list(obstacles([a_definition("tail")], [a_definition()]))
    assert not list(obstacles([a_definition()], [a_definition("tail")], is_strict=False))


def test_a_waiver_takes_an_obstacle_away_but_olm_v1_knows_of_none() -> None:
    before, after, waivers = [a_definition()], [a_definition("tail")], [Waiver.parse("v1: ^.spec: required")]
    assert not list(obstacles(before, after, waivers))
    [found] = waived(before, after, waivers)
    assert found == (
        "mice.acme.io: waived here; OLM v1 refuses it unless spec.install.preflight.crdUpgradeSafety.enforcement is "
        "None:\n  v1: ^.spec: required: new required fields: [tail]"
    )
    assert not list(waived(before, after, []))


def test_definitions_and_versions_that_go_are_reported_with_their_objects() -> None:
    """v1.md 21.8, 22: what a new revision does not contain is deleted, and with a definition all its objects."""
    mouse = an_object("m", "Mouse") | {"apiVersion": "acme.io/v1"}
    [found] = losses([a_definition(), an_object()], [an_object("b")], [mouse])
    assert found.splitlines()[0] == (
        "mice.acme.io: definitionRemoval: the definition is gone, and all its objects with it; objects of it here: n/m"
    )
    assert "OLM v1 deletes it once the new bundle is rolled out" in found
    unserved = a_definition()
    unserved["spec"]["versions"][0]["served"] = False
    [found] = losses([a_definition()], [unserved], [])
    assert found.startswith("mice.acme.io: servedVersionRemoval: version v1 is no longer served\n")
    waivers = [Waiver.parse("servedVersionRemoval")]
    assert list(losses([a_definition()], [unserved], [], waivers)) == [
        "does not count: mice.acme.io: servedVersionRemoval: version v1 is no longer served"
    ]


def test_stored_objects_that_a_new_definition_refuses_are_named() -> None:
    mouse = an_object("m", "Mouse", spec={}) | {"apiVersion": "acme.io/v1"}
    [found] = misfits([a_definition()], [a_definition("tail"), an_object()], [mouse, an_object()])
    assert found.endswith('Kind=Mouse "n/m": updated validation is too restrictive: [].spec.tail: Required value')
    assert not list(misfits([], [a_definition("tail")], [mouse]))


def test_what_no_phase_can_hold_stands_in_the_way() -> None:
    assert list(obstacles([], [an_object(), an_object()])) == [
        'phase "configuration": /v1, Kind=ConfigMap n/a: duplicate object found in phases: configuration'
    ]
