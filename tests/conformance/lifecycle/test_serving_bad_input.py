"""Versions with webhooks and aggregated APIs that are wrong, or meet what is wrong: each is told, and converges.

What is deleted or edited while an operator works is in `test_serving_operators`, processes that die in
`test_serving_faults`, a clock that jumps in `tests/functions/cluster_service_version/test_serving_certificates`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest
from shared.domain.endpoints.certificates import VALID
from shared.domain.endpoints.naming import hosts, service_name
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    EVENT,
    NAMESPACE,
    POD,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    VALIDATING_WEBHOOKS,
    Kind,
    Ref,
)
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.installation import SAMPLES, Installation, a_namespace, an_operator_group
from tests.kit.waiting import wait_for

DAY = timedelta(days=1)
NOBODY = {"apiGroups": ["nobody.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}
"""A rule about nothing that is there."""

MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with running(request.param, tmp_path_factory.mktemp("served"), "--bundles", str(SAMPLES)) as found:
        yield found


def an_object(kind: Kind, name: str, namespace: str = "", **fields: Any) -> Manifest:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def a_webhook(name: str = "guard.example.com", deployment: str = "guard", **fields: Any) -> Manifest:
    return {
        "generateName": name, "type": "ValidatingAdmissionWebhook", "sideEffects": "None", "deploymentName": deployment,
        "admissionReviewVersions": ["v1"], "webhookPath": "/validate", "containerPort": 9443, "rules": [NOBODY],
        "failurePolicy": "Fail", **fields,
    }  # fmt: skip


def an_api(group: str) -> Manifest:
    return {
        "name": "measures", "group": group, "version": "v1", "kind": "Measure", "deploymentName": "guard",
        "containerPort": 9443,
    }  # fmt: skip


def a_version(
    namespace: str, *hooks: Manifest, name: str = "guard.v1", deployment: str = "guard", image: str = "guard:1",
    mode: str = "OwnNamespace", **spec: Any,
) -> Manifest:  # fmt: skip
    """A version of one Deployment."""
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}
    strategy = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    whole = {
        "displayName": name, "version": "1.0.0", "webhookdefinitions": list(hooks),
        "installModes": [{"type": one, "supported": one == mode} for one in MODES],
        "install": {
            "strategy": "deployment", "spec": {"deployments": [{"name": deployment, "spec": strategy}]},
        },
        **spec,
    }  # fmt: skip
    return an_object(CLUSTER_SERVICE_VERSION, name, namespace, spec=whole)


def begin(host: Installation, namespace: str, *manifests: Manifest) -> None:
    """Apply them in a new namespace with a group for itself: nothing is copied to where the next one goes."""
    host.apply(a_namespace(namespace), an_operator_group(namespace, targets=(namespace,)), *manifests)


def configurations(host: Installation, namespace: str) -> list[Manifest]:
    found = host.cluster.list(VALIDATING_WEBHOOKS)
    return [one for one in found if one["metadata"]["labels"].get("olm.owner.namespace") == namespace]


def reports(host: Installation, namespace: str, words: str, name: str = "guard.v1") -> None:
    """Wait until the history of the version, or its present message, says so."""
    ref = CLUSTER_SERVICE_VERSION.ref(name, namespace)

    def output(csv: Manifest) -> bool:
        status = csv.get("status") or {}
        return any(words in one.get("message", "") for one in (status, *status.get("conditions", ())))

    host.until(ref, output, words)


def issued(namespace: str, when: datetime) -> dict[str, str]:
    pair, private = x509.issue(hosts("guard", namespace), when.replace(microsecond=0))
    return {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}


FOREIGN = {"password": "swordfish", "tls.crt": "no certificate"}
USELESS = [
    pytest.param("foreign", FOREIGN, id="content of somebody else"),
    pytest.param("expired", -VALID - DAY, id="csv.md 18 row 89: it has expired"),
    pytest.param("early", 30 * DAY, id="csv.md 7.2: it is not valid yet"),
]


@pytest.mark.parametrize(("namespace", "locked"), USELESS)
def test_a_secret_that_nobody_can_serve_with_is_made_anew(
    host: Installation, namespace: str, locked: dict[str, str] | timedelta
) -> None:
    """csv.md 7.2, 18 row 235: what is there before the version is."""
    texts = issued(namespace, datetime.now(UTC) + locked) if isinstance(locked, timedelta) else locked
    ref = SECRET.ref("guard-service-cert", namespace)
    host.apply(a_namespace(namespace))
    host.apply(an_object(SECRET, ref.name, namespace, stringData=texts, type="Opaque"))
    begin(host, namespace, a_version(namespace, a_webhook()))
    host.until_phase("guard.v1", namespace)
    secret = host.cluster.get(ref) or {}
    pair = public_part(secret).content.pair
    assert pair.serves(hosts("guard", namespace), datetime.now(UTC)), secret["metadata"]
    [configuration] = configurations(host, namespace)
    assert configuration["webhooks"][0]["clientConfig"]["caBundle"] == secret["data"]["olmCAKey"]
    if locked is FOREIGN:
        outlives(host, ref, namespace)


def outlives(host: Installation, secret: Ref, namespace: str) -> None:
    """What somebody keeps in the Secret is told, and stays when the version goes."""
    kept, csv = encoded(FOREIGN["password"]), CLUSTER_SERVICE_VERSION.ref("guard.v1", namespace)
    assert (host.cluster.get(secret) or {})["data"]["password"] == kept
    notes = [one["message"] for one in host.cluster.list(EVENT, namespace) if one["reason"] == "CertificateReplaced"]
    assert ["holds data of somebody else" in one for one in notes] == [True]
    host.cluster.delete(csv)
    host.until_gone(csv)
    host.until_gone(SERVICE.ref("guard-service", namespace))
    assert (host.cluster.get(secret) or {})["data"]["password"] == kept


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


NAMES = [
    pytest.param("dotted", "guard.v1.of.example", id="csv.md 19-23: dots"),
    pytest.param("lengthy", "g" * 63, id="63 characters"),
]


@pytest.mark.parametrize(("namespace", "deployment"), NAMES)
def test_a_deployment_of_an_unusual_name_serves(host: Installation, namespace: str, deployment: str) -> None:
    """A Service has no dots, and 63 characters at most; the configuration names the one that is there."""
    begin(host, namespace, a_version(namespace, a_webhook(deployment=deployment), deployment=deployment))
    host.until_phase("guard.v1", namespace)
    [configuration] = configurations(host, namespace)
    named = configuration["webhooks"][0]["clientConfig"]["service"]
    assert host.cluster.get(SERVICE.ref(named["name"], namespace))
    assert named["name"] == service_name(deployment)


def test_versions_that_claim_one_webhook_have_a_configuration_each(host: Installation) -> None:
    """csv.md 18 row 106: in two namespaces, and in one."""
    other = a_version("claims", a_webhook(deployment="second"), name="second.v1", deployment="second")
    begin(host, "claims", a_version("claims", a_webhook()), other)
    begin(host, "claims-too", a_version("claims-too", a_webhook()))
    for namespace, name in (("claims", "guard.v1"), ("claims", "second.v1"), ("claims-too", "guard.v1")):
        host.until_phase(name, namespace)
    assert sorted(one["metadata"]["labels"]["olm.owner"] for one in configurations(host, "claims")) == [
        "guard.v1", "second.v1",
    ]  # fmt: skip
    [theirs] = configurations(host, "claims-too")
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("guard.v1", "claims"))
    wait_for(lambda: len(configurations(host, "claims")) == 1, "the end of one configuration")
    host.until_it_rests()
    assert configurations(host, "claims-too") == [theirs]


def served(group: str) -> Ref:
    return API_SERVICE.ref(f"v1.{group}")


def test_an_api_that_two_versions_claim_changes_hands_when_the_first_goes(host: Installation) -> None:
    """csv.md 18 rows 11 and 93; nobody answers behind it, which harms nobody but its owner."""
    group = "claimed.example.com"

    def claim(namespace: str) -> None:
        csv = a_version(namespace, apiservicedefinitions={"owned": [an_api(group)]})
        begin(host, namespace, csv)

    claim("first")
    reports(host, "first", "apiServices not installed")
    wait_for(lambda: "apiServices not installed" in host.olmf("why", "-n", "first", check=False).stdout, "`olmf why`")
    claim("second")
    reports(host, "second", "unable to adopt APIService")
    assert (host.cluster.get(served(group)) or {})["spec"]["service"]["namespace"] == "first"
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("guard.v1", "first"))
    host.until(served(group), lambda one: one["spec"]["service"]["namespace"] == "second", "the second owner")
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("guard.v1", "second"))
    host.until_gone(served(group))


def test_a_namespace_goes_while_its_api_is_unavailable(host: Installation) -> None:
    """Until the APIService goes the API server cannot say what is in the namespace."""
    group, namespace = "unavailable.example.com", "deserted"
    begin(host, namespace, a_version(namespace, a_webhook(), apiservicedefinitions={"owned": [an_api(group)]}))
    reports(host, namespace, "apiServices not installed")
    host.cluster.delete(NAMESPACE.ref(namespace))
    for ref in (served(group), NAMESPACE.ref(namespace)):
        host.until_gone(ref)
    wait_for(lambda: configurations(host, namespace) == [], "the end of its configuration")


@pytest.fixture
def foreign(host: Installation) -> Iterator[Ref]:
    """A definition that no plan installed."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": "foreign.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }  # fmt: skip
    host.apply(an_object(CUSTOM_RESOURCE_DEFINITION, "things.foreign.example.com", spec=spec))
    yield (ref := CUSTOM_RESOURCE_DEFINITION.ref("things.foreign.example.com"))
    host.cluster.merge(ref, {"spec": {"conversion": {"strategy": "None", "webhook": None}}})
    host.cluster.delete(ref)


