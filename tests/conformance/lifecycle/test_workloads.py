"""Pods on both targets: what starts, what waits, what never exists. Controllers are real, or the sandbox plays them."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest, uid_of
from shared.kinds import DEPLOYMENT, EVENT, JOB, NAMESPACE, POD, SERVICE_ACCOUNT, Ref
from tests.kit.installation import Installation, condition
from tests.kit.waiting import wait_for


@pytest.fixture
def place(installation: Installation, namespace: str) -> str:
    """A namespace with the ServiceAccount that Pods get."""
    installation.until(SERVICE_ACCOUNT.ref("default", namespace), bool)
    return namespace


def a_template(labels: dict[str, str], **spec: Any) -> Manifest:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "any"}], **spec}}


def a_deployment(place: str, *, annotations: Any = None, replicas: int = 1, **pod: Any) -> Manifest:
    labels = {"app": "d"}
    spec = {"selector": {"matchLabels": labels}, "replicas": replicas, "template": a_template(labels, **pod)}
    meta = {"name": "d", "namespace": place, "annotations": annotations or {}}
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}


def pods(installation: Installation, place: str) -> list[Manifest]:
    found = installation.cluster.list(POD, place)
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def is_available(deployment: Manifest) -> bool:
    return condition(deployment, "Available").get("status") == "True"


def warnings(installation: Installation, place: str) -> dict[str, str]:
    """Messages of warnings by reason."""
    return {
        each["reason"]: each["message"] for each in installation.cluster.list(EVENT, place) if each["type"] == "Warning"
    }


def test_a_deployment_has_pods_that_are_ready(installation: Installation, place: str) -> None:
    installation.apply(a_deployment(place, replicas=2))
    installation.until(DEPLOYMENT.ref("d", place), is_available)
    found = pods(installation, place)
    assert len(found) == 2
    assert all(pod["metadata"]["ownerReferences"][0]["controller"] for pod in found)
    assert all(pod["spec"]["nodeName"] for pod in found)
    for pod in found:
        installation.until(Ref.of(pod), lambda pod: condition(pod, "Ready").get("status") == "True")
    installation.cluster.delete(Ref.of(found[0]))
    wait_for(lambda: len({uid_of(pod) for pod in pods(installation, place)} - {uid_of(pod) for pod in found}) == 1)
    installation.apply(a_deployment(place, replicas=0))
    wait_for(lambda: not pods(installation, place), "the end of the Pods")
    installation.cluster.delete(DEPLOYMENT.ref("d", place))


def test_pods_are_replaced_when_the_template_changes(installation: Installation, place: str) -> None:
    installation.apply(a_deployment(place))
    installation.until(DEPLOYMENT.ref("d", place), is_available)
    installation.apply(a_deployment(place, terminationGracePeriodSeconds=7))
    wait_for(lambda: [pod["spec"]["terminationGracePeriodSeconds"] for pod in pods(installation, place)] == [7])


def test_a_pod_waits_for_a_secret_that_it_mounts(installation: Installation, place: str) -> None:
    """As the certificate of a webhook, which somebody has yet to make."""
    cert = {"name": "cert", "secret": {"secretName": "cert"}}
    deployment = a_deployment(place, volumes=[cert])
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        container["volumeMounts"] = [{"name": "cert", "mountPath": "/cert"}]
    installation.apply(deployment)
    wait_for(lambda: "FailedMount" in warnings(installation, place), "an Event")
    assert warnings(installation, place)["FailedMount"] == (
        'MountVolume.SetUp failed for volume "cert" : secret "cert" not found'
    )
    seen = installation.until(DEPLOYMENT.ref("d", place), lambda found: found["status"]["unavailableReplicas"])
    assert not is_available(seen)
    meta = {"name": "cert", "namespace": place}
    installation.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"tls.crt": "x"}})
    installation.until(DEPLOYMENT.ref("d", place), is_available)


def test_a_pod_waits_for_a_variable_of_a_config_map(installation: Installation, place: str) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "colour"}}
    container = {"name": "c", "image": "any", "env": [{"name": "A", "valueFrom": source}]}
    installation.apply(a_deployment(place, containers=[container]))
    wait_for(lambda: 'configmap "settings" not found' in warnings(installation, place).values(), "an Event")
    (pod,) = pods(installation, place)
    found = installation.until(Ref.of(pod), lambda pod: pod["status"]["containerStatuses"])
    (status,) = found["status"]["containerStatuses"]
    assert status["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    meta = {"name": "settings", "namespace": place}
    installation.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"colour": "blue"}})
    installation.until(DEPLOYMENT.ref("d", place), is_available)


def test_what_pod_security_refuses_never_exists(installation: Installation, place: str) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    installation.cluster.merge(NAMESPACE.ref(place), {"metadata": {"labels": label}})
    installation.apply(a_deployment(place))
    failed = installation.until(DEPLOYMENT.ref("d", place), lambda found: condition(found, "ReplicaFailure"))
    assert condition(failed, "ReplicaFailure")["reason"] == "FailedCreate"
    assert 'violates PodSecurity "restricted:latest"' in condition(failed, "ReplicaFailure")["message"]
    assert 'violates PodSecurity "restricted:latest"' in warnings(installation, place)["FailedCreate"]
    assert pods(installation, place) == []


def test_a_deployment_fails_on_demand(installation: Installation, place: str) -> None:
    installation.apply(a_deployment(place, annotations={"olmf.io/fail": "no such image"}))
    installation.until(DEPLOYMENT.ref("d", place), lambda found: found["status"]["unavailableReplicas"])
    wait_for(lambda: "no such image" in str([pod.get("status") for pod in pods(installation, place)]), "a message")
    installation.cluster.merge(DEPLOYMENT.ref("d", place), {"metadata": {"annotations": {"olmf.io/fail": None}}})
    installation.until(DEPLOYMENT.ref("d", place), is_available)


def ended(installation: Installation, place: str, word: str, end: str) -> Manifest:
    """The Pod of a Job with a program of ours, when the Job has the condition `end`."""
    container = {"name": "c", "image": "any", "command": ["olmf", word]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"backoffLimit": 0, "template": template}
    meta = {"name": "j", "namespace": place}
    installation.apply({"apiVersion": JOB.api_version, "kind": JOB.kind, "metadata": meta, "spec": spec})
    installation.until(JOB.ref("j", place), lambda job: condition(job, end).get("status") == "True", end)
    (pod,) = installation.cluster.list(POD, place, labels={"job-name": "j"})
    return pod


def test_a_job_has_a_pod_that_succeeds(installation: Installation, place: str) -> None:
    pod = ended(installation, place, "--version", "Complete")
    assert pod["status"]["phase"] == "Succeeded"
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_job_has_a_pod_that_fails_and_reports_why(installation: Installation, place: str) -> None:
    pod = ended(installation, place, "no-such-verb", "Failed")
    assert pod["status"]["phase"] == "Failed"
    assert "no-such-verb" in pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"]
