"""Rules of single kinds that are not in a schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, apps, core
from tests.conformance.http import Answer, Api

Json = Any
RBAC = "/apis/rbac.authorization.k8s.io/v1"
JOB: Json = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}


def _is_invalid(answer: Answer, sentence: str) -> None:
    assert (answer.status, answer.body["reason"]) == (422, "Invalid"), answer.body
    assert sentence in answer.body["message"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        pytest.param({"minReadySeconds": -1}, "spec.minReadySeconds: Invalid value: -1"),
        pytest.param({"strategy": {"type": "No"}}, 'spec.strategy: Unsupported value: {"Type":"No",'),
    ],
    ids=["replicas", "seconds", "strategy"],
)
def test_a_deployment_is_checked(http: Api, namespace: str, change: Json, sentence: str) -> None:
    _is_invalid(http.post(apps(namespace), a_deployment(**change)), sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"imagePullPolicy": "Often"}, 'imagePullPolicy: Unsupported value: "Often"', id="pull policy"),
        pytest.param({"ports": [{"containerPort": 0}]}, "containerPort: ", id="no port"),
        pytest.param(
            {"ports": [{"containerPort": 1, "protocol": "X"}]}, 'protocol: Unsupported value: "X"', id="protocol"
        ),
    ],
)
def test_a_container_is_checked(http: Api, namespace: str, change: Json, sentence: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["containers"][0].update(change)
    _is_invalid(http.post(apps(namespace), body), f"containers[0].{'ports[0].' if 'ports' in change else ''}{sentence}")


def test_two_containers_have_two_names(http: Api, namespace: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["containers"] *= 2
    _is_invalid(http.post(apps(namespace), body), 'containers[1].name: Duplicate value: "c"')


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"parallelism": -1}, "spec.parallelism: Invalid value: -1: must be greater", id="parallelism"),
        pytest.param(
            {"completionMode": "Indexed", "parallelism": 1},
            "spec.completions: Required value: when completion mode is Indexed", id="indexed",
        ),
    ],
)  # fmt: skip
def test_a_job_is_checked(http: Api, namespace: str, change: Json, sentence: str) -> None:
    body = {"metadata": {"name": "j"}, "spec": {**JOB, **change}}
    _is_invalid(http.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", body), sentence)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        pytest.param(
            {"verbs": []}, "rules[0].verbs: Required value: verbs must contain at least one value", id="no verb"
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/x"]},
            'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
            id="a path",
        ),
    ],
)
def test_a_rule_of_a_role_is_checked(http: Api, namespace: str, rule: Json, sentence: str) -> None:
    _is_invalid(
        http.post(f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "r"}, "rules": [rule]}), sentence
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"roleRef": {"kind": "No", "name": "r"}}, 'roleRef.kind: Unsupported value: "No"', id="role"),
        pytest.param(
            {"subjects": [{"kind": "No", "name": "n"}]}, 'subjects[0].kind: Unsupported value: "No"', id="subject"
        ),
        pytest.param({"subjects": [{"kind": "User", "name": ""}]}, "subjects[0].name: Required value", id="no name"),
    ],
)
def test_a_binding_is_checked(http: Api, namespace: str, change: Json, sentence: str) -> None:
    body = {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}, **change}
    _is_invalid(http.post(f"{RBAC}/namespaces/{namespace}/rolebindings", body), sentence)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        pytest.param({"ports": [{"port": 1}, {"port": 2}]}, "spec.ports[0].name: Required value", id="names"),
        pytest.param({"ports": [{"port": 0}]}, "spec.ports[0].port: ", id="no port"),
        pytest.param({"ports": [{"port": 1}], "type": "No"}, 'spec.type: Unsupported value: "No"', id="type"),
    ],
)
def test_a_service_is_checked(http: Api, namespace: str, spec: Json, sentence: str) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", **spec}}
    _is_invalid(http.post(core(namespace, "services"), body), sentence)


def test_a_secret_has_the_keys_of_its_type(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "s"}, "type": "kubernetes.io/tls"}
    _is_invalid(http.post(core(namespace, "secrets"), body), "data[tls.crt]: Required value")


def test_a_secret_holds_base64(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "secrets"), {"metadata": {"name": "s"}, "data": {"k": "%"}})
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "illegal base64 data at input byte 0" in answer.body["message"]


def test_a_time_is_a_time(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "l"}, "spec": {"renewTime": "nonsense"}}
    answer = http.post(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", body)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert 'parsing time "nonsense"' in answer.body["message"]


def test_a_lease_lasts(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}}
    answer = http.post(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", body)
    _is_invalid(answer, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")


def test_an_event_is_in_the_namespace_of_its_object(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "elsewhere"}}
    _is_invalid(http.post(core(namespace, "events"), body), "involvedObject.namespace: Invalid value: ")


def test_an_object_has_one_controller(http: Api, namespace: str) -> None:
    owners = [{"apiVersion": "v1", "kind": "A", "name": name, "uid": name, "controller": True} for name in "xy"]
    answer = http.post(core(namespace, "configmaps"), a_config_map(ownerReferences=owners))
    _is_invalid(answer, 'Found "true" in references for A/x and A/y')


def test_a_quantity_is_a_quantity(http: Api, namespace: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "much", "memory": "1Gi"}}
    answer = http.post(apps(namespace), body)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "quantities must match the regular expression '^([+-]?[0-9.]+)(" in answer.body["message"]


def test_a_variable_and_a_port_may_occur_twice(http: Api, namespace: str) -> None:
    body = a_deployment()
    twice = {"env": [{"name": "A", "value": "1"}] * 2, "ports": [{"containerPort": 1}] * 2}
    body["spec"]["template"]["spec"]["containers"][0].update(twice)
    assert http.post(apps(namespace), body).status == 201


def test_a_volume_does_not_occur_twice(http: Api, namespace: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}] * 2
    _is_invalid(http.post(apps(namespace), body), 'spec.template.spec.volumes[1].name: Duplicate value: "v"')


def test_a_role_has_no_paths(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "r"}, "rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}
    answer = http.post(f"{RBAC}/namespaces/{namespace}/roles", body)
    _is_invalid(
        answer, 'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource'
    )


def test_an_account_in_a_cluster_wide_binding_has_a_namespace(http: Api, word: str) -> None:
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    body = {"metadata": {"name": word}, "roleRef": ref, "subjects": [{"kind": "ServiceAccount", "name": "robot"}]}
    _is_invalid(http.post(f"{RBAC}/clusterrolebindings", body), "subjects[0].namespace: Required value")


def test_an_empty_selector_chooses_nothing(http: Api, namespace: str) -> None:
    answer = http.post(apps(namespace), a_deployment(selector={}))
    _is_invalid(answer, "spec.selector: Invalid value: {}: empty selector is invalid for deployment")


@pytest.mark.parametrize("items", [{"type": "string"}, [{"type": "string"}]], ids=["one", "a list"])
def test_the_items_of_a_schema_have_one_schema(http: Api, word: str, items: Json) -> None:
    properties = {"x": {"type": "array", "items": items}}
    body = a_definition(word, schema={"openAPIV3Schema": {"type": "object", "properties": properties}})
    answer = http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    if isinstance(items, dict):
        assert answer.status == 201
    else:
        _is_invalid(answer, "properties[x].items: Forbidden: items must be a schema object and not an array")
