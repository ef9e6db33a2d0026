"""Webhooks and aggregated APIs that cannot work: warnings, because the reference refuses nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.authoring.validation.world import (
    a_crd,
    a_csv,
    a_deployment,
    errors,
    installing,
    modes,
    warnings,
)

RULE = {"apiGroups": ["tea.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pots"]}
PORTS = [{"name": "hooks", "containerPort": 443}, {"containerPort": 9443}]


def a_webhook(**fields: Any) -> dict[str, Any]:
    declared = {
        "generateName": "pots.tea.io", "type": "ValidatingAdmissionWebhook", "deploymentName": "tea", "rules": [RULE],
        "sideEffects": "None", "admissionReviewVersions": ["v1"], **fields,
    }  # fmt: skip
    return {name: value for name, value in declared.items() if value is not None}


def a_conversion(**fields: Any) -> dict[str, Any]:
    return a_webhook(**{
        "type": "ConversionWebhook", "conversionCRDs": ["pots.tea.io"], "generateName": "pots", "rules": None,
        "sideEffects": "Some", **fields,
    })  # fmt: skip


def reported(*webhooks: dict[str, Any], crd: Any = None, **spec: Any) -> list[str]:
    """The warnings about a bundle with these webhooks, which has no error."""
    install = installing(a_deployment(containers=[{"name": "c", "image": "quay.io/acme/tea:1", "ports": PORTS}]))
    csv = a_csv(webhookdefinitions=list(webhooks), install=install, installModes=modes("AllNamespaces"), **spec)
    others = {} if crd is None else {"crd": crd}
    assert errors(csv=csv, **others) == []
    return warnings(csv=csv, **others)


SOUND = [
    pytest.param(a_webhook(), id="validating"),
    pytest.param(a_webhook(type="MutatingAdmissionWebhook", webhookPath="/change", timeoutSeconds=30), id="mutating"),
    pytest.param(a_webhook(containerPort=9443), id="port"),
    pytest.param(a_webhook(containerPort=444, targetPort=9443), id="another port of the Pods"),
    pytest.param(a_webhook(targetPort="hooks"), id="the name of a port"),
    pytest.param(a_webhook(rules=[{**RULE, "apiGroups": [""], "resources": ["configmaps"]}]), id="other objects"),
    pytest.param(
        a_webhook(rules=[{**RULE, "apiGroups": [""], "resources": ["pods"]}], failurePolicy="Ignore"),
        id="pods, if it answers",
    ),
    pytest.param(
        a_webhook(
            rules=[{**RULE, "apiGroups": [""], "resources": ["pods"]}], objectSelector={"matchLabels": {"a": "b"}}
        ),
        id="some pods",
    ),
    pytest.param(
        a_webhook(rules=[{**RULE, "apiGroups": [""], "resources": ["pods"], "operations": ["DELETE"]}]),
        id="pods that go",
    ),
    pytest.param(
        a_webhook(rules=[{**RULE, "apiGroups": ["admissionregistration.k8s.io"], "resources": ["x"]}]),
        id="csv.md 7.6: other objects of the group of webhooks",
    ),
    pytest.param(a_conversion(), id="conversion"),
]  # fmt: skip


@pytest.mark.parametrize("webhook", SOUND)
def test_a_sound_webhook_is_not_warned_of(webhook: dict[str, Any]) -> None:
    assert reported(webhook) == []


PODS = "is asked about every new object of pods, its own among them, and refuses it while it does not answer: state an "
BROKEN = [
    pytest.param({"type": "Webhook"}, 'has the unknown type "Webhook", so nothing calls it', id="type"),
    pytest.param(
        {"deploymentName": "cup"}, 'is served by Deployment "cup", which the version does not install', id="Deployment"
    ),
    pytest.param(
        {"deploymentName": None}, 'is served by Deployment "", which the version does not install', id="no Deployment"
    ),
    pytest.param(
        {"containerPort": 8443}, 'is called at port 8443, which no container of Deployment "tea" declares', id="port"
    ),
    pytest.param(
        {"targetPort": "web"}, 'is called at port web, which no container of Deployment "tea" declares',
        id="name of a port",
    ),
    pytest.param(
        {"sideEffects": "Some"}, 'has sideEffects "Some": the API server takes None or NoneOnDryRun', id="side effects"
    ),
    pytest.param(
        {"admissionReviewVersions": ["v2"]}, "names neither v1 nor v1beta1 in admissionReviewVersions", id="reviews"
    ),
    pytest.param({"timeoutSeconds": 31}, "has timeoutSeconds 31: the API server takes 1 to 30", id="too long"),
    pytest.param({"timeoutSeconds": 0}, "has timeoutSeconds 0: the API server takes 1 to 30", id="no time"),
    pytest.param(
        {"webhookPath": "check"}, 'has the webhookPath "check", which does not begin with a slash', id="path"
    ),
    pytest.param(
        {"rules": [{**RULE, "apiGroups": ["*"]}]}, "is refused: webhook rules cannot include all groups",
        id="csv.md 7.6: all groups",
    ),
    pytest.param(
        {"rules": [{**RULE, "apiGroups": ["operators.coreos.com"]}]},
        "is refused: webhook rules cannot include the OLM group", id="csv.md 7.6: the group of OLM",
    ),
    *(
        pytest.param(
            {"rules": [{**RULE, "apiGroups": ["admissionregistration.k8s.io"], "resources": [resource]}]},
            "is refused: webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration "
            "resources",
            id=f"csv.md 7.6: {resource}",
        )
        for resource in ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
    ),
    pytest.param(
        {"rules": [{**RULE, "apiGroups": [""], "resources": ["pods"]}]},
        f"{PODS}objectSelector, or failurePolicy Ignore", id="its own Pods",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "why"), BROKEN)
def test_a_webhook_that_cannot_work_is_warned_of(fields: dict[str, Any], why: str) -> None:
    assert reported(a_webhook(**fields)) == [f'webhook "pots.tea.io" {why}']


@pytest.mark.parametrize("name", ["pots", "tea.io", "Pots.tea.io", ""])
def test_a_webhook_needs_a_name_that_the_api_server_takes(name: str) -> None:
    why = "needs a domain with at least three segments as generateName: the API server refuses others"
    assert reported(a_webhook(generateName=name)) == [f'webhook "{name}" {why}']


CONVERSIONS = [
    pytest.param({"conversionCRDs": []}, "names no definition in conversionCRDs", id="csv.md 7.6: none"),
    pytest.param(
        {"conversionCRDs": ["cups.tea.io"]},
        "converts CRD cups.tea.io, which spec.customresourcedefinitions.owned does not name",
        id="csv.md 7.6: one of somebody else",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "why"), CONVERSIONS)
def test_a_conversion_that_cannot_work_is_warned_of(fields: dict[str, Any], why: str) -> None:
    assert reported(a_conversion(**fields)) == [f'webhook "pots" {why}']


def test_a_definition_that_keeps_unknown_fields_is_an_error_already() -> None:
    """csv.md 7.6: the API server would not call its webhook."""
    [found] = errors(crd=a_crd(preserveUnknownFields=True))
    assert "spec.preserveUnknownFields: Invalid value: true: cannot set to true" in found


@pytest.mark.parametrize("kind", ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"])
def test_webhooks_have_different_names_csv_md_18_row_102(kind: str) -> None:
    """Of whatever type they are: nobody installs such a version."""
    assert reported(a_webhook(), a_webhook(type=kind)) == [
        'webhook "pots.tea.io" is defined 2 times: OLM refuses the version'
    ]


def test_two_deployments_have_different_services_csv_md_19_23() -> None:
    server = a_deployment(containers=[{"name": "c", "image": "quay.io/acme/tea:1", "ports": PORTS}])
    twins = [{**server, "name": name} for name in ("a.b", "a-b")]
    hooks = [a_webhook(deploymentName="a.b"), a_webhook(deploymentName="a-b", generateName="cups.tea.io")]
    csv = a_csv(webhookdefinitions=hooks, install=installing(*twins), installModes=modes("AllNamespaces"))
    assert [one.partition(":")[0] for one in warnings(csv=csv)] == [
        "two Deployments of the strategy would have the Service 'a-b-service'"
    ]


def test_one_webhook_converts_a_definition() -> None:
    assert reported(a_conversion(), a_conversion(generateName="more")) == [
        "2 webhooks convert the objects of CRD pots.tea.io: only one of them is called"
    ]


def test_a_definition_that_asks_for_a_webhook_is_converted_by_one() -> None:
    client = {"service": {"name": "s", "namespace": "n"}}
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}
    why = "is converted by a Service, but no webhook of the version names it in conversionCRDs"
    assert reported(crd=a_crd(conversion=conversion)) == [f"CRD pots.tea.io {why}"]
    assert reported(a_conversion(), crd=a_crd(conversion=conversion)) == []


@pytest.mark.parametrize(
    ("deployment", "found"),
    [
        pytest.param("tea", [], id="it is installed"),
        pytest.param(
            "cup", ['API service "v1.cups.tea.io" is served by Deployment "cup", which the version does not install'],
            id="it is not installed",
        ),
    ],
)  # fmt: skip
def test_an_api_service_is_served_by_a_deployment(deployment: str, found: list[str]) -> None:
    api = {"name": "cups", "kind": "Cup", "group": "cups.tea.io", "version": "v1", "deploymentName": deployment}
    assert [one for one in reported(apiservicedefinitions={"owned": [api]}) if "example" not in one] == found
