from __future__ import annotations

from typing import Any

import pytest

from eventing.local.kubelet.needs import Obstacle, obstacle_of
from shared.api.manifest import Manifest
from tests.kit.cluster import FakeCluster

META = {"namespace": "n"}
THERE: tuple[Manifest, ...] = (
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", **META}, "data": {"k": "dg=="}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **META}, "data": {"k": "v"}, "binaryData": {}},
)


def mounting(**volume: Any) -> Manifest:
    mounts = [{"name": "v", "mountPath": "/v"}]
    return {"spec": {"volumes": [{"name": "v", **volume}], "containers": [{"name": "x", "volumeMounts": mounts}]}}


def reading(**container: Any) -> Manifest:
    return {"spec": {"containers": [{"name": "x", **container}]}}


def variable(**source: Any) -> Manifest:
    return reading(env=[{"name": "A", "value": "b"}, {"name": "B", "valueFrom": source}])


def mount_failure(why: str) -> Obstacle:
    return Obstacle("FailedMount", "ContainerCreating", f'MountVolume.SetUp failed for volume "v" : {why}')


def config_error(why: str) -> Obstacle:
    return Obstacle("Failed", "CreateContainerConfigError", why)


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(reading(), None, id="no needs"),
        pytest.param(mounting(secret={"secretName": "s", "items": [{"key": "k", "path": "p"}]}), None, id="a Secret"),
        pytest.param(mounting(configMap={"name": "c"}), None, id="a ConfigMap"),
        pytest.param(mounting(emptyDir={}), None, id="another volume"),
        pytest.param(
            mounting(secret={"secretName": "no"}), mount_failure('secret "no" not found'), id="a Secret that is missing"
        ),
        pytest.param(mounting(secret={"secretName": "no", "optional": True}), None, id="an optional Secret"),
        pytest.param(
            {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "no"}}], "containers": [{"name": "x"}]}},
            None,
            id="a volume that no container mounts",
        ),
        pytest.param(
            mounting(secret={"secretName": "s", "items": [{"key": "z", "path": "p"}]}),
            mount_failure("references non-existent secret key: z"),
            id="a key that is missing",
        ),
        pytest.param(
            mounting(projected={"sources": [{"secret": {"name": "s"}}, {"configMap": {"name": "no"}}]}),
            mount_failure('configmap "no" not found'),
            id="a projected ConfigMap that is missing",
        ),
        pytest.param(variable(secretKeyRef={"name": "s", "key": "k"}), None, id="a variable"),
        pytest.param(variable(fieldRef={"fieldPath": "metadata.name"}), None, id="a variable of a field"),
        pytest.param(
            variable(secretKeyRef={"name": "no", "key": "k"}),
            config_error('secret "no" not found'),
            id="a variable of a Secret that is missing",
        ),
        pytest.param(
            variable(configMapKeyRef={"name": "c", "key": "z"}),
            config_error("couldn't find key z in ConfigMap n/c"),
            id="a variable of a key that is missing",
        ),
        pytest.param(variable(configMapKeyRef={"name": "no", "key": "z", "optional": True}), None, id="optional"),
        pytest.param(
            reading(envFrom=[{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "no"}}]),
            config_error('secret "no" not found'),
            id="all variables of a Secret that is missing",
        ),
        pytest.param(
            {"spec": {"initContainers": [{"envFrom": [{"secretRef": {"name": "no"}}]}], "containers": []}},
            config_error('secret "no" not found'),
            id="a container that runs first",
        ),
    ],
)
def test_what_keeps_a_pod_from_starting(pod: Manifest, want: Obstacle | None) -> None:
    assert obstacle_of(pod, "n", FakeCluster(THERE).get) == want
