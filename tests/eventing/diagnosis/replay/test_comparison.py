"""Two worlds are alike when their objects mean the same; what a server or the clock makes up does not count."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.diagnosis.replay.comparison import differences, plan_names
from shared import names
from shared.api.manifest import Manifest, name_of
from shared.kinds import (
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    INSTALL_PLAN,
    SUBSCRIPTION,
    Kind,
    Ref,
)

OWNER = SUBSCRIPTION.ref("tide", "demo")
REPLACED, OTHER = (f"redacted:{letter * 32}" for letter in "ab")
UIDS = {"uid-then": OWNER, "uid-now": OWNER}


def an_object(kind: Kind, name: str, meta: Manifest | None = None, **fields: Any) -> Manifest:
    metadata = {"name": name, "namespace": "demo", **(meta or {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}


def a_csv(*phases: str, at: str = "2026-01-01T00:00:00Z") -> Manifest:
    conditions = [{"phase": phase, "lastTransitionTime": at} for phase in phases]
    return an_object(CLUSTER_SERVICE_VERSION, "v1", status={"phase": phases[-1], "conditions": conditions})


def a_definition(version: str, **annotations: str) -> Manifest:
    companion = {f"operatorframework.io/installed-alongside-{version.rpartition('.')[2]}": version}
    return an_object(CUSTOM_RESOURCE_DEFINITION, "tides.example.com", {"annotations": {**annotations, **companion}})


def a_plan(name: str, csv: str, generation: int, owner_uid: str = "uid-then") -> Manifest:
    owner = {"kind": OWNER.kind, "name": OWNER.name, "uid": owner_uid}
    spec = {"clusterServiceVersionNames": [csv], "generation": generation, "approved": True}
    return an_object(INSTALL_PLAN, name, {"ownerReferences": [owner]}, spec=spec)


def a_deployment(image: str = "tide:1", **status: Any) -> Manifest:
    spec = {"template": {"spec": {"containers": [{"name": "controller", "image": image}]}}}
    return an_object(DEPLOYMENT, "tide", spec=spec, status=status)


def a_hashed(digest: str, value: str) -> Manifest:
    """A Deployment that tells the hash of its spec, in which a variable has this value."""
    container = {"name": "controller", "env": [{"name": "LEVEL", "value": value}]}
    meta = {"labels": {names.DEPLOYMENT_SPEC_HASH: digest}}
    return an_object(DEPLOYMENT, "tide", meta, spec={"template": {"spec": {"containers": [container]}}})


def a_world(*objects: Manifest) -> dict[Ref, Manifest]:
    return {Ref.of(manifest): manifest for manifest in objects}


def reported(then: list[Manifest], now: list[Manifest]) -> list[str]:
    return [ref.name for ref, _ in differences(a_world(*then), a_world(*now), UIDS)]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        pytest.param(
            an_object(SUBSCRIPTION, "tide", {"uid": "uid-then", "resourceVersion": "7", "generation": 2}),
            an_object(SUBSCRIPTION, "tide", {"uid": "uid-now", "resourceVersion": "9", "managedFields": [{}]}),
            id="what a server makes up",
        ),
        pytest.param(
            a_csv("Pending", "InstallReady", "Succeeded"),
            a_csv("Installing", "Succeeded", at="2026-02-02T00:00:00Z"),
            id="how a version came to its phase, and when",
        ),
        pytest.param(
            a_definition("demo/tide.v1", colour="blue"),
            a_definition("demo/tide.v2", colour="blue"),
            id="which earlier versions are still named on a definition",
        ),
        pytest.param(
            a_deployment(conditions=[{"type": "Available"}, {"type": "Progressing"}], observedGeneration=3),
            a_deployment(conditions=[{"type": "Progressing"}, {"type": "Available"}], observedGeneration=1),
            id="the order of conditions, and how often the object changed",
        ),
        pytest.param(
            an_object(SUBSCRIPTION, "tide", {"labels": {"a/uid-then": ""}}, status={"installPlanGeneration": 1}),
            an_object(SUBSCRIPTION, "tide", {"labels": {"a/uid-now": ""}}, status={"installPlanGeneration": 2}),
            id="a uid inside a key, and how many plans there were",
        ),
        pytest.param(
            an_object(SUBSCRIPTION, "tide", spec={"config": {}, "channel": None}, status={}),
            an_object(SUBSCRIPTION, "tide", spec={}),
            id="empty, null or nothing",
        ),
        pytest.param(
            {**a_plan("tide", "tide.v1", 1), "status": {"plan": [{"status": "Created"}, {"status": "Present"}]}},
            {**a_plan("tide", "tide.v1", 1), "status": {"plan": [{"status": "Present"}, {"status": "Present"}]}},
            id="which run made the object of a step",
        ),
        pytest.param(
            a_hashed("of the value", REPLACED),
            a_hashed("of the stand-in", REPLACED),
            id="the hash of what was replaced",
        ),
    ],
)
def test_the_same_meaning(then: Manifest, now: Manifest) -> None:
    assert reported([then], [now]) == []


@pytest.mark.parametrize(
    ("then", "now"),
    [
        pytest.param([a_csv("Installing", "Succeeded")], [a_csv("Installing", "Failed")], id="another phase"),
        pytest.param([a_deployment()], [a_deployment("tide:2")], id="another image"),
        pytest.param([a_deployment()], [], id="a missing object"),
        pytest.param([], [a_deployment()], id="an object too many"),
        pytest.param(
            [a_deployment(conditions=[{"type": "Available", "status": "True"}])],
            [a_deployment(conditions=[{"type": "Available", "status": "False"}])],
            id="a condition that turned",
        ),
        pytest.param(
            [an_object(DEPLOYMENT, "tide", {"ownerReferences": [{"uid": "uid-then"}]})],
            [an_object(DEPLOYMENT, "tide", {"ownerReferences": [{"uid": "of another"}]})],
            id="another owner of the same name",
        ),
        pytest.param(
            [an_object(DEPLOYMENT, "tide", {"labels": {"a": "1"}})],
            [an_object(DEPLOYMENT, "tide", {"labels": {"a": "1", "b": "2"}})],
            id="a label too many",
        ),
        pytest.param(
            [an_object(SUBSCRIPTION, "tide", spec={"generation": 1})],
            [an_object(SUBSCRIPTION, "tide", spec={"generation": 2})],
            id="a generation that is content",
        ),
        pytest.param([a_hashed("one", "1")], [a_hashed("two", "1")], id="the hash of what was not replaced"),
        pytest.param([a_hashed("one", REPLACED)], [a_hashed("two", OTHER)], id="another value that was replaced"),
    ],
)
def test_another_meaning(then: list[Manifest], now: list[Manifest]) -> None:
    assert len(reported(then, now)) == 1


def test_a_plan_is_known_by_what_it_is_for_and_so_is_who_names_it() -> None:
    then = [a_plan("install-aaaaaaaa", "v1", 1), a_plan("install-bbbbbbbb", "v2", 2)]
    now = [a_plan("install-22222222", "v2", 9, "uid-now"), a_plan("install-77777777", "v1", 8, "uid-now")]
    follower = an_object(SUBSCRIPTION, "tide", status={"installPlanRef": {"name": "install-bbbbbbbb"}})
    same = an_object(SUBSCRIPTION, "tide", status={"installPlanRef": {"name": "install-22222222"}})
    other = an_object(SUBSCRIPTION, "tide", status={"installPlanRef": {"name": "install-77777777"}})
    assert reported([*then, follower], [*now, same]) == []
    assert reported([*then, follower], [*now, other]) == ["tide"]
    assert reported(then, now[:1]) == ["plan-1-of-v1-for-tide-in-demo"]


def test_of_two_plans_for_the_same_the_older_is_the_first() -> None:
    then = [a_plan("install-aaaaaaaa", "v1", 1), a_plan("install-bbbbbbbb", "v1", 2)]
    then[1]["spec"]["approved"] = False
    now = [a_plan("install-22222222", "v1", 2), a_plan("install-77777777", "v1", 1)]
    now[0]["spec"]["approved"] = False
    assert reported(then, now) == []


def test_a_plan_that_a_person_named_keeps_its_name() -> None:
    assert reported([a_plan("mine", "v1", 1)], [a_plan("yours", "v1", 1)]) == ["mine", "yours"]


def test_a_difference_is_reported_line_by_line() -> None:
    ((_, diff),) = differences(a_world(a_deployment()), a_world(a_deployment("tide:2")), {})
    assert [line.strip() for line in diff.splitlines() if line[0] in "+-"] == [
        "--- recorded", "+++ replayed", '-            "image": "tide:1",', '+            "image": "tide:2",',
    ]  # fmt: skip


def test_the_plans_of_a_subscription_that_was_made_again_are_counted_anew() -> None:
    plans = [a_plan("install-aaaaaaaa", "v1", 1), a_plan("install-bbbbbbbb", "v1", 2)]
    plans.append(a_plan("install-cccccccc", "v1", 3, "uid-of-the-next"))
    assert [plan_names(plans)[name_of(plan)] for plan in plans] == [
        f"plan-{number}-of-v1-for-tide-in-demo" for number in (1, 2, 1)
    ]
