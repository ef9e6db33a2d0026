"""Admission policies about ClusterExtensions, ours and an administrator's, where they are served (v1.md §26.12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from eventing.deploy.admission import WARNING, service_account_warning
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_EXTENSION, Ref
from tests.conformance.lifecycle.test_extensions import an_extension
from tests.kit.installation import Installation
from tests.kit.waiting import wait_for

API = "admissionregistration.k8s.io/v1"
NAME = "restricted-extensions"
CATALOG = "object.spec.source.catalog"
RULES = {
    f"{CATALOG}.packageName == 'tide'": "package not allowed",
    "object.spec.namespace.startsWith('ns-')": "namespace must match the test namespace convention",
    f"{CATALOG}.?selector.?matchLabels.?team.orValue('') == 'monitoring'": "selector must name the team",
    f"{CATALOG}.?upgradeConstraintPolicy.orValue('') != 'SelfCertified'": "SelfCertified is not allowed",
    "object.spec.?install.?preflight.?crdUpgradeSafety.?enforcement.orValue('') != 'None'": (
        "CRD upgrade safety checks may not be disabled"
    ),
}


def a_policy() -> list[Manifest]:
    """What an administrator writes for one group of people: here for extensions of some names."""
    rule = {"apiGroups": ["olm.operatorframework.io"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"]}
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "resources": ["clusterextensions"]}]},
        "matchConditions": [{"name": "ours", "expression": "object.metadata.name.startsWith('restricted-')"}],
        "validations": [{"expression": expression, "message": message} for expression, message in RULES.items()],
    }
    return [
        {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": NAME}, "spec": spec},
        {
            "apiVersion": API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": NAME},
            "spec": {"policyName": NAME, "validationActions": ["Deny"]},
        },
    ]  # fmt: skip


@pytest.fixture(scope="module")
def policies(installation: Installation) -> Iterator[None]:
    if installation.cluster.find(API, "ValidatingAdmissionPolicy") is None:
        pytest.skip("the sandbox serves no admission policies")
    made = [*a_policy(), *service_account_warning()]
    installation.apply(*made)
    yield
    for one in made:
        installation.cluster.delete(Ref.of(one))


def tried(installation: Installation, manifest: Manifest) -> str:
    """Why the API server takes no such extension; empty when it does. Nothing is stored."""
    try:
        path = "/apis/olm.operatorframework.io/v1/clusterextensions"
        installation.cluster.request("POST", path, manifest, query={"dryRun": "All"})
    except ApiError as error:
        return error.message
    return ""


def restricted(
    package: str = "tide", namespace: str = "ns-a", *, spec: Manifest | None = None, **source: Any
) -> Manifest:
    selector = {"selector": {"matchLabels": {"team": "monitoring"}}}
    return an_extension("restricted-a", namespace, package, spec=spec, **{**selector, **source})


UNSAFE = {"install": {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}}


@pytest.mark.usefixtures("policies")
def test_an_administrator_restricts_what_may_be_installed(installation: Installation) -> None:
    wait_for(lambda: "package not allowed" in tried(installation, restricted("ledger")), "the policy")
    cases = (
        (restricted(namespace="somewhere"), "namespace must match the test namespace convention"),
        (restricted(selector={}), "selector must name the team"),
        (restricted(upgradeConstraintPolicy="SelfCertified"), "SelfCertified is not allowed"),
        (restricted(spec=UNSAFE), "CRD upgrade safety checks may not be disabled"),
    )
    for manifest, why in cases:
        assert why in tried(installation, manifest)
    assert tried(installation, restricted()) == ""
    assert installation.cluster.get(CLUSTER_EXTENSION.ref("restricted-a")) is None


@pytest.mark.usefixtures("policies")
def test_a_service_account_is_warned_of(installation: Installation) -> None:
    def warnings(**spec: Any) -> tuple[str, ...]:
        assert tried(installation, an_extension("warned", "default", spec=spec)) == ""
        return installation.cluster.warnings()

    wait_for(lambda: any(WARNING in one for one in warnings(serviceAccount={"name": "mine"})), "the warning")
    assert not any(WARNING in one for one in warnings())
