"""What users change about the Deployments of an operator (v1.md §18.4, `deploymentConfig`)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.extension.render.bundles import Json, a_csv, a_deployment, only

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
NODE = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM]}}}
POD = {"podAffinity": {REQUIRED: [{"topologyKey": "host"}]}}
ANTI = {"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]}}


def changed(config: Any, **pod: Any) -> Json:
    csv = a_csv(strategy={"deployments": [a_deployment(**pod)]})
    return only(csv, config=None if config is None else {"deploymentConfig": config}, kind="Deployment")


def pod_of(config: Any, **pod: Any) -> Json:
    found: Json = changed(config, **pod)["spec"]["template"]["spec"]
    return found


def containers(config: Any, *declared: Json, **pod: Any) -> list[Json]:
    found: list[Json] = pod_of(config, containers=list(declared), **pod)["containers"]
    return found


def variable(name: str, value: str) -> Json:
    return {"name": name, "value": value}


def test_env_replaces_the_same_name_and_appends_the_rest() -> None:
    present = [variable("A", "1"), variable("B", "1"), variable("A", "2")]
    desired = [variable("A", "new"), variable("C", "1"), variable("C", "2")]
    first, second = containers({"env": desired}, {"name": "a", "env": present}, {"name": "b"})
    assert first["env"] == [variable("A", "1"), variable("B", "1"), *desired]
    assert second["env"] == desired


def test_env_leaves_init_containers_alone() -> None:
    pod = pod_of({"env": [variable("A", "1")]}, initContainers=[{"name": "init"}])
    assert pod["initContainers"] == [{"name": "init", "resources": {}}]


def test_env_from_appends_what_is_not_there() -> None:
    one, two = {"configMapRef": {"name": "one"}}, {"secretRef": {"name": "two", "optional": True}}
    (container,) = containers({"envFrom": [one, two, two]}, {"name": "a", "envFrom": [one]})
    assert container["envFrom"] == [one, two]


def test_volumes_and_mounts_replace_the_same_name_and_append_the_rest() -> None:
    config = {
        "volumes": [{"name": "a", "secret": {"secretName": "s"}}, {"name": "b", "emptyDir": {}}],
        "volumeMounts": [{"name": "a", "mountPath": "/new"}, {"name": "b", "mountPath": "/b"}],
    }
    declared = [{"name": "main", "volumeMounts": [{"name": "a", "mountPath": "/old"}]}]
    pod = pod_of(config, containers=declared, volumes=[{"name": "a", "emptyDir": {}}])
    assert pod["volumes"] == config["volumes"]
    assert pod["containers"][0]["volumeMounts"] == config["volumeMounts"]


def test_tolerations_append_what_is_not_there() -> None:
    one, two = {"key": "a", "operator": "Exists"}, {"key": "b", "tolerationSeconds": 5}
    assert pod_of({"tolerations": [one, two]}, tolerations=[one])["tolerations"] == [one, two]


@pytest.mark.parametrize(
    ("desired", "want"),
    [
        ({"limits": {"cpu": "1000m", "memory": 0.5}}, {"limits": {"cpu": "1", "memory": "500m"}}),
        ({}, {}),
        (None, {"limits": {"cpu": "2"}}),
    ],
    ids=["others", "none", "absent"],
)
def test_resources_replace_all(desired: Json | None, want: Json) -> None:
    config = {} if desired is None else {"resources": desired}
    (container,) = containers(config, {"name": "a", "resources": {"limits": {"cpu": "2"}}})
    assert container["resources"] == want


@pytest.mark.parametrize(
    ("config", "want"),
    [({}, {"old": "1"}), ({"nodeSelector": {"new": "1"}}, {"new": "1"}), ({"nodeSelector": {}}, None)],
    ids=["absent", "others", "empty"],
)
def test_node_selector_replaces_all(config: Json, want: Json | None) -> None:
    assert pod_of(config, nodeSelector={"old": "1"}).get("nodeSelector") == want


AFFINITY = [
    pytest.param({}, NODE, NODE, id="absent: kept"),
    pytest.param({"affinity": {}}, NODE, None, id="empty: removed"),
    pytest.param({"affinity": {"nodeAffinity": {}}}, NODE | POD, POD, id="an empty part removes that part"),
    pytest.param({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}, NODE | POD, POD,
                 id="an empty part with an empty list removes it, too"),
    pytest.param({"affinity": ANTI}, NODE | POD, NODE | POD | ANTI, id="a part leaves the others"),
    pytest.param({"affinity": {"nodeAffinity": {}, "podAffinity": {}}}, NODE | POD, None, id="all parts removed"),
    pytest.param({"affinity": {"podAffinity": {}}}, None, None, id="nothing of nothing"),
    pytest.param({"affinity": POD}, None, POD, id="there was none"),
    pytest.param({"affinity": {"podAffinity": {}}}, POD | {"nodeAffinity": {}}, None, id="empty ones do not count"),
    pytest.param({"affinity": ANTI}, {"nodeAffinity": {}}, ANTI | {"nodeAffinity": {}}, id="they stay beside others"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "present", "want"), AFFINITY)
def test_affinity_is_replaced_part_by_part(config: Json, present: Json | None, want: Json | None) -> None:
    pod = {} if present is None else {"affinity": present}
    assert pod_of(config, **pod).get("affinity") == want


def test_annotations_are_added_where_they_are_absent() -> None:
    found = changed({"annotations": {"a": "1", "olm.operatorNamespace": "x"}})
    assert found["metadata"]["annotations"] == {"a": "1", "olm.operatorNamespace": "x"}
    template = found["spec"]["template"]["metadata"]["annotations"]
    assert template == {"a": "1", "olm.operatorNamespace": "ops", "olm.targetNamespaces": ""}


def test_no_config_and_an_empty_one_change_nothing() -> None:
    assert changed({}) == changed(None)


def test_names_are_the_same_in_upper_and_lower_case_below_the_config_itself() -> None:
    declared = {"key": "exact", "Key": "folded", "OPERATOR": "Exists", "unknown": 1}
    assert pod_of({"tolerations": [declared]})["tolerations"] == [{"key": "exact", "operator": "Exists"}]


def test_a_deployment_without_containers_stays_without() -> None:
    csv = a_csv(strategy={"deployments": [{"name": "manager"}]})
    found = only(csv, config={"deploymentConfig": {"env": [variable("A", "1")]}}, kind="Deployment")
    assert found["spec"]["template"]["spec"]["containers"] is None
