"""Who may do what: bindings, reviews, tokens of service accounts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, core
from tests.conformance.http import Api
from tests.kit.waiting import wait_for

Json = Any
RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"


def _may(http: Api, user: str, verb: str, resource: str, namespace: str = "", **more: str) -> bool:
    attributes = {"verb": verb, "resource": resource, "namespace": namespace, **more}
    answer = http.post(f"{REVIEWS}/subjectaccessreviews", {"spec": {"user": user, "resourceAttributes": attributes}})
    assert answer.status == 201, answer.body
    return bool(answer.body["status"]["allowed"])


def _grant(http: Api, namespace: str, subject: Json, *rules: Json) -> None:
    http.post(f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "r"}, "rules": list(rules)})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    body = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": [subject]}
    assert http.post(f"{RBAC}/namespaces/{namespace}/rolebindings", body).status == 201


READ: Json = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}


def test_nobody_may_anything_without_a_binding(http: Api, namespace: str) -> None:
    assert not _may(http, "jane", "get", "configmaps", namespace)


def test_a_role_gives_its_verbs_in_its_namespace(http: Api, namespace: str) -> None:
    _grant(http, namespace, {"kind": "User", "name": namespace}, READ)
    wait_for(lambda: _may(http, namespace, "get", "configmaps", namespace))
    assert not _may(http, namespace, "delete", "configmaps", namespace)
    assert not _may(http, namespace, "get", "secrets", namespace)
    assert not _may(http, namespace, "get", "configmaps", "default")
    assert not _may(http, namespace, "get", "configmaps", namespace, subresource="status")


def test_a_rule_may_be_about_single_names(http: Api, namespace: str) -> None:
    _grant(http, namespace, {"kind": "User", "name": namespace}, {**READ, "resourceNames": ["a"]})
    wait_for(lambda: _may(http, namespace, "get", "configmaps", namespace, name="a"))
    assert not _may(http, namespace, "get", "configmaps", namespace, name="b")


def test_a_cluster_role_gives_everywhere(http: Api, word: str) -> None:
    http.post(f"{RBAC}/clusterroles", {"metadata": {"name": word}, "rules": [{**READ, "apiGroups": ["*"]}]})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": word}
    body = {"metadata": {"name": word}, "roleRef": ref, "subjects": [{"kind": "User", "name": word}]}
    http.post(f"{RBAC}/clusterrolebindings", body)
    wait_for(lambda: _may(http, word, "list", "configmaps"))
    assert _may(http, word, "list", "configmaps", "default")


def test_a_path_may_be_given(http: Api, word: str) -> None:
    http.post(f"{RBAC}/clusterroles", {
        "metadata": {"name": word}, "rules": [{"nonResourceURLs": ["/metrics/*"], "verbs": ["get"]}]
    })  # fmt: skip
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": word}
    body = {"metadata": {"name": word}, "roleRef": ref, "subjects": [{"kind": "User", "name": word}]}
    http.post(f"{RBAC}/clusterrolebindings", body)

    def may(path: str) -> bool:
        spec = {"user": word, "nonResourceAttributes": {"verb": "get", "path": path}}
        return bool(http.post(f"{REVIEWS}/subjectaccessreviews", {"spec": spec}).body["status"]["allowed"])

    wait_for(lambda: may("/metrics/cadvisor"))
    assert not may("/logs")


def test_a_binding_gets_the_group_of_its_subject(http: Api, namespace: str) -> None:
    _grant(http, namespace, {"kind": "User", "name": "jane"}, READ)
    body = http.get(f"{RBAC}/namespaces/{namespace}/rolebindings/b").body
    assert body["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]


def test_an_aggregated_role_gathers_rules(http: Api, word: str) -> None:
    selector = {"clusterRoleSelectors": [{"matchLabels": {f"example.com/{word}": "true"}}]}
    http.post(f"{RBAC}/clusterroles", {"metadata": {"name": f"{word}-all"}, "aggregationRule": selector})
    meta = {"name": f"{word}-part", "labels": {f"example.com/{word}": "true"}}
    http.post(f"{RBAC}/clusterroles", {"metadata": meta, "rules": [READ]})
    wait_for(lambda: http.get(f"{RBAC}/clusterroles/{word}-all").body["rules"] == [READ])


def test_the_administrator_may_everything(http: Api) -> None:
    spec = {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}
    answer = http.post(f"{REVIEWS}/selfsubjectaccessreviews", {"spec": spec})
    assert (answer.status, answer.body["status"]["allowed"]) == (201, True)


def test_a_stranger_is_unauthorized(http: Api) -> None:
    answer = http.as_user("nonsense").get("/api/v1/namespaces")
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (401, "Unauthorized", "Unauthorized")


def test_somebody_without_credentials_is_forbidden(http: Api) -> None:
    answer = http.as_user("").get("/api/v1/pods")
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope'
    )


def test_a_service_account_acts_with_its_token(http: Api, namespace: str) -> None:
    http.post(core(namespace, "serviceaccounts"), {"metadata": {"name": "robot"}})
    _grant(http, namespace, {"kind": "ServiceAccount", "name": "robot", "namespace": namespace}, READ)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = http.post(f"{core(namespace, 'serviceaccounts', 'robot')}/token", request)
    assert answer.status == 201, answer.body
    robot = http.as_user(answer.body["status"]["token"])
    wait_for(lambda: robot.get(core(namespace, "configmaps")).status == 200)
    refused = robot.post(core(namespace, "configmaps"), a_config_map())
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.body["message"] == (
        f'configmaps is forbidden: User "system:serviceaccount:{namespace}:robot" cannot create resource "configmaps" '
        f'in API group "" in the namespace "{namespace}"'
    )


def test_a_token_can_be_reviewed(http: Api, namespace: str) -> None:
    http.post(core(namespace, "serviceaccounts"), {"metadata": {"name": "robot"}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = http.post(f"{core(namespace, 'serviceaccounts', 'robot')}/token", request).body["status"]["token"]
    status = http.post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token}}).body["status"]
    assert (status["authenticated"], status["user"]["username"]) == (True, f"system:serviceaccount:{namespace}:robot")


def test_the_token_of_the_administrator_can_be_reviewed(http: Api) -> None:
    status = http.post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": http.token}}).body["status"]
    assert (status["authenticated"], status["user"]["username"]) == (True, "admin")
    assert "system:masters" in status["user"]["groups"]


def test_the_administrator_may_act_as_somebody_else(http: Api, namespace: str) -> None:
    jane = http.as_other({"Impersonate-User": namespace})
    assert jane.get(core(namespace, "configmaps")).status == 403
    _grant(http, namespace, {"kind": "User", "name": namespace}, READ)
    wait_for(lambda: jane.get(core(namespace, "configmaps")).status == 200)


def test_nobody_acts_as_somebody_else_without_leave(http: Api, namespace: str) -> None:
    http.post(core(namespace, "serviceaccounts"), {"metadata": {"name": "robot"}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = http.post(f"{core(namespace, 'serviceaccounts', 'robot')}/token", request).body["status"]["token"]
    answer = http.as_user(token).as_other({"Impersonate-User": "admin"}).get(core(namespace, "configmaps"))
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert 'cannot impersonate resource "users"' in answer.body["message"]


AUTHENTICATION = "/apis/authentication.k8s.io/v1"


def test_everybody_may_ask_who_they_are(http: Api, namespace: str) -> None:
    somebody = http.as_other({"Impersonate-User": "eve", "Impersonate-Group": "system:authenticated"})
    answer = somebody.post(f"{AUTHENTICATION}/selfsubjectreviews", {})
    assert (answer.status, answer.body["status"]["userInfo"]["username"]) == (201, "eve")


def test_a_token_that_nobody_gave_is_not_known(http: Api) -> None:
    answer = http.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": "nonsense"}})
    assert (answer.status, answer.body["status"].get("authenticated", False)) == (201, False)


def test_an_aggregated_role_selects_by_expressions(http: Api, word: str) -> None:
    selector = {"matchExpressions": [
        {"key": f"{word}.example.com/a", "operator": "In", "values": ["x", "y"]},
        {"key": "c", "operator": "DoesNotExist"},
    ]}  # fmt: skip
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    path = f"{RBAC}/clusterroles"
    http.post(path, {"metadata": {"name": word}, "aggregationRule": {"clusterRoleSelectors": [selector]}, "rules": []})
    for name, labels in (("b", {"c": "d"}), ("a", {})):
        meta = {"name": f"{word}-{name}", "labels": {f"{word}.example.com/a": "x", **labels}}
        http.post(path, {"metadata": meta, "rules": [{**rule, "resourceNames": [name]}]})
    wait_for(lambda: bool(http.get(f"{path}/{word}").body["rules"]))
    assert [one["resourceNames"] for one in http.get(f"{path}/{word}").body["rules"]] == [["a"]]


def test_everybody_may_ask_what_they_may(http: Api, namespace: str) -> None:
    _grant(http, namespace, {"kind": "User", "name": "eve"}, READ)
    somebody = http.as_other({"Impersonate-User": "eve", "Impersonate-Group": "system:authenticated"})

    def rules() -> Json:
        return somebody.post(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}).body["status"]

    wait_for(lambda: READ in [{key: rule[key] for key in READ} for rule in rules()["resourceRules"]])
    assert any("/healthz" in rule["nonResourceURLs"] for rule in rules()["nonResourceRules"])


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        pytest.param([("users", "eve")], 403, id="the group is missing"),
        pytest.param([("groups", "team")], 403, id="the user is missing"),
        pytest.param([("users", "eve"), ("groups", "team")], 201, id="both"),
    ],
)
def test_a_user_and_each_group_may_be_impersonated_only_with_permission(
    http: Api, namespace: str, word: str, rules: list[tuple[str, str]], status: int
) -> None:
    role = {"metadata": {"name": word}, "rules": [
        {"apiGroups": [""], "resources": [kind], "resourceNames": [name], "verbs": ["impersonate"]}
        for kind, name in rules
    ]}  # fmt: skip
    http.post(f"{RBAC}/clusterroles", role)
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": word}
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": namespace}
    http.post(f"{RBAC}/clusterrolebindings", {"metadata": {"name": word}, "roleRef": ref, "subjects": [subject]})
    http.post(core(namespace, "serviceaccounts"), {"metadata": {"name": "robot"}})
    token = http.post(f"{core(namespace, 'serviceaccounts', 'robot')}/token", {}).body["status"]["token"]
    other = http.as_user(token).as_other({"Impersonate-User": "eve", "Impersonate-Group": "team"})
    wait_for(lambda: other.post(f"{AUTHENTICATION}/selfsubjectreviews", {}).status == status)


def test_a_group_is_impersonated_with_a_user(http: Api) -> None:
    assert http.as_other({"Impersonate-Group": "team"}).get("/api/v1/namespaces").status == 400


@pytest.mark.parametrize(
    ("path", "spec", "status", "sentence"),
    [
        pytest.param(
            "authorization.k8s.io/v1/selfsubjectaccessreviews", {}, 422, "exactly one of", id="own access to nothing"
        ),
        pytest.param(
            "authorization.k8s.io/v1/subjectaccessreviews", {"user": "x"}, 422, "exactly one of", id="access to nothing"
        ),
        pytest.param(
            "authorization.k8s.io/v1/selfsubjectrulesreviews", {}, 400, "no namespace on request", id="no namespace"
        ),
        pytest.param("authentication.k8s.io/v1/tokenreviews", {"token": ""}, 400, "token is required", id="no token"),
    ],
)
def test_a_review_reports_what_it_asks(http: Api, path: str, spec: Any, status: int, sentence: str) -> None:
    answer = http.post(f"/apis/{path}", {"spec": spec})
    assert answer.status == status, answer.body
    assert sentence in answer.body["message"]
