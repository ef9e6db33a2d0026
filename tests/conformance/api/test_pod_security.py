"""Which Pods a namespace with a level of Pod Security refuses, and Pods without their ServiceAccount."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.http import Api

GOOD = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def a_pod(context: Any = None, *, pod: Any = None, names: tuple[str, ...] = ("c",), **spec: Any) -> Any:
    """A Pod whose containers have a security context."""
    more = spec.pop("container", {})
    containers = [{"name": name, "image": "any", "securityContext": context or {}, **more} for name in names]
    return {"metadata": {"name": "p"}, "spec": {"containers": containers, "securityContext": pod or {}, **spec}}


EVERYTHING = (
    "allowPrivilegeEscalation != false ({0} must set securityContext.allowPrivilegeEscalation=false), "
    'unrestricted capabilities ({0} must set securityContext.capabilities.drop=["ALL"]), '
    "runAsNonRoot != true (pod or {0} must set securityContext.runAsNonRoot=true), "
    'seccompProfile (pod or {0} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
)
CASES = [
    pytest.param("restricted", a_pod(GOOD, pod=SAFE), "", id="what restricted asks for"),
    pytest.param("restricted", a_pod({**GOOD, **SAFE}), "", id="the same said by the container"),
    pytest.param("baseline", a_pod(), "", id="baseline takes what says nothing"),
    pytest.param("privileged", a_pod({"privileged": True}), "", id="privileged takes everything"),
    pytest.param("restricted", a_pod(), EVERYTHING.format('container "c"'), id="nothing said"),
    pytest.param("restricted", a_pod(names=("a", "b")), EVERYTHING.format('containers "a", "b"'), id="two containers"),
    pytest.param(
        "restricted",
        a_pod(GOOD, pod={"seccompProfile": {"type": "RuntimeDefault"}}),
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
        id="the user is not said",
    ),
    pytest.param(
        "restricted", a_pod({**GOOD, "runAsNonRoot": False}, pod=SAFE),
        'runAsNonRoot != true '
        '(container "c" must not set securityContext.runAsNonRoot=false)',
        id="root on purpose",
    ),
    pytest.param(
        "restricted", a_pod(GOOD, pod={**SAFE, "runAsUser": 0}),
        'runAsUser=0 '
        '(pod must not set runAsUser=0)',
        id="user 0",
    ),
    pytest.param(
        "restricted",
        a_pod({**GOOD, "capabilities": {"drop": ["ALL"], "add": ["SYS_TIME"]}}, pod=SAFE),
        'unrestricted capabilities (container "c" must not include "SYS_TIME" in securityContext.capabilities.add)',
        id="a capability",
    ),
    pytest.param(
        "restricted",
        a_pod(GOOD, pod=SAFE, volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
        'restricted volume types (volume "v" uses restricted volume type "hostPath")',
        id="a folder of the node",
    ),
    pytest.param("baseline", a_pod({"privileged": True}, hostNetwork=True), "host namespaces (hostNetwork=true), "
        'privileged (container "c" must not set securityContext.privileged=true)', id="the node's network"),
    pytest.param(
        "baseline",
        a_pod({"seccompProfile": {"type": "Unconfined"}}, container={"ports": [{"containerPort": 1, "hostPort": 99}]}),
        'hostPort (container "c" uses hostPort 99), '
        'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
        id="a port of the node, unconfined",
    ),
    pytest.param(
        "baseline", a_pod({"capabilities": {"add": ["SYS_ADMIN", "KILL"]}}),
        'non-default capabilities '
        '(container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
        id="SYS_ADMIN",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("level", "pod", "why"), CASES)
def test_a_namespace_refuses_pods_by_its_level(http: Api, namespace: str, level: str, pod: Any, why: str) -> None:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}}
    assert http.patch(f"/api/v1/namespaces/{namespace}", label).status == 200
    answer = http.post(f"/api/v1/namespaces/{namespace}/pods", pod)
    if not why:
        assert answer.status == 201, answer.body
        return
    assert answer.status == 403
    assert answer.body["message"] == f'pods "p" is forbidden: violates PodSecurity "{level}:latest": {why}'


def test_a_pod_has_a_service_account(http: Api, namespace: str) -> None:
    answer = http.post(f"/api/v1/namespaces/{namespace}/pods", a_pod())
    assert answer.status == 201, answer.body
    assert answer.body["spec"]["serviceAccountName"] == "default"
    lacking = {"metadata": {"name": "q"}, "spec": {**a_pod()["spec"], "serviceAccountName": "nobody"}}
    answer = http.post(f"/api/v1/namespaces/{namespace}/pods", lacking)
    assert answer.status == 403
    why = f'error looking up service account {namespace}/nobody: serviceaccount "nobody" not found'
    assert answer.body["message"] == f'pods "q" is forbidden: {why}'


def test_a_workload_is_not_refused_for_its_pods(http: Api, namespace: str) -> None:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    http.patch(f"/api/v1/namespaces/{namespace}", label)
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": a_pod()["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    assert http.post(path, {"metadata": {"name": "d"}, "spec": spec}).status == 201
    assert http.get(f"/api/v1/namespaces/{namespace}/pods").body["items"] == []