def test_a_definition_of_somebody_else_is_not_converted(host: Installation, foreign: Ref) -> None:
    """csv.md 18 row 107."""
    conversion: Manifest = {
        "type": "ConversionWebhook",
        "conversionCRDs": [foreign.name],
        "rules": None,
        "failurePolicy": None,
    }
    hook = {key: value for key, value in a_webhook(**conversion).items() if value is not None}
    entry = {"name": foreign.name, "version": "v1", "kind": "Thing"}
    owned = {"owned": [entry]}
    csv = a_version("covets", hook, name="covets.v1", mode="AllNamespaces", customresourcedefinitions=owned)
    host.apply(a_namespace("covets"), an_operator_group("covets"), csv)
    reports(host, "covets", f"csv covets.v1 does not own CRD {foreign.name}", "covets.v1")
    assert (host.cluster.get(foreign) or {})["spec"]["conversion"] == {"strategy": "None"}
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("covets.v1", "covets"))
    host.until_gone(CLUSTER_SERVICE_VERSION.ref("covets.v1", "covets"))


def about_itself(namespace: str, group: str, plural: str, policy: str, image: str = "guard:1") -> Manifest:
    """A version with a webhook that nobody answers, about objects of its own namespace."""
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [plural]}
    hook = a_webhook(f"{namespace}.example.com", rules=[rule], failurePolicy=policy)
    return a_version(namespace, hook, image=image)


