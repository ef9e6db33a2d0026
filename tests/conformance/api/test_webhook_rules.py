"""What a webhook configuration has to be like."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.webhooks import CONFIGURATIONS, a_rule
from tests.conformance.http import Api

Json = Any
SERVICE: Json = {"name": "s", "namespace": "absent"}


def a_webhook(**more: Json) -> Json:
    settings = {
        "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": SERVICE}, "rules": [a_rule(group="absent.example.com")], **more,
    }  # fmt: skip
    return {name: value for name, value in settings.items() if value is not None}


def ruled(**more: Json) -> Json:
    return {"rules": [{**a_rule(group="absent.example.com"), **more}]}


def served(**more: Json) -> Json:
    return {"clientConfig": {"service": {**SERVICE, **more}}}


def selected(**more: Json) -> Json:
    return {"objectSelector": {"matchExpressions": [{"key": "a", **more}]}}


def conditional(*expressions: str, name: str = "n") -> Json:
    return {"matchConditions": [{"name": name, "expression": one} for one in expressions]}


DEFECTS = [
    pytest.param({"name": "a.b"}, "name", id="a name of two segments"),
    pytest.param({"name": "A.b.c"}, "name", id="a name in capitals"),
    pytest.param({"name": ""}, "name", id="no name"),
    pytest.param({"sideEffects": None}, "sideEffects", id="no side effects"),
    pytest.param({"sideEffects": "Some"}, "sideEffects", id="side effects"),
    pytest.param({"failurePolicy": "Maybe"}, "failurePolicy", id="failure policy"),
    pytest.param({"matchPolicy": "Maybe"}, "matchPolicy", id="match policy"),
    pytest.param({"timeoutSeconds": 31}, "timeoutSeconds", id="too long"),
    pytest.param({"admissionReviewVersions": []}, "admissionReviewVersions", id="no version"),
    pytest.param({"admissionReviewVersions": ["v9"]}, "admissionReviewVersions", id="no known version"),
    pytest.param({"admissionReviewVersions": ["v1", "v1"]}, "admissionReviewVersions[1]", id="a version twice"),
    pytest.param(ruled(operations=[]), "rules[0].operations", id="no operations"),
    pytest.param(ruled(operations=["*", "CREATE"]), "rules[0].operations", id="all operations and one"),
    pytest.param(ruled(operations=["create"]), "rules[0].operations[0]", id="no operation"),
    pytest.param(ruled(apiGroups=[]), "rules[0].apiGroups", id="no groups"),
    pytest.param(ruled(apiGroups=["*", "a"]), "rules[0].apiGroups", id="all groups and one"),
    pytest.param(ruled(apiVersions=[""]), "rules[0].apiVersions[0]", id="an empty version"),
    pytest.param(ruled(resources=["*", "pods"]), "rules[0].resources", id="all resources and one"),
    pytest.param(ruled(resources=["pods/*", "pods/log"]), "rules[0].resources[1]", id="all subresources and one"),
    pytest.param(ruled(resources=["*/*", "pods"]), "rules[0].resources", id="everything and more"),
    pytest.param(ruled(scope="World"), "rules[0].scope", id="scope"),
    pytest.param({"clientConfig": {}}, "clientConfig", id="no address"),
    pytest.param({"clientConfig": {"url": "https://a", "service": SERVICE}}, "clientConfig", id="two addresses"),
    pytest.param({"clientConfig": {"url": "http://a"}}, "clientConfig.url", id="no TLS"),
    pytest.param({"clientConfig": {"url": "https://a?b=c"}}, "clientConfig.url", id="a query"),
    pytest.param({"clientConfig": {"url": "https://u:p@a"}}, "clientConfig.url", id="a user"),
    pytest.param({"clientConfig": {"url": "https://a#b"}}, "clientConfig.url", id="a fragment"),
    pytest.param(served(port=70000), "clientConfig.service.port", id="port"),
    pytest.param(served(path="ab"), "clientConfig.service.path", id="a relative path"),
    pytest.param(served(path="/a//b"), "clientConfig.service.path", id="an empty segment"),
    pytest.param(served(path="/A_b"), "clientConfig.service.path", id="a segment in capitals"),
    pytest.param(selected(operator="In"), "objectSelector.matchExpressions[0].values", id="no values"),
    pytest.param(selected(operator="Is"), "objectSelector.matchExpressions[0].operator", id="operator"),
    pytest.param(conditional(""), "matchConditions[0].expression", id="no expression"),
    pytest.param(conditional("object +"), "matchConditions[0].expression", id="no CEL"),
    pytest.param(conditional("'a'"), "matchConditions[0].expression", id="no condition"),
    pytest.param(conditional("true", "false"), "matchConditions[1].name", id="a condition twice"),
    pytest.param(conditional("true", name=""), "matchConditions[0].name", id="a condition without a name"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["validating", "mutating"])
@pytest.mark.parametrize(("settings", "path"), DEFECTS)
def test_a_webhook_has_to_be_valid(http: Api, word: str, settings: Json, path: str, kind: str) -> None:
    answer = http.post(CONFIGURATIONS.format(kind), {"metadata": {"name": word}, "webhooks": [a_webhook(**settings)]})
    assert answer.status == 422, answer.body
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [f"webhooks[0].{path}"]


MESSAGES = [
    pytest.param({"name": "a.b"}, "should be a domain with at least three segments separated by dots", id="name"),
    pytest.param({"sideEffects": "Some"}, '"Some": supported values: "None", "NoneOnDryRun"', id="side effects"),
    pytest.param({"timeoutSeconds": 31}, "31: the timeout value must be between 1 and 30 seconds", id="time"),
    pytest.param({"timeoutSeconds": 0}, "0: the timeout value must be between 1 and 30 seconds", id="no time"),
    pytest.param({"clientConfig": {}}, "Required value: exactly one of url or service is required", id="address"),
    pytest.param(
        ruled(apiGroups=["*", "a"]), 'Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
        id="groups",
    ),
    pytest.param(
        {"clientConfig": {"url": "http://a"}},
        '"http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]', id="scheme",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "reported"), MESSAGES)
def test_a_defect_has_known_words(http: Api, word: str, settings: Json, reported: str) -> None:
    webhooks = [a_webhook(**settings)]
    answer = http.post(CONFIGURATIONS.format("validating"), {"metadata": {"name": word}, "webhooks": webhooks})
    assert reported in answer.body["message"]


def test_the_names_of_webhooks_are_unique(http: Api, word: str) -> None:
    webhooks = [a_webhook(), a_webhook()]
    answer = http.post(CONFIGURATIONS.format("validating"), {"metadata": {"name": word}, "webhooks": webhooks})
    assert answer.body["details"]["causes"] == [
        {"reason": "FieldValueDuplicate", "message": 'Duplicate value: "a.example.com"', "field": "webhooks[1].name"}
    ]


def test_the_reinvocation_policy_is_known(http: Api, word: str) -> None:
    webhooks = [a_webhook(reinvocationPolicy="Always")]
    answer = http.post(CONFIGURATIONS.format("mutating"), {"metadata": {"name": word}, "webhooks": webhooks})
    assert "webhooks[0].reinvocationPolicy" in answer.body["message"]
