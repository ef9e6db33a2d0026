"""What is refused, and in which words."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conformance.api.objects import DEFINITIONS, a_config_map, a_definition, a_deployment, apps, core, define
from tests.conformance.http import Answer, Api

Json = Any
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def _is_invalid(answer: Answer, *sentences: str) -> None:
    assert (answer.status, answer.body["reason"]) == (422, "Invalid"), answer.body
    for sentence in sentences:
        assert sentence in answer.body["message"]


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "a" * 254, "a..b"])
def test_a_name_is_a_subdomain(http: Api, namespace: str, name: str) -> None:
    _is_invalid(http.post(core(namespace, "configmaps"), a_config_map(name)), "metadata.name: Invalid value")


def test_the_name_of_a_namespace_is_a_label(http: Api) -> None:
    _is_invalid(http.post("/api/v1/namespaces", {"metadata": {"name": "a.b"}}), "must not contain dots")
    _is_invalid(http.post("/api/v1/namespaces", {"metadata": {"name": "A"}}), "a lowercase RFC 1123 label must")


def test_the_name_of_a_role_may_hold_colons_and_capitals(http: Api, namespace: str) -> None:
    path = f"{RBAC}/namespaces/{namespace}/roles"
    assert http.post(path, {"metadata": {"name": "system:A_b"}, "rules": []}).status == 201


@pytest.mark.parametrize("labels", [{"a": "b c"}, {"a b": "c"}, {"a": "x" * 64}, {"-a": "b"}, {"A/b/c": "d"}], ids=str)
def test_labels_are_checked(http: Api, namespace: str, labels: Json) -> None:
    _is_invalid(http.post(core(namespace, "configmaps"), a_config_map(labels=labels)), "metadata.labels")


def test_annotations_have_a_limit(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(annotations={"a": "x" * (256 * 1024)}))
    _is_invalid(answer, "metadata.annotations: Too long: may not be more than 262144 bytes")


def test_a_config_map_has_a_limit(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(data={"k": "x" * (1024 * 1024 + 1)}))
    _is_invalid(answer, "Too long: may not be more than 1048576 bytes")


def test_a_request_has_a_limit(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(data={"k": "x" * (3 * 1024 * 1024 + 1)}))
    assert (answer.status, answer.body["reason"]) == (413, "RequestEntityTooLarge")


def test_the_keys_of_a_config_map_are_checked(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(data={"a b": "c"}))
    _is_invalid(answer, 'data[a b]: Invalid value: "a b": a valid config key must consist of')


def test_a_selector_must_choose_the_template(http: Api, namespace: str) -> None:
    answer = http.post(apps(namespace), a_deployment(selector={"matchLabels": {"app": "other"}}))
    _is_invalid(
        answer,
        'spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template `labels`',
    )


def test_a_deployment_needs_a_selector(http: Api, namespace: str) -> None:
    body = a_deployment()
    del body["spec"]["selector"]
    _is_invalid(http.post(apps(namespace), body), "spec.selector: Required value")


def test_a_deployment_needs_containers(http: Api, namespace: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["containers"] = []
    _is_invalid(http.post(apps(namespace), body), "spec.template.spec.containers: Required value")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"env": [{"name": ""}]}, "containers[0].env[0].name: Required value", id="name of a variable"),
        pytest.param(
            {"env": [{"name": "A", "value": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
            'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
            id="two values",
        ),
        pytest.param({"name": ""}, "spec.template.spec.containers[0].name: Required value", id="name"),
        pytest.param({"image": ""}, "spec.template.spec.containers[0].image: Required value", id="image"),
        pytest.param({"name": "A"}, 'containers[0].name: Invalid value: "A"', id="name as a label"),
        pytest.param(
            {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}, 'volumeMounts[0].name: Not found: "v"', id="volume"
        ),
    ],
)
def test_containers_are_checked(http: Api, namespace: str, change: Json, sentence: str) -> None:
    body = a_deployment()
    body["spec"]["template"]["spec"]["containers"][0].update(change)
    _is_invalid(http.post(apps(namespace), body), sentence)


def test_the_selector_of_a_deployment_never_changes(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    labels = {"app": "d", "x": "y"}
    patch = {"spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}}
    _is_invalid(http.patch(apps(namespace, "d"), patch), "spec.selector: Invalid value", "field is immutable")


def test_the_template_of_a_job_never_changes(http: Api, namespace: str) -> None:
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    http.post(path, {"metadata": {"name": "j"}, "spec": {"template": template}})
    patch = {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}}
    _is_invalid(http.patch(f"{path}/j", patch), "spec.template: Invalid value", "field is immutable")


def test_a_job_reports_when_to_restart(http: Api, namespace: str) -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {"metadata": {"name": "j"}, "spec": {"template": template}}
    answer = http.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", body)
    _is_invalid(answer, "spec.template.spec.restartPolicy: Required value: valid values:")


def test_the_role_of_a_binding_never_changes(http: Api, namespace: str) -> None:
    path = f"{RBAC}/namespaces/{namespace}/rolebindings"
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}
    http.post(path, {"metadata": {"name": "b"}, "roleRef": ref})
    answer = http.patch(f"{path}/b", {"roleRef": {"name": "other"}})
    _is_invalid(answer, "roleRef: Invalid value", "cannot change roleRef")


def test_the_type_of_a_secret_never_changes(http: Api, namespace: str) -> None:
    http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}})
    _is_invalid(http.patch(core(namespace, "secrets", "a"), {"type": "other"}), "type: Invalid value", "immutable")


def test_an_immutable_config_map_never_changes(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), {**a_config_map(), "immutable": True})
    answer = http.patch(core(namespace, "configmaps", "a"), {"data": {"k": "other"}})
    _is_invalid(answer, "data: Forbidden: field is immutable when `immutable` is set")


def test_a_rule_names_verbs(http: Api, namespace: str) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"]}]
    answer = http.post(f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "a"}, "rules": rules})
    _is_invalid(answer, "rules[0].verbs: Required value")


def test_a_rule_names_groups_and_resources(http: Api, namespace: str) -> None:
    answer = http.post(
        f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "a"}, "rules": [{"verbs": ["get"]}]}
    )
    _is_invalid(answer, "rules[0].apiGroups: Required value", "rules[0].resources: Required value")


def test_an_owner_reference_is_whole(http: Api, namespace: str) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": ""}
    answer = http.post(core(namespace, "configmaps"), a_config_map(ownerReferences=[owner]))
    _is_invalid(answer, "metadata.ownerReferences.uid")


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("8443", "must contain at least one letter (a-z)"),
        ("Web", "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        ("a--b", "must not contain consecutive hyphens"),
        ("-a", "must not begin or end with a hyphen"),
        ("a234567890123456", "must be no more than 15 characters"),
    ],
)
def test_the_port_behind_a_service_has_the_name_of_one(http: Api, namespace: str, name: str, reported: str) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1, "targetPort": name}]}}
    answer = http.post(core(namespace, "services"), body)
    _is_invalid(answer, f'spec.ports[0].targetPort: Invalid value: "{name}": {reported}')


def test_a_service_needs_ports(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "services"), {"metadata": {"name": "s"}, "spec": {}})
    _is_invalid(answer, "spec.ports: Required value")


def test_a_value_of_the_wrong_type_is_a_bad_request(http: Api, namespace: str) -> None:
    answer = http.post(apps(namespace), a_deployment(replicas="many"))
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "Deployment in version" in answer.body["message"]
    assert "cannot unmarshal string" in answer.body["message"]


def test_an_unknown_field_of_a_builtin_kind_is_refused_on_demand(http: Api, namespace: str) -> None:
    answer = http.post(f"{apps(namespace)}?fieldValidation=Strict", a_deployment(alien=1))
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"] == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
        'unknown field "spec.alien"'
    )


def test_an_unknown_field_of_a_builtin_kind_is_warned_about(http: Api, namespace: str) -> None:
    answer = http.post(apps(namespace), a_deployment(alien=1))
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.alien\\""'


def test_a_body_that_is_not_json_is_a_bad_request(http: Api, namespace: str) -> None:
    assert http.send("POST", core(namespace, "configmaps"), b"{").status == 400


def test_a_protobuf_body_that_ends_too_early_is_a_bad_request(http: Api, namespace: str) -> None:
    body, media = b"k8s\x00\x0a\xff", "application/vnd.kubernetes.protobuf"
    assert http.send("POST", core(namespace, "configmaps"), body, content=media).status == 400


@pytest.mark.parametrize("query", ["limit=few", "limit=%C2%B2", "watch=1&timeoutSeconds=soon"])
def test_an_option_that_is_no_number_is_a_bad_request(http: Api, namespace: str, query: str) -> None:
    answer = http.get(f"{core(namespace, 'configmaps')}?{query}")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest"), answer.body


def test_another_kind_in_the_body_is_a_bad_request(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), {**a_config_map(), "kind": "Secret"})
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")


def test_a_body_may_be_yaml(http: Api, namespace: str) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
    answer = http.send("POST", core(namespace, "configmaps"), text, content="application/yaml")
    assert (answer.status, answer.body["data"]) == (201, {"k": "v"})


LIMITS: Json = {
    "few": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
    "some": {"type": "array", "minItems": 2, "items": {"type": "string"}},
    "long": {"type": "string", "minLength": 3},
    "when": {"type": "string", "format": "date-time"},
    "map": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "string"}},
    "address": {"type": "string", "format": "ipv4"},
    "fives": {"type": "integer", "multipleOf": 5},
    "any": {"type": "integer", "anyOf": [{"minimum": 7}, {"maximum": 3}]},
    "one": {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 7}]},
    "all": {"type": "integer", "allOf": [{"minimum": 3}]},
    "other": {"type": "integer", "not": {"minimum": 7}},
    "whole": {"type": "integer"},
}


@pytest.fixture(scope="module")
def limited(http: Api) -> str:
    """The path of a kind whose fields have limits."""
    word = f"t{uuid.uuid4().hex[:10]}"
    schema: Json = {"type": "object", "properties": {"spec": {"type": "object", "properties": LIMITS}}}
    return define(http, a_definition(word, scope="Cluster", schema={"openAPIV3Schema": schema})) + "/widgets"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        pytest.param({"few": ["a", "b"]}, "spec.few: Too many: 2: must have at most 1 item", id="too many items"),
        pytest.param({"some": ["a"]}, "spec.some in body should have at least 2 items", id="too few items"),
        pytest.param({"long": "ab"}, "spec.long in body should be at least 3 chars long", id="a text too short"),
        pytest.param({"when": "soon"}, "spec.when in body must be of type date-time", id="no time"),
        pytest.param({"when": "2026-13-01T00:00:00Z"}, "spec.when in body must be of type date-time", id="month 13"),
        pytest.param({"when": "2026-01-01T00:00:00.5+01:00"}, "", id="a time"),
        pytest.param({"map": {}}, "spec.map in body should have at least 1 properties", id="too few properties"),
        pytest.param(
            {"map": dict.fromkeys("abc", "")}, "spec.map: Too many: 3: must have at most 2 items", id="too many"
        ),
        pytest.param({"address": "here"}, 'spec.address in body must be of type ipv4: "here"', id="no address"),
        pytest.param({"fives": 6}, "spec.fives in body should be a multiple of 5", id="no multiple"),
        pytest.param({"any": 5}, '"spec.any" must validate at least one schema (anyOf)', id="none of any"),
        pytest.param({"any": 8}, "", id="one of any"),
        pytest.param(
            {"one": 5},
            '"spec.one" must validate one and only one schema (oneOf). Found 2',
            id="two of one",
        ),
        pytest.param({"all": 1}, "spec.all in body should be greater than or equal to 3", id="not all"),
        pytest.param({"other": 8}, '"spec.other" must not validate the schema (not)', id="what must not be"),
        pytest.param({"whole": 3.0}, "", id="a whole number with a point"),
        pytest.param({"whole": 3.5}, "must be of type integer", id="a fraction"),
    ],
)
def test_the_limits_of_a_schema_hold(http: Api, word: str, limited: str, spec: Json, sentence: str) -> None:
    version = limited.removeprefix("/apis/").removesuffix("/widgets")
    answer = http.post(limited, {"apiVersion": version, "kind": "Widget", "metadata": {"name": word}, "spec": spec})
    if sentence:
        _is_invalid(answer, sentence)
    else:
        assert answer.status == 201, answer.body


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"storage": False}, "must have exactly one version marked as storage version", id="none stored"),
        pytest.param({"schema": None}, "schema.openAPIV3Schema: Required value", id="no schema"),
    ],
)
def test_a_definition_is_checked(http: Api, word: str, change: Json, sentence: str) -> None:
    _is_invalid(http.post(DEFINITIONS, a_definition(word, **change)), sentence)


def test_a_role_name_is_a_path_segment(http: Api, namespace: str) -> None:
    _is_invalid(http.post(f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "a/b"}, "rules": []}), "'/'")


def test_a_deployment_restarts_its_containers(http: Api, namespace: str) -> None:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {**a_deployment()["spec"]["template"]["spec"]}}
    template["spec"]["restartPolicy"] = "Never"
    answer = http.post(apps(namespace), a_deployment(template=template))
    _is_invalid(answer, 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"')


def test_a_new_object_has_no_resource_version(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(resourceVersion="7"))
    assert (answer.status, answer.body["message"]) == (
        500, "resourceVersion should not be set on objects to be created",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("method", "query", "sentence"),
    [
        pytest.param(
            "POST", "dryRun=some",
            'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["some"]: supported values: "All"',
            id="a dry run that is none",
        ),
        pytest.param(
            "DELETE", "propagationPolicy=Sideways",
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": '
            'supported values: "Foreground", "Background", "Orphan", "nil"',
            id="a way to delete that is none",
        ),
        pytest.param(
            "GET", "watch=1&sendInitialEvents=true",
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires '
            "setting resourceVersionMatch to NotOlderThan",
            id="initial events of no version",
        ),
    ],
)  # fmt: skip
def test_options_that_there_are_not_are_invalid(
    http: Api, namespace: str, method: str, query: str, sentence: str
) -> None:
    name, body = ("a", None) if method == "DELETE" else ("", a_config_map("b"))
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.send(method, core(namespace, "configmaps", name) + f"?{query}", body)
    _is_invalid(answer, sentence)


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        pytest.param("continue=nonsense", 400, "continue key is not valid", id="a page that was never begun"),
        pytest.param("labelSelector=a%20b%20c", 400, "unable to parse requirement", id="labels"),
        pytest.param(
            "fieldSelector=nonsense", 400, "invalid selector: 'nonsense'; can't understand 'nonsense'", id="fields"
        ),
        pytest.param(
            "watch=1&resourceVersion=abc", 500,
            'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax', id="a version",
        ),
    ],
)  # fmt: skip
def test_a_query_that_makes_no_sense_is_refused(
    http: Api, namespace: str, query: str, status: int, sentence: str
) -> None:
    answer = http.get(core(namespace, "configmaps") + f"?{query}")
    assert answer.status == status
    assert sentence in answer.body["message"]


@pytest.mark.parametrize(
    ("content", "body", "status"),
    [
        pytest.param("text/plain", b"{}", 415, id="another format"),
        pytest.param("application/yaml", b"a: [b", 400, id="no YAML"),
        pytest.param("application/json", b"[1]", 400, id="no object"),
    ],
)
def test_a_body_that_is_no_object_is_refused(http: Api, namespace: str, content: str, body: bytes, status: int) -> None:
    assert http.send("POST", core(namespace, "configmaps"), body, content=content).status == status