def test_a_webhook_on_its_own_pods_is_reported_and_can_be_edited(host: Installation) -> None:
    """No Pod that would answer can be made; the version names it, and its description mends it."""
    namespace = "own-pods"
    begin(host, namespace, about_itself(namespace, "", "pods", "Fail"))
    wait_for(lambda: configurations(host, namespace), "its configuration")
    for pod in host.cluster.list(POD, namespace):
        host.cluster.delete(Ref.of(pod))
    reported = f'failed calling webhook "{namespace}.example.com"'
    reports(host, namespace, reported)
    wait_for(lambda: reported in host.olmf("why", "-n", namespace, check=False).stdout, "the same by `olmf why`")
    host.apply(about_itself(namespace, "", "pods", "Ignore"))
    host.until_phase("guard.v1", namespace)


def test_a_webhook_on_its_own_deployment_is_reported_and_can_be_edited(host: Installation) -> None:
    """csv.md 4.3-2: its next installation is refused; what is asked already is edited before it."""
    namespace = "own-deployment"
    begin(host, namespace, about_itself(namespace, "apps", "deployments", "Fail"))
    wait_for(lambda: configurations(host, namespace), "its configuration")
    host.apply(about_itself(namespace, "apps", "deployments", "Fail", "guard:2"))
    reports(host, namespace, f'failed calling webhook "{namespace}.example.com"')
    host.apply(about_itself(namespace, "apps", "deployments", "Ignore", "guard:3"))
    host.until_phase("guard.v1", namespace)


SHARED = (
    CLUSTER_ROLE_BINDING.ref("shared-service-system:auth-delegator"),
    ROLE_BINDING.ref("shared-service-auth-reader", "kube-system"),
)


def test_who_is_taken_out_of_a_shared_binding_comes_back(host: Installation) -> None:
    """csv.md 19-16: within seconds, not at the next audit; who goes takes nobody with him."""
    places = ["sharing", "sharing-too"]
    for namespace in places:
        hook = a_webhook(f"{namespace}.example.com", deployment="shared")
        begin(host, namespace, a_version(namespace, hook, deployment="shared"))
    for namespace in places:
        host.until_phase("guard.v1", namespace)
    for ref in SHARED:
        host.cluster.merge(ref, {"subjects": [{"kind": "User", "name": "stranger"}]})
        names_exactly(host, ref, *places)
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("guard.v1", places[0]))
    for ref in SHARED:
        names_exactly(host, ref, places[1])


def names_exactly(host: Installation, ref: Ref, *namespaces: str) -> None:
    """Wait until the binding is for the Pods of these namespaces, and for the stranger."""
    host.until(ref, lambda one: {each.get("namespace", "") for each in one["subjects"]} == {"", *namespaces})
