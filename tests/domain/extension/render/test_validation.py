"""Bundles that OLM v1 refuses, and what it says (v1.md §16.2, §16.3)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.extension.render.validation import CHECKS
from tests.domain.extension.render.bundles import (
    Json,
    a_csv,
    a_definition,
    a_deployment,
    a_webhook,
    about,
    ask,
    error,
    files,
    objects,
)  # fmt: skip

ALONE = "conversion webhooks are only supported for bundles that only support AllNamespaces install mode"
NO_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
OWNED = {"customresourcedefinitions": {"owned": [{"name": "things.demo.io", "version": "v1", "kind": "Thing"}]}}
CERT = {"certProvider": "cert-manager"}


def with_webhooks(*webhooks: Json, **more: Any) -> Json:
    return a_csv(webhookdefinitions=list(webhooks), **more)


def rule(group: str, *resources: str) -> list[Json]:
    return [{"operations": ["CREATE"], "apiGroups": [group], "apiVersions": ["v1"], "resources": list(resources)}]


@pytest.mark.parametrize(
    ("csv", "document", "want"),
    [
        pytest.param(a_csv(apiservicedefinitions={"owned": [{"name": "a", "group": "g", "version": "v", "kind": "K"}]}),
                     {}, "apiServiceDefintions are not supported", id="v1.md 16.2.1: an owned API service"),
        pytest.param(with_webhooks(a_webhook()), {}, "webhookDefinitions are not supported",
                     id="v1.md 16.2.2: webhooks without anybody who makes certificates"),
        pytest.param(a_csv("OwnNamespace"), {"gates": {}}, "bundle does not support AllNamespaces install mode",
                     id="v1.md 16.2.3: one namespace only, with the gate off"),
        pytest.param(a_csv("MultiNamespace"), {}, "bundle must support at least one of "
                     "[AllNamespaces SingleNamespace OwnNamespace] install modes", id="v1.md 16.2.4: many only"),
    ],
)  # fmt: skip
def test_some_bundles_are_not_supported(csv: Json, document: Json, want: str) -> None:
    assert ask(csv, **document) == {"error": f"unsupported bundle: {want}", "terminal": False}


REFUSED = [
    pytest.param(
        a_csv(strategy={"deployments": [a_deployment("b"), a_deployment("a"), a_deployment("b"), a_deployment("a")]}),
        "cluster service version contains duplicate strategy deployment spec 'a'\n"
        "cluster service version contains duplicate strategy deployment spec 'b'",
        id="1: two Deployments of one name, told by name",
    ),
    pytest.param(
        a_csv(strategy={"deployments": [a_deployment("Bad_")]}),
        f"invalid cluster service version strategy deployment name 'Bad_': {NO_SUBDOMAIN}",
        id="2: the name of a Deployment is no name",
    ),
    pytest.param(
        a_csv(strategy={"deployments": [a_deployment("x" * 254)]}),
        f"invalid cluster service version strategy deployment name '{'x' * 254}': must be no more than 253 characters",
        id="2: the name of a Deployment is too long",
    ),
    pytest.param(
        a_csv(customresourcedefinitions={"owned": [{"name": "b.c"}, {"name": "a.c"}]}),
        "cluster service definition references owned custom resource definition 'a.c' not found in bundle\n"
        "cluster service definition references owned custom resource definition 'b.c' not found in bundle",
        id="4: owned definitions that are not there",
    ),
    pytest.param(
        with_webhooks(a_webhook(deploymentName="y"), a_webhook("Mutating", deploymentName="x")),
        "webhook of type 'MutatingAdmissionWebhook' with name 'mutating.demo.io' references non-existent deployment "
        "'x'\nwebhook of type 'ValidatingAdmissionWebhook' with name 'validating.demo.io' references non-existent "
        "deployment 'y'",
        id="7: webhooks without Deployment, by name of the Deployment",
    ),
    pytest.param(
        with_webhooks(a_webhook(), a_webhook("Mutating", generateName="validating.demo.io"), a_webhook()),
        "duplicate webhook 'validating.demo.io' of type 'ValidatingAdmissionWebhook'",
        id="8: two webhooks of one name and type; of different types they may share it",
    ),
    pytest.param(
        with_webhooks(a_webhook(generateName="a-")),
        f"webhook of type 'ValidatingAdmissionWebhook' has invalid name 'a-': {NO_SUBDOMAIN}",
        id="9: the name of a webhook ends with a dash",
    ),
    pytest.param(
        with_webhooks(a_webhook(generateName="_" * 254, rules=rule("apps", "deployments"))),
        f"webhook of type 'ValidatingAdmissionWebhook' has invalid name '{'_' * 254}': {NO_SUBDOMAIN},"
        "must be no more than 253 characters",
        id="9: several reasons are sorted",
    ),
    pytest.param(
        with_webhooks(
            a_webhook("Conversion", conversionCRDs=["u.x", "things.demo.io"]),
            a_webhook("Conversion", generateName="also.demo.io", conversionCRDs=["things.demo.io"]),
            **OWNED,
        ),
        "conversion webhooks [also.demo.io,conversion.demo.io] reference same custom resource definition "
        "'things.demo.io'\nconversion webhook 'conversion.demo.io' references custom resource definition 'u.x' not "
        "owned bundle",
        id="10, 11: a definition with two converters, and one that is not owned",
    ),
    pytest.param(
        with_webhooks(
            a_webhook(rules=rule("*", "pods")),
            a_webhook("Mutating", rules=rule("admissionregistration.k8s.io", "MutatingWebhookConfigurations", "pods")),
            a_webhook("Conversion", rules=rule("*", "*")),
        ),
        'webhook "validating.demo.io" contains forbidden rule: admission webhook rules cannot reference API group "*"\n'
        'webhook "mutating.demo.io" contains forbidden rule: admission webhook rules cannot reference resource '
        '"MutatingWebhookConfigurations" for API group "admissionregistration.k8s.io"',
        id="12: rules about everything, or about webhooks; conversion has no rules",
    ),
]


@pytest.mark.parametrize(("csv", "want"), REFUSED)
def test_an_invalid_bundle_is_refused_with_every_reason(csv: Json, want: str) -> None:
    response = ask(csv, a_definition(), **CERT)
    assert response == {"error": want, "terminal": False}


def test_v1_md_16_3_rule_3_definitions_have_different_names() -> None:
    assert error(None, a_definition(), a_definition()) == (
        "bundle contains duplicate custom resource definition 'things.demo.io'"
    )


def test_v1_md_16_3_rule_5_a_bundle_has_a_package() -> None:
    assert about(files(annotations="annotations: {}"))["error"] == "package name is empty"


@pytest.mark.parametrize(
    ("modes", "shown"),
    [(("OwnNamespace", "AllNamespaces"), "AllNamespaces OwnNamespace"), (("SingleNamespace",), "SingleNamespace")],
)
def test_v1_md_16_3_rule_6_conversion_needs_all_namespaces_and_nothing_else(modes: tuple[str, ...], shown: str) -> None:
    webhook = a_webhook("Conversion", conversionCRDs=["things.demo.io"])
    csv = a_csv(*modes, webhookdefinitions=[webhook], **OWNED)
    config = {"watchNamespace": "other"} if "AllNamespaces" not in modes else None
    assert error(csv, a_definition(), config=config, **CERT) == (
        f'bundle contains conversion webhook "conversion.demo.io" and supports install modes [{shown}] - {ALONE}'
    )


def test_v1_md_16_3_rule_13_other_objects_are_of_known_kinds() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    assert error(None, pod) == 'unsupported resource "p" with kind "Pod"'


@pytest.mark.parametrize("modes", [("AllNamespaces",), ("OwnNamespace", "AllNamespaces")])
def test_webhooks_are_fine_with_any_install_modes(modes: tuple[str, ...]) -> None:
    csv = a_csv(*modes, webhookdefinitions=[a_webhook(), a_webhook("Mutating", rules=rule("apps", "deployments"))])
    assert objects(csv, **CERT)


def test_there_are_thirteen_rules() -> None:
    assert len(CHECKS) == 13
