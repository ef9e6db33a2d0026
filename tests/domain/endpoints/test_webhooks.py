"""Configurations of admission webhooks: for whom they are, and what they may see."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, OperatorGroup, Webhook, WebhookConfiguration
from shared.domain.endpoints import webhooks
from tests.domain.csv.builders import a_group
from tests.domain.endpoints.builders import a_rule, a_server, a_webhook

CSV = Csv(a_server(a_webhook()))
UID = {"namespaceSelector": {"matchLabels": {"olm.operatorgroup.uid/uid-og": ""}}}
SELECTOR = {"matchLabels": {"team": "a"}}


def a_selecting(*targets: str, **spec: Any) -> OperatorGroup:
    group = a_group(targets=targets)
    return OperatorGroup({**group, "spec": spec})


@pytest.mark.parametrize(
    ("group", "want"),
    [
        pytest.param(a_selecting(""), {}, id="csv.md 18 row 100: all namespaces"),
        pytest.param(a_selecting("a", targetNamespaces=["a"]), UID, id="csv.md 18 row 99: listed ones"),
        pytest.param(a_selecting("a", selector=SELECTOR), {"namespaceSelector": SELECTOR}, id="csv.md 18 row 98"),
        pytest.param(a_selecting("a"), UID, id="it was for one namespace, and its status is not for all yet"),
        pytest.param(a_selecting(), UID, id="it has not selected anything yet: not all namespaces"),
    ],
)
def test_namespaces(group: OperatorGroup, want: Manifest) -> None:
    assert webhooks.namespace_selector(group) == want


OWN = {("example.com", "things")}
NO_GROUP = {key: value for key, value in a_rule("things").items() if key != "apiGroups"}


@pytest.mark.parametrize(
    ("rule", "want"),
    [
        pytest.param(a_rule("pods", group=""), [a_rule("pods", group="", scope="Namespaced")], id="any scope"),
        pytest.param(
            a_rule("nodes", group="", scope="*"), [a_rule("nodes", group="", scope="Namespaced")],
            id="a rule on nodes matches none: they are in no namespace",
        ),
        pytest.param(a_rule("nodes", group="", scope="Cluster"), [], id="a rule for objects in no namespace goes"),
        pytest.param(a_rule("things", scope="Cluster"), [a_rule("things", scope="Cluster")], id="its own objects"),
        pytest.param(a_rule("things/status"), [a_rule("things/status")], id="and their parts"),
        pytest.param(
            a_rule("things", "others"), [a_rule("things", "others", scope="Namespaced")], id="and those of others"
        ),
        pytest.param(a_rule("*"), [a_rule("*", scope="Namespaced")], id="every resource of a group"),
        pytest.param(
            {**a_rule("things"), "apiGroups": []}, [{**NO_GROUP, "scope": "Namespaced"}], id="no group at all",
        ),
        pytest.param(
            {**a_rule("things"), "apiGroups": ["", "example.com"]},
            [{**a_rule("things"), "apiGroups": ["", "example.com"], "scope": "Namespaced"}], id="also of another group",
        ),
    ],
)  # fmt: skip
def test_scopes_in_a_group_that_is_not_global(rule: Manifest, want: list[Manifest]) -> None:
    hook = Webhook(a_webhook(rules=[rule]))
    group = a_selecting("a", targetNamespaces=["a"])
    (made,) = webhooks.configuration(CSV, hook, group, OWN, bundle="CA")["webhooks"]
    assert made["rules"] == want
    (everywhere,) = webhooks.configuration(CSV, hook, a_selecting(""), OWN, bundle="CA")["webhooks"]
    assert everywhere["rules"] == [{key: value for key, value in rule.items() if value}]


def test_a_configuration_csv_md_7_6() -> None:
    hook = Webhook(a_webhook(kind="Mutating", reinvocationPolicy="IfNeeded", timeoutSeconds=5, webhookPath=None))
    made = webhooks.configuration(CSV, hook, a_selecting(""), (), bundle="CA")
    assert made["kind"] == "MutatingWebhookConfiguration"
    assert made["metadata"]["name"].startswith("v.example.com-")
    assert made["webhooks"] == [{
        "name": "v.example.com", "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "reinvocationPolicy": "IfNeeded", "timeoutSeconds": 5, "rules": [a_rule()],
        "clientConfig": {"caBundle": "Q0E=", "service": {"namespace": "ns", "name": "operator-service", "port": 443}},
    }]  # fmt: skip
    labels = made["metadata"]["labels"]
    assert labels["olm.webhook-description-generate-name"] == "v.example.com"
    assert labels["olm.webhook-description-hash"] == webhooks.digest(hook)


@pytest.mark.parametrize(
    ("description", "want"),
    [
        pytest.param(
            {"rules": [a_rule(typo=1)], "objectSelector": {"matchlabels": {"a": "b"}}},
            {"rules": [a_rule(scope="Namespaced")], "objectSelector": {}},
            id="csv.md 7.6: the API server drops them",
        ),
        pytest.param(
            {"rules": [a_rule(operations="CREATE")]}, {"rules": [a_rule(operations="CREATE", scope="Namespaced")]},
            id="csv.md 4.3-2: what does not fit is refused by the API server",
        ),
    ],
)  # fmt: skip
def test_fields_that_no_api_server_knows(description: Manifest, want: Manifest) -> None:
    """They would be lacking for ever, and the version would never say that its webhooks are installed."""
    made = webhooks.configuration(CSV, Webhook(a_webhook(**description)), a_selecting("a"), (), bundle="CA")
    assert {key: made["webhooks"][0][key] for key in want} == want


def test_a_name_that_no_label_holds_csv_md_19_23() -> None:
    assert len(webhooks.label_value(f"{'a' * 70}.example.com")) <= 63


def test_the_oldest_configuration_counts() -> None:
    """csv.md 18 row 106: those of another webhook or kind are none."""
    labels = {"olm.webhook-description-generate-name": "v.example.com"}
    found = [
        WebhookConfiguration({
            "kind": kind,
            "metadata": {"name": name, "labels": labels, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"},
        })
        for name, kind, labels, day in (
            ("b", "ValidatingWebhookConfiguration", labels, 2), ("a", "ValidatingWebhookConfiguration", labels, 3),
            ("c", "MutatingWebhookConfiguration", labels, 1), ("d", "ValidatingWebhookConfiguration", {}, 1),
        )
    ]  # fmt: skip
    assert [one.name for one in webhooks.of_webhook(found, Webhook(a_webhook()))] == ["b", "a"]
