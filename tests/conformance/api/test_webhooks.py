"""Admission webhooks: what they are asked, and what becomes of their answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, a_widget, apps, core, define
from tests.conformance.api.webhooks import Webhooks, a_rule
from tests.conformance.http import Api
from tests.kit.webhook_server import Handler, allow, patch, refuse, running_webhooks

Json = Any


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with running_webhooks(tmp_path_factory.mktemp("hooks") / "pki") as running:
        yield running


@pytest.fixture
def hooks(http: Api, server: Any, namespace: str) -> Webhooks:
    server.handlers.clear()
    server.seen.clear()
    return Webhooks(http, server, namespace)


REFUSALS = [
    pytest.param({"message": "no"}, 400, "", ': no', id="a message"),
    pytest.param({"reason": "Odd"}, 400, "Odd", ": Odd", id="a reason"),
    pytest.param({}, 400, "", " without explanation", id="nothing"),
    pytest.param({"message": "no", "code": 422, "reason": "Invalid"}, 422, "Invalid", ": no", id="a code"),
    pytest.param({"message": "no", "code": 201}, 400, "", ": no", id="a code of success"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "reason", "message"), REFUSALS)
def test_a_refusal_has_the_words_of_the_webhook(
    hooks: Webhooks, status: Json, code: int, reason: str, message: str
) -> None:
    hooks.server.handlers["/check"] = refuse(**status)
    with hooks.active("validating", hooks.webhook("check")):
        answer = hooks.create()
    reported = f'admission webhook "check.example.com" denied the request{message}'
    assert (answer.status, answer.body.get("reason", ""), answer.body["message"]) == (code, reason, reported)
    assert hooks.http.get(core(hooks.namespace, "configmaps", "a")).status == 404


def test_what_a_webhook_allows_is_written(hooks: Webhooks) -> None:
    with hooks.active("validating", hooks.webhook("check")):
        assert hooks.create().status == 201
    assert len(hooks.asked("/check")) == 1


def test_a_webhook_is_called_about_a_new_object(hooks: Webhooks) -> None:
    with hooks.active("validating", hooks.webhook("check")):
        made = hooks.http.post(f"{core(hooks.namespace, 'configmaps')}?fieldManager=me", a_config_map("a")).body
    [request] = hooks.asked("/check")
    kind, resource = ({"group": "", "version": "v1", key: value} for key, value in WHAT)
    assert (request["kind"], request["requestKind"]) == (kind, kind)
    assert (request["resource"], request["requestResource"]) == (resource, resource)
    assert (request["name"], request["namespace"], request["operation"]) == ("a", hooks.namespace, "CREATE")
    assert (request["oldObject"], request["dryRun"], "subResource" in request) == (None, False, False)
    assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}
    assert "system:masters" in request["userInfo"]["groups"]
    assert request["userInfo"]["username"] == "admin"
    assert request["object"]["data"] == {"k": "v"}
    assert request["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert (request["object"]["kind"], request["object"]["apiVersion"]) == ("ConfigMap", "v1")


WHAT = (("kind", "ConfigMap"), ("resource", "configmaps"))


def test_a_webhook_is_called_about_an_update(hooks: Webhooks) -> None:
    hooks.create()
    with hooks.active("validating", hooks.webhook("check", rules=[a_rule("UPDATE")])):
        hooks.http.patch(core(hooks.namespace, "configmaps", "a"), {"data": {"k": "w"}})
    [request] = hooks.asked("/check")
    assert request["operation"] == "UPDATE"
    assert (request["oldObject"]["data"], request["object"]["data"]) == ({"k": "v"}, {"k": "w"})
    assert request["options"]["kind"] == "UpdateOptions"


def test_an_update_that_changes_nothing_is_asked_about(hooks: Webhooks) -> None:
    hooks.create()
    with hooks.active("validating", hooks.webhook("check", rules=[a_rule("UPDATE")])):
        hooks.http.patch(core(hooks.namespace, "configmaps", "a"), {"data": {"k": "v"}})
    assert len(hooks.asked("/check")) == 1


def test_a_webhook_is_called_about_a_deletion(hooks: Webhooks) -> None:
    hooks.create()
    hooks.server.handlers["/check"] = refuse(message="it stays")
    with hooks.active("validating", hooks.webhook("check", rules=[a_rule("DELETE")])):
        answer = hooks.http.delete(core(hooks.namespace, "configmaps", "a"), {"gracePeriodSeconds": 0})
    [request] = hooks.asked("/check")
    assert (request["operation"], request["name"], request["object"]) == ("DELETE", "a", None)
    assert request["oldObject"]["data"] == {"k": "v"}
    assert (request["options"]["kind"], request["options"]["gracePeriodSeconds"]) == ("DeleteOptions", 0)
    assert "it stays" in answer.body["message"]
    assert hooks.http.get(core(hooks.namespace, "configmaps", "a")).status == 200


def test_a_webhook_is_asked_about_each_object_of_a_collection(hooks: Webhooks) -> None:
    for name in ("a", "b"):
        hooks.create(name, labels={"mine": "yes"})
    with hooks.active("validating", hooks.webhook("check", rules=[a_rule("DELETE")])):
        hooks.http.delete(f"{core(hooks.namespace, 'configmaps')}?labelSelector=mine")
    requests = hooks.asked("/check")
    assert sorted(one["oldObject"]["metadata"]["name"] for one in requests) == ["a", "b"]
    assert [one.get("name", "") for one in requests] == ["", ""]


def test_the_status_is_a_subresource_of_its_own(hooks: Webhooks) -> None:
    """Of an Ingress, because no controller writes in it meanwhile, so that a request would be tried again."""
    ingresses = f"/apis/networking.k8s.io/v1/namespaces/{hooks.namespace}/ingresses"
    backend = {"service": {"name": "a", "port": {"number": 80}}}
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}}
    hooks.http.post(ingresses, {**made, "spec": {"defaultBackend": backend}})
    rules = [a_rule("UPDATE", group="networking.k8s.io", resource="ingresses/status")]
    with hooks.active("validating", hooks.webhook("check", rules=rules)):
        hooks.http.patch(f"{ingresses}/i", {"spec": {"ingressClassName": "other"}})
        hooks.http.patch(f"{ingresses}/i/status", {"status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}})
    found = [(one["subResource"], one["requestSubResource"]) for one in hooks.asked("/check")]
    assert found == [("status", "status")]


def test_a_scale_is_an_object_of_its_own(hooks: Webhooks) -> None:
    hooks.http.post(apps(hooks.namespace), a_deployment())
    hooks.server.handlers["/check"] = refuse(message="too many")
    rules = [a_rule("UPDATE", group="apps", resource="deployments/scale")]
    with hooks.active("validating", hooks.webhook("check", rules=rules)):
        answer = hooks.http.patch(f"{apps(hooks.namespace, 'd')}/scale", {"spec": {"replicas": 9}})
    request = hooks.asked("/check")[0]
    assert (request["object"]["kind"], request["object"]["spec"]) == ("Scale", {"replicas": 9})
    assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (request["resource"]["resource"], request["oldObject"]["spec"]) == ("deployments", {"replicas": 1})
    assert "too many" in answer.body["message"]


def test_a_generated_name_is_seen_by_validating_webhooks_only(hooks: Webhooks) -> None:
    with hooks.active("validating", hooks.webhook("check")), hooks.active("mutating", hooks.webhook("change")):
        made = hooks.http.post(core(hooks.namespace, "configmaps"), {"metadata": {"generateName": "a-"}}).body
    [change], [check] = hooks.asked("/change"), hooks.asked("/check")
    assert "name" not in change["object"]["metadata"]
    assert "uid" not in change["object"]["metadata"]
    assert check["object"]["metadata"]["name"] == made["metadata"]["name"]
    assert (change.get("name", ""), check["name"]) == ("", made["metadata"]["name"])


def test_a_patch_of_a_webhook_changes_the_object(hooks: Webhooks) -> None:
    hooks.server.handlers["/change"] = patch({"op": "add", "path": "/data/more", "value": "x"})
    with hooks.active("mutating", hooks.webhook("change")):
        assert hooks.create().body["data"] == {"k": "v", "more": "x"}


def test_what_a_webhook_changes_is_nobodys(hooks: Webhooks) -> None:
    hooks.server.handlers["/change"] = patch({"op": "add", "path": "/data/more", "value": "x"})
    with hooks.active("mutating", hooks.webhook("change")):
        made = hooks.create().body
    [owned] = made["metadata"]["managedFields"]
    assert "f:k" in owned["fieldsV1"]["f:data"]
    assert "f:more" not in owned["fieldsV1"]["f:data"]


def test_a_changed_object_is_checked(hooks: Webhooks) -> None:
    hooks.server.handlers["/change"] = patch({"op": "add", "path": "/data/bad~1key", "value": "x"})
    with hooks.active("mutating", hooks.webhook("change")):
        assert hooks.create().status == 422


def test_validating_webhooks_see_what_mutating_ones_made(hooks: Webhooks) -> None:
    hooks.server.handlers["/change"] = patch({"op": "replace", "path": "/data/k", "value": "x"})
    with hooks.active("mutating", hooks.webhook("change")), hooks.active("validating", hooks.webhook("check")):
        hooks.create()
    assert hooks.asked("/check")[0]["object"]["data"] == {"k": "x"}


def test_mutating_webhooks_come_one_after_the_other(hooks: Webhooks) -> None:
    hooks.server.handlers["/one"] = patch({"op": "replace", "path": "/data/k", "value": "x"})
    with hooks.active("mutating", hooks.webhook("one"), hooks.webhook("two")):
        hooks.create()
    assert hooks.asked("/two")[0]["object"]["data"] == {"k": "x"}


def once(handler: Handler) -> Handler:
    """The patch of a webhook that has nothing to change when it is asked again."""
    return lambda request: handler(request) if "more" not in request["object"]["data"] else allow(request)


@pytest.mark.parametrize(("policy", "calls"), [("Never", 1), ("IfNeeded", 2)])
def test_a_webhook_is_asked_again_after_a_change(hooks: Webhooks, policy: str, calls: int) -> None:
    hooks.server.handlers["/two"] = once(patch({"op": "add", "path": "/data/more", "value": "x"}))
    with hooks.active("mutating", hooks.webhook("one", reinvocationPolicy=policy), hooks.webhook("two")):
        hooks.create()
    assert len(hooks.asked("/one")) == calls
    assert len(hooks.asked("/two")) == 1


def test_a_webhook_is_not_asked_again_after_its_own_change(hooks: Webhooks) -> None:
    hooks.server.handlers["/one"] = once(patch({"op": "add", "path": "/data/more", "value": "x"}))
    with hooks.active("mutating", hooks.webhook("one", reinvocationPolicy="IfNeeded")):
        hooks.create()
    assert len(hooks.asked("/one")) == 1


def test_a_webhook_may_warn(hooks: Webhooks) -> None:
    hooks.server.handlers["/check"] = lambda _: {"allowed": True, "warnings": ["mind the gap"]}
    with hooks.active("validating", hooks.webhook("check")):
        assert hooks.create().headers["Warning"] == '299 - "mind the gap"'


def test_a_dry_run_is_asked_about(hooks: Webhooks) -> None:
    hooks.server.handlers["/check"] = refuse(message="not even now")
    with hooks.active("validating", hooks.webhook("check")):
        answer = hooks.http.post(f"{core(hooks.namespace, 'configmaps')}?dryRun=All", a_config_map("a"))
    [request] = hooks.asked("/check")
    assert (request["dryRun"], request["options"]["dryRun"]) == (True, ["All"])
    assert answer.status == 400


def test_server_side_apply_is_asked_about(hooks: Webhooks) -> None:
    path = f"{core(hooks.namespace, 'configmaps', 'a')}?fieldManager=me"
    hooks.server.handlers["/change"] = patch({"op": "add", "path": "/data/more", "value": "x"})
    rules = [a_rule("CREATE", "UPDATE")]
    with hooks.active("mutating", hooks.webhook("change", rules=rules)):
        made = hooks.http.patch(path, a_config_map("a"), "apply-patch+yaml")
        hooks.http.patch(path, a_config_map("a", {"k": "w"}), "apply-patch+yaml")
    assert (made.status, made.body["data"]) == (201, {"k": "v", "more": "x"})
    assert [one["operation"] for one in hooks.asked("/change")] == ["CREATE", "UPDATE"]
    assert [one["options"]["kind"] for one in hooks.asked("/change")] == ["CreateOptions", "UpdateOptions"]


BROKEN = [
    pytest.param(lambda _: b"no json", "couldn't get version/kind", id="no JSON"),
    pytest.param(lambda _: b"{}", "", id="no review"),
    pytest.param(lambda _: {"allowed": True, "uid": "x"}, "expected response.uid=", id="another uid"),
    pytest.param(lambda _: 500, "an error on the server", id="an error"),
    pytest.param(lambda _: 404, "could not find the requested resource", id="not found"),
    pytest.param(patch({"op": "add", "path": "/a", "value": 1}), "may not return response.patch", id="a patch"),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "reported"), BROKEN)
def test_a_failed_call_refuses_the_write(hooks: Webhooks, handler: Handler, reported: str) -> None:
    hooks.server.handlers["/check"] = handler
    with hooks.active("validating", hooks.webhook("check")):
        answer = hooks.create()
    assert (answer.status, answer.body["reason"]) == (500, "InternalError")
    assert answer.body["message"].startswith('Internal error occurred: failed calling webhook "check.example.com": ')
    assert reported in answer.body["message"]


@pytest.mark.parametrize("kind", ["validating", "mutating"])
def test_a_failed_call_does_not_matter_to_the_policy_ignore(hooks: Webhooks, kind: str) -> None:
    hooks.server.handlers["/check"] = lambda _: 500
    with hooks.active(kind, hooks.webhook("check", failurePolicy="Ignore")):
        assert hooks.create().status == 201
    assert len(hooks.asked("/check")) == 1


def test_a_refusal_matters_to_the_policy_ignore(hooks: Webhooks) -> None:
    hooks.server.handlers["/check"] = refuse(message="no")
    with hooks.active("validating", hooks.webhook("check", failurePolicy="Ignore")):
        assert hooks.create().status == 400


MISTRUST = [
    pytest.param(("IP:127.0.0.1",), "certificate signed by unknown authority", id="another CA"),
    pytest.param((), "certificate signed by unknown authority", id="no CA"),
]


@pytest.mark.parametrize(("names", "reported"), MISTRUST)
def test_a_webhook_has_to_prove_who_it_is(
    hooks: Webhooks, tmp_path: Path, names: tuple[str, ...], reported: str
) -> None:
    client = {"url": hooks.server.client("/check")["url"]}
    if names:
        with running_webhooks(tmp_path / "other", *names) as other:
            client["caBundle"] = other.authority
    with hooks.active("validating", hooks.webhook("check", clientConfig=client)):
        answer = hooks.create()
    assert f'failed to call webhook: Post "{client["url"]}?timeout=10s": tls: ' in answer.body["message"]
    assert reported in answer.body["message"]


def test_the_name_of_a_webhook_is_checked(hooks: Webhooks, tmp_path: Path) -> None:
    with running_webhooks(tmp_path / "pki", "DNS:other.example.com") as other:
        with hooks.active("validating", hooks.webhook("check", clientConfig=other.client("/check"))):
            answer = hooks.create()
        assert "tls: failed to verify certificate: x509: " in answer.body["message"]
        assert other.seen == []


def test_a_webhook_that_is_not_there_refuses(hooks: Webhooks) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and nobody listens
        client = {**hooks.server.client(""), "url": f"https://127.0.0.1:{silent.getsockname()[1]}/check"}
        with hooks.active("validating", hooks.webhook("check", clientConfig=client)):
            message = hooks.create().body["message"]
    assert f'Post "{client["url"]}?timeout=10s": dial tcp 127.0.0.1:' in message
    assert message.endswith("connect: connection refused")


def test_a_slow_webhook_is_given_up(hooks: Webhooks) -> None:
    def wait(request: Json) -> Json:
        time.sleep(1.5)
        return allow(request)

    hooks.server.handlers["/check"] = wait
    with hooks.active("validating", hooks.webhook("check", timeoutSeconds=1)):
        assert '?timeout=1s": context deadline exceeded' in hooks.create().body["message"]


SERVICE = {"name": "absent", "namespace": "", "path": "/check"}


def test_a_service_that_is_not_there_refuses(hooks: Webhooks) -> None:
    client = {"service": {**SERVICE, "namespace": hooks.namespace}, "caBundle": hooks.server.authority}
    with hooks.active("validating", hooks.webhook("check", clientConfig=client)):
        message = hooks.create().body["message"]
    url = f"https://absent.{hooks.namespace}.svc:443/check?timeout=10s"
    assert message.endswith(f'failed to call webhook: Post "{url}": service "absent" not found')


def matching(**more: Json) -> Json:
    return {"rules": [a_rule()], **more}


DESIRED = [
    pytest.param(matching(rules=[a_rule("*")]), True, id="every operation"),
    pytest.param(matching(rules=[a_rule("UPDATE")]), False, id="another operation"),
    pytest.param(matching(rules=[a_rule(group="*", version="*", resource="*")]), True, id="everything"),
    pytest.param(matching(rules=[a_rule(resource="*/*")]), True, id="everything with subresources"),
    pytest.param(matching(rules=[a_rule(resource="configmaps/status")]), False, id="a subresource"),
    pytest.param(matching(rules=[a_rule(group="apps")]), False, id="another group"),
    pytest.param(matching(rules=[a_rule(version="v2")]), False, id="another version"),
    pytest.param(matching(rules=[{**a_rule(), "scope": "Cluster"}]), False, id="objects of the cluster"),
    pytest.param(matching(rules=[{**a_rule(), "scope": "Namespaced"}]), True, id="objects of namespaces"),
    pytest.param(matching(objectSelector={"matchLabels": {"a": "b"}}), False, id="other labels"),
    pytest.param(matching(objectSelector={"matchLabels": {"mine": "yes"}}), True, id="these labels"),
    pytest.param(matching(namespaceSelector={"matchLabels": {"a": "b"}}), False, id="other namespaces"),
    pytest.param(matching(matchConditions=[{"name": "a", "expression": "object.data.k == 'v'"}]), True, id="CEL"),
    pytest.param(matching(matchConditions=[{"name": "a", "expression": "object.data.k == 'w'"}]), False, id="not CEL"),
    pytest.param(
        matching(matchConditions=[{"name": "a", "expression": "request.userInfo.username != 'admin'"}]), False,
        id="CEL about the request",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "is_asked"), DESIRED)
def test_rules_selectors_and_conditions_choose(hooks: Webhooks, settings: Json, is_asked: bool) -> None:
    with hooks.active("validating", hooks.webhook("check", **settings)):
        assert hooks.create(labels={"mine": "yes"}).status == 201
    about = [one for one in hooks.asked("/check") if one.get("name") == "a"]
    assert len(about) == is_asked


@pytest.mark.parametrize(("policy", "status"), [("Fail", 403), ("Ignore", 201)])
def test_a_condition_that_cannot_be_evaluated_is_a_failure(hooks: Webhooks, policy: str, status: int) -> None:
    conditions = [{"name": "a", "expression": "object.data.absent == 'v'"}]
    with hooks.active("validating", hooks.webhook("check", matchConditions=conditions, failurePolicy=policy)):
        assert hooks.create().status == status
    assert hooks.asked("/check") == []


@pytest.mark.parametrize(("policy", "found"), [("Equivalent", ["v1"]), ("Exact", [])])
def test_another_version_of_the_kind_is_equivalent(hooks: Webhooks, word: str, policy: str, found: list[str]) -> None:
    definition = a_definition(word)
    [version] = definition["spec"]["versions"]
    definition["spec"]["versions"].append({**version, "name": "v2", "storage": False})
    base = define(hooks.http, definition).replace("/v1", "/v2")
    rules = [a_rule(group=f"{word}.example.com", resource="widgets")]
    widget = {**a_widget(word), "apiVersion": f"{word}.example.com/v2"}
    with hooks.active("validating", hooks.webhook("check", rules=rules, matchPolicy=policy)):
        made = hooks.http.post(f"{base}/namespaces/{hooks.namespace}/widgets", widget)
    assert made.status == 201, made.body
    requests = hooks.asked("/check")
    assert [one["kind"]["version"] for one in requests] == found
    assert all(one["requestKind"]["version"] == "v2" for one in requests)
    assert all(one["object"]["apiVersion"] == f"{word}.example.com/v1" for one in requests)


def test_a_namespace_is_selected_by_its_own_labels(hooks: Webhooks, word: str) -> None:
    hooks.server.handlers["/check"] = refuse(message="not this one")
    settings = {"rules": [a_rule(resource="namespaces")], "namespaceSelector": {"matchLabels": {"refuse": word}}}
    with hooks.active("validating", hooks.webhook("check", **settings)):
        metadata = {"name": f"{word}-n", "labels": {"refuse": word}}
        answer = hooks.http.post("/api/v1/namespaces", {"metadata": metadata})
    assert answer.status == 400
    assert hooks.asked("/check")[0]["namespace"] == f"{word}-n"


def test_a_webhook_may_write_meanwhile(hooks: Webhooks) -> None:
    def write(_: Json) -> Json:
        other = hooks.http.again().post(core(hooks.namespace, "secrets"), {"metadata": {"name": "s"}})
        return {"allowed": other.status == 201}

    hooks.server.handlers["/check"] = write
    with hooks.active("validating", hooks.webhook("check")):
        assert hooks.create().status == 201
    assert len(hooks.asked("/check")) == 1


def test_the_defaults_of_a_configuration_are_set(hooks: Webhooks) -> None:
    webhook = {
        "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "s", "namespace": "absent"}},
        "rules": [a_rule(resource="absent", group="absent.example.com")],
    }  # fmt: skip
    with hooks.stored("mutating", webhook) as made:
        [found] = made["webhooks"]
    assert (found["failurePolicy"], found["matchPolicy"], found["timeoutSeconds"]) == ("Fail", "Equivalent", 10)
    assert (found["namespaceSelector"], found["objectSelector"], found["reinvocationPolicy"]) == ({}, {}, "Never")
    assert (found["clientConfig"]["service"]["port"], found["rules"][0]["scope"]) == (443, "*")
