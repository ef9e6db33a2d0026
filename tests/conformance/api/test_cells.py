"""What `kubectl get` prints about kinds that operators bring along."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_deployment, core
from tests.conformance.http import Api

Json = Any
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
RBAC = "rbac.authorization.k8s.io"
WORKLOAD = a_deployment()["spec"]
JOB = {"spec": {"containers": [{"name": "c", "image": "i:1"}], "restartPolicy": "Never"}}
PORTS = [{"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}]
EXPRESSIONS = {
    "matchLabels": {"e": "f"},
    "matchExpressions": [
        {"key": "h", "operator": "NotIn", "values": ["j", "i"]}, {"key": "g", "operator": "Exists"},
        {"key": "a", "operator": "In", "values": ["c", "b"]}, {"key": "d", "operator": "DoesNotExist"},
    ],
}  # fmt: skip
HOOK = {
    "name": "a.example.com", "clientConfig": {"url": "https://example.com"}, "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "manifest", "cells"),
    [
        pytest.param(
            core("{}", "services"),
            {"spec": {"clusterIP": "None", "ports": PORTS}},
            {"Type": "ClusterIP", "Cluster-IP": "None", "External-IP": "<none>", "Port(s)": "80/TCP,53/UDP"},
            id="a Service",
        ),
        pytest.param(
            core("{}", "pods"), {"spec": JOB["spec"]},
            {"Ready": "0/1", "Status": "Pending", "IP": "<none>", "Node": "<none>"}, id="a Pod",
        ),
        pytest.param(core("{}", "secrets"), {"data": {"a": "Yg=="}}, {"Type": "Opaque", "Data": 1}, id="a Secret"),
        pytest.param(
            core("{}", "events"),
            {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{}"}, "reason": "R", "message": "M",
             "type": "Normal"},
            {"Type": "Normal", "Reason": "R", "Object": "pod/p", "Message": "M"}, id="an Event",
        ),
        pytest.param(
            "/apis/batch/v1/namespaces/{}/jobs", {"spec": {"template": JOB, "suspend": True}},
            {"Completions": "0/1", "Containers": "c", "Images": "i:1"}, id="a Job",
        ),
        pytest.param(
            f"/apis/{RBAC}/v1/namespaces/{{}}/rolebindings",
            {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "r"}},
            {"Role": "Role/r"}, id="a RoleBinding",
        ),
        pytest.param(
            "/apis/apps/v1/namespaces/{}/statefulsets", {"spec": {**WORKLOAD, "serviceName": "s", "replicas": 0}},
            {"Ready": "0/0", "Containers": "c", "Images": "i:1"}, id="a StatefulSet",
        ),
        pytest.param(
            "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
            {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}, {"Pod-Selector": "a=b"}, id="a NetworkPolicy",
        ),
        pytest.param(
            "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies", {"spec": {"podSelector": EXPRESSIONS}},
            {"Pod-Selector": "a in (b,c),!d,e=f,g,h notin (i,j)"}, id="a NetworkPolicy of requirements",
        ),
        pytest.param(
            "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies", {"spec": {"podSelector": {}}},
            {"Pod-Selector": "<none>"}, id="a NetworkPolicy of all Pods",
        ),
        pytest.param(
            "/apis/coordination.k8s.io/v1/namespaces/{}/leases", {"spec": {"holderIdentity": "me"}},
            {"Holder": "me"}, id="a Lease",
        ),
        pytest.param(
            "/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 7}, {"Value": 7, "Global-Default": False},
            id="a PriorityClass",
        ),
        pytest.param(
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": [HOOK]},
            {"Webhooks": 1}, id="a webhook configuration",
        ),
    ],
)  # fmt: skip
def test_the_cells_of_a_kind(http: Api, namespace: str, path: str, manifest: Json, cells: Json) -> None:
    if "involvedObject" in manifest:
        manifest = {**manifest, "involvedObject": {**manifest["involvedObject"], "namespace": namespace}}
    path, name = path.format(namespace), f"{namespace}-x"
    made = http.post(path, {"metadata": {"name": name}, **manifest})
    assert made.status == 201, made.body
    body = http.get(f"{path}/{name}", accept=TABLE).body
    row = dict(zip((one["name"] for one in body["columnDefinitions"]), body["rows"][0]["cells"], strict=True))
    assert {column: row[column] for column in cells} == cells
    http.delete(f"{path}/{name}")


@pytest.mark.parametrize(
    ("include", "kind"), [("None", None), ("Object", "ConfigMap"), ("Metadata", "PartialObjectMetadata")]
)
def test_a_row_carries_what_was_asked_for(http: Api, namespace: str, include: str, kind: str | None) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    body = http.get(core(namespace, "configmaps", "a") + f"?includeObject={include}", accept=TABLE).body
    assert [(row["object"] or {}).get("kind") for row in body["rows"]] == [kind]
