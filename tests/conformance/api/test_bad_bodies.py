"""Bodies that do not have the form that the server expects: what is refused, with which code."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, apps, core
from tests.conformance.http import Api

Json = Any
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATCH = "application/json-patch+json"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def config_map(http: Api, namespace: str) -> str:
    """The path of a stored ConfigMap."""
    http.post(core(namespace, "configmaps"), a_config_map())
    return core(namespace, "configmaps", "a")


@pytest.fixture
def deployment(http: Api, namespace: str) -> str:
    """The path of a stored Deployment."""
    http.post(apps(namespace), a_deployment())
    return apps(namespace, "d")


@pytest.mark.parametrize("metadata", ["x", [], 5, True], ids=["text", "list", "number", "boolean"])
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        pytest.param(APPLY, 500, id="apply"),
        pytest.param(MERGE, 422, id="merge"),
        pytest.param(STRATEGIC, 422, id="strategic merge"),
    ],
)
def test_a_patch_states_metadata_as_a_map(http: Api, config_map: str, metadata: Json, kind: str, status: int) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if metadata == []:
        body["metadata"] = ["x"]
    assert http.send("PATCH", f"{config_map}?fieldManager=m", body, content=kind).status == status


@pytest.mark.parametrize("metadata", ["x", [], 5, True], ids=["text", "list", "number", "boolean"])
def test_a_new_object_has_metadata_that_is_a_map(http: Api, namespace: str, metadata: Json) -> None:
    assert http.post(core(namespace, "configmaps"), {"metadata": metadata}).status == 400


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param([], 400, id="a list"),
        pytest.param({"preconditions": "x"}, 400, id="preconditions"),
        pytest.param({"dryRun": "All"}, 400, id="dry run"),
        pytest.param({"dryRun": ["Some"]}, 422, id="another dry run"),
        pytest.param({"propagationPolicy": 5}, 400, id="policy"),
        pytest.param({"orphanDependents": "x"}, 400, id="orphans"),
        pytest.param({"propagationPolicy": None, "preconditions": None}, 200, id="nulls"),
    ],
)
def test_options_of_a_deletion_have_types(http: Api, config_map: str, options: Json, status: int) -> None:
    assert http.delete(config_map, options).status == status
    assert http.get(config_map).status == (404 if status == 200 else 200)


@pytest.mark.parametrize(
    "scale",
    [[], {"spec": "x"}, {"spec": []}, {"metadata": "x"}, {"spec": {"replicas": "x"}}, {"spec": {"replicas": True}}],
    ids=["a list", "spec", "a list as spec", "metadata", "replicas", "boolean"],
)
def test_a_scale_has_types(http: Api, deployment: str, scale: Json) -> None:
    head = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    assert http.put(f"{deployment}/scale", {**head, **scale} if scale else scale).status == 400
    if scale:
        assert http.patch(f"{deployment}/scale", scale).status == 422


def test_the_sort_of_a_patch_of_a_scale_is_checked(http: Api, deployment: str) -> None:
    assert http.patch(f"{deployment}/scale", {"spec": {"replicas": 2}}, "nonsense").status == 415


@pytest.mark.parametrize(
    ("request_", "status", "sentence"),
    [
        pytest.param([], 400, "", id="a list"),
        pytest.param({"spec": "x"}, 400, "", id="spec"),
        pytest.param({"spec": {"expirationSeconds": "x"}}, 400, "", id="no number"),
        pytest.param({"spec": {"expirationSeconds": 5}}, 422, "a duration less than 10 minutes", id="too short"),
        pytest.param({"spec": {"expirationSeconds": 2**40}}, 422, "a duration larger than 2^32 seconds", id="too long"),
    ],
)
def test_a_request_for_a_token_is_checked(
    http: Api, namespace: str, request_: Json, status: int, sentence: str
) -> None:
    http.post(core(namespace, "serviceaccounts"), {"metadata": {"name": "robot"}})
    answer = http.post(core(namespace, "serviceaccounts", "robot") + "/token", request_)
    assert answer.status == status, answer.body
    assert sentence in answer.body["message"]


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        pytest.param({"spec": {"$setElementOrder/containers": "x", "containers": []}}, 500, id="order"),
        pytest.param({"spec": {"$setElementOrder/containers": 5}}, 500, id="order only"),
        pytest.param({"spec": {"containers": [5]}}, 500, id="an item of another type"),
        pytest.param({"spec": {"$patch": "x"}}, 500, id="an unknown directive"),
        pytest.param({"spec": {"$retainKeys": 5}}, 400, id="retained keys"),
        pytest.param({"spec": {"$retainKeys": [], "hostNetwork": True}}, 400, id="a key that is not retained"),
        pytest.param({"metadata": {"$deleteFromPrimitiveList/finalizers": 5}}, 200, id="a list to delete from"),
    ],
)
def test_directives_of_a_strategic_merge_have_types(http: Api, deployment: str, patch: Json, status: int) -> None:
    assert http.patch(deployment, {"spec": {"template": patch}}, "strategic-merge-patch+json").status == status


@pytest.mark.parametrize(
    ("operations", "status"),
    [
        pytest.param([{"op": "add", "path": 5, "value": 1}], 400, id="path"),
        pytest.param([{"op": 5, "path": "/data", "value": 1}], 400, id="operation"),
        pytest.param([5], 400, id="no map"),
    ],
)
def test_operations_of_a_json_patch_have_types(http: Api, config_map: str, operations: Json, status: int) -> None:
    assert http.send("PATCH", config_map, operations, content=PATCH).status == status


def test_copies_of_a_json_patch_have_a_limit(http: Api, config_map: str) -> None:
    first = {"op": "add", "path": "/data/text", "value": "x" * 1000}
    copies = [{"op": "copy", "from": "/data", "path": f"/data/copy{index}"} for index in range(14)]
    assert http.send("PATCH", config_map, [first, *copies], content=PATCH).status == 422


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"containers": [None]}, "containers[0].name: Required value", id="container"),
        pytest.param({"volumes": [None]}, "volumes[0].name: Required value", id="volume"),
        pytest.param(
            {"containers": [{"name": "c", "image": "i", "env": [None]}]}, "env[0].name: Required value", id="variable"
        ),
    ],
)
def test_a_null_in_a_list_is_an_empty_item(http: Api, namespace: str, change: Json, sentence: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"] |= change
    answer = http.post(apps(namespace), body)
    assert answer.status == 422, answer.body
    assert sentence in answer.body["message"]


def test_a_null_in_a_schema_is_an_empty_schema(http: Api, word: str) -> None:
    body = a_definition(word)
    body["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"a": None}}}
    answer = http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    assert answer.status == 422, answer.body
    assert "properties[a].type: Required value" in answer.body["message"]


@pytest.mark.parametrize("text", ["{garbage", "[1]", "5", '{"data":5}'], ids=["no JSON", "list", "number", "data"])
def test_the_last_applied_configuration_may_be_any_text(http: Api, config_map: str, text: str) -> None:
    http.patch(config_map, {"metadata": {"annotations": {LAST_APPLIED: text}}})
    answer = http.send(
        "PATCH", f"{config_map}?fieldManager=kubectl", a_config_map(data={"k": "other"}), content=APPLY
    )  # fmt: skip
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


@pytest.mark.parametrize("fields", [{"x": 1}, {"f:data": 5}], ids=["no field", "no map"])
def test_owned_fields_may_have_any_form(http: Api, config_map: str, fields: Json) -> None:
    entry = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    assert http.patch(config_map, {"metadata": {"managedFields": [entry]}}).status == 200
    assert http.patch(config_map, {"data": {"k": "new"}}).body["data"] == {"k": "new"}


YAML: list[Any] = [
    pytest.param("metadata: {name: m}\ndata: {a: yes}", 400, id="a word that is a boolean"),
    pytest.param("metadata: {name: m}\ndata: {1: a}", 201, id="a number as a key"),
    pytest.param("metadata: {name: m}\ndata: {null: a}", 400, id="null as a key"),
    pytest.param("metadata: {name: m, labels: {a: 2020-01-01}}", 201, id="a date"),
    pytest.param("{metadata: {name: m}}", 201, id="flow style"),
    pytest.param("metadata: &a\n  name: *a", 400, id="an anchor inside itself"),
    pytest.param("metadata: {name: m}\ndata: {a: .inf}", 400, id="infinity"),
    pytest.param(
        "metadata: {name: m}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 5)),
        400,
        id="aliases of aliases",
    ),
]


@pytest.mark.parametrize(("text", "status"), YAML)
def test_yaml_is_read_as_go_reads_it(http: Api, namespace: str, text: str, status: int) -> None:
    answer = http.send("POST", core(namespace, "configmaps"), text.encode(), content="application/yaml")
    assert answer.status == status, answer.body


@pytest.mark.parametrize(
    "body",
    [b"k8s\x00\x0a\x04\x0a\x02\xff\xfe", b"k8s\x00\x08\x01\x10\x02", b"k8s\x00\x0a\x04\x0a\x02v1\x12\x02\x08\x01"],
    ids=["text that is not UTF-8", "a number for a message", "a number for the metadata"],
)
def test_a_protobuf_body_has_types(http: Api, namespace: str, body: bytes) -> None:
    media = "application/vnd.kubernetes.protobuf"
    assert http.send("POST", core(namespace, "configmaps"), body, content=media).status == 400


def test_a_body_is_not_compressed(http: Api, namespace: str) -> None:
    zipped = http.as_other({"Content-Encoding": "gzip"})
    assert zipped.send("POST", core(namespace, "configmaps"), b"\x1f\x8b\x00garbage").status == 400


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        pytest.param("a\nb", '299 - "unknown field \\"a\\\\nb\\""', id="line feed"),
        pytest.param("a\u0001b", '299 - "unknown field \\"a\\\\x01b\\""', id="control character"),
        pytest.param('a"b\\c', '299 - "unknown field \\"a\\\\\\"b\\\\\\\\c\\""', id="quote"),
    ],
)
def test_a_warning_is_one_line(http: Api, namespace: str, name: str, warning: str) -> None:
    answer = http.post(core(namespace, "configmaps"), {**a_config_map(), name: 1})
    assert (answer.status, answer.headers["Warning"]) == (201, warning)


def test_warnings_have_a_limit(http: Api, namespace: str) -> None:
    unknown = {f"{index:03}{'x' * 60}": 1 for index in range(90)}
    answer = http.post(core(namespace, "configmaps"), {**a_config_map(), **unknown})
    length = len(f'unknown field "{next(iter(unknown))}"')
    assert (answer.status, len(answer.headers.getlist("Warning"))) == (201, 4096 // length + 1)


def test_a_long_warning_is_cut(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), {**a_config_map(), "é" * 30_000: 1})
    [warning] = answer.headers.getlist("Warning")
    assert (answer.status, len(warning) < 3000) == (201, True)


def test_a_deeply_nested_body_is_not_an_internal_error(http: Api, namespace: str) -> None:
    body = b'{"metadata":{"name":"deep"},"x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert http.send("POST", core(namespace, "configmaps"), body).status in (201, 400)


def test_conditions_of_a_definition_may_have_no_type(http: Api, word: str) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    body = http.post(path, a_definition(word)).body
    answer = http.patch(f"{path}/{body['metadata']['name']}/status", {"status": {"conditions": [{"status": "True"}]}})
    assert answer.status == 200, answer.body


def test_conditions_of_a_job_may_have_no_type(http: Api, namespace: str) -> None:
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    http.post(jobs, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": {"spec": pod}}})
    http.patch(f"{jobs}/j/status", {"status": {"conditions": [{"status": "True"}]}})
    assert http.get(jobs, accept="application/json;as=Table;v=v1;g=meta.k8s.io").status == 200


def test_a_job_with_a_selector_of_its_own_needs_one(http: Api, namespace: str) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    spec = {"manualSelector": True, "template": {"spec": pod}}
    answer = http.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", {"metadata": {"name": "j"}, "spec": spec})
    assert answer.status == 422, answer.body
    assert "spec.selector: Required value" in answer.body["message"]


def test_a_namespaced_kind_is_created_in_a_namespace(http: Api) -> None:
    assert http.post("/api/v1/configmaps", a_config_map()).status == 405


def test_finalizers_are_checked(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(finalizers=["a b"]))
    assert answer.status == 422, answer.body
    assert 'metadata.finalizers: Invalid value: "a b"' in answer.body["message"]


def test_the_token_of_a_request_may_be_any_bytes(http: Api) -> None:
    header: Json = {"Authorization": b"Bearer \xff\xfe"}
    assert http.as_user("").as_other(header).get("/api/v1/namespaces").status == 401
