"""Which descriptions of webhooks are refused in any cluster."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.endpoints import defects
from shared.domain.endpoints.defects import invalid_description, unusable
from tests.domain.csv.builders import a_component
from tests.domain.endpoints.builders import a_conversion, a_rule, a_server, a_webhook, an_api

ADMISSION = "admissionregistration.k8s.io"
CONFIGURATIONS = "webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration resources"


def about(rule: Manifest) -> tuple[Manifest, ...]:
    return (a_webhook(rules=[a_rule(), rule]),)


@pytest.mark.parametrize(
    ("hooks", "want"),
    [
        pytest.param((), "", id="none"),
        pytest.param((a_webhook(), a_webhook("w.example.com")), "", id="two names"),
        pytest.param((a_webhook(), a_webhook(kind="Mutating")), defects.REPEATED, id="csv.md 18 row 102: one name"),
        pytest.param(about(a_rule(group="*")), "webhook rules cannot include all groups", id="csv.md 18 row 103: all"),
        pytest.param(
            about(a_rule(group="operators.coreos.com")), "webhook rules cannot include the OLM group",
            id="csv.md 18 row 103: the group of OLM",
        ),
        pytest.param(about(a_rule("*", group=ADMISSION)), CONFIGURATIONS, id="csv.md 18 row 103: all of admission"),
        pytest.param(
            about(a_rule("MutatingWebhookConfiguration", group=ADMISSION)), CONFIGURATIONS,
            id="csv.md 18 row 103: a kind",
        ),
        pytest.param(
            about(a_rule("validatingwebhookconfigurations", group=ADMISSION)), CONFIGURATIONS,
            id="csv.md 19-23: the plural, which rules have",
        ),
        pytest.param(
            about(a_rule("validatingwebhookconfigurations/*", group=ADMISSION)), CONFIGURATIONS, id="a part of it"
        ),
        pytest.param(about(a_rule("x", group=ADMISSION)), "", id="csv.md 18 row 103: another resource"),
        pytest.param(
            (a_webhook(), a_webhook("w.example.com", rules=[a_rule(group="*")]), a_webhook()),
            "webhook rules cannot include all groups", id="csv.md 4.2-6: the first fault in their order",
        ),
    ],
)  # fmt: skip
def test_refused_descriptions(hooks: tuple[Manifest, ...], want: str) -> None:
    assert invalid_description(Csv(a_server(*hooks))) == want


LONG = "a" * 63 + ".a" * 90
"""As long as a name may be without what is added to it."""
TOO_LONG = "must be no more than 253 bytes"
TWINS = {"deployments": [a_component("a.b"), a_component("a-b")]}


def many(number: int) -> Manifest:
    """A version with so many Deployments that serve."""
    listed = [f"d{one}" for one in range(number)]
    hooks = (a_webhook(f"{one}.example.com", deploymentName=one) for one in listed)
    return a_server(*hooks, strategy={"deployments": [a_component(one) for one in listed]})


def owning(number: int) -> Manifest:
    """A version whose only Deployment serves so many APIServices."""
    groups = [f"g{one}.example.com" for one in range(number)]
    return a_server(apis=tuple(an_api(group, name=name) for group in groups for name in ("things", "others")))


@pytest.mark.parametrize(
    ("csv", "reported"),
    [
        pytest.param(a_server(a_webhook()), "", id="a webhook"),
        pytest.param(a_server(a_webhook(LONG)), f"configuration of webhook {LONG[:80]!r}: {TOO_LONG}", id="derived"),
        pytest.param(a_server(a_webhook(LONG[1:])), "", id="as long as it may be"),
        pytest.param(a_server(apis=(an_api(version=LONG),)), f"APIService {LONG[:80]!r}: {TOO_LONG}", id="APIService"),
        pytest.param(many(65), "65 Deployments serve webhooks or APIs: a version may have 64 of them", id="too many"),
        pytest.param(many(64), "", id="many"),
        pytest.param(owning(65), "65 APIServices are owned: a version may own 64 of them", id="too many APIServices"),
        pytest.param(owning(64), "", id="many APIServices, each with two kinds"),
        pytest.param(a_server(a_webhook("A_B")), "webhook 'A_B': a lowercase RFC 1123 subdomain", id="its name"),
        pytest.param(
            a_server({**a_conversion(), "generateName": "cThings_v1"}), "",
            id="csv.md 7.6: no object has the name of a conversion",
        ),
        pytest.param(
            a_server(a_webhook(deploymentName="x")),
            "webhook 'v.example.com' is served by Deployment 'x', which is not in the install strategy",
            id="its Deployment",
        ),
        pytest.param(
            a_server(a_webhook(deploymentName="A"), strategy={"deployments": [a_component("A")]}),
            "Deployment 'A': a lowercase RFC 1123 subdomain", id="the name of its Deployment",
        ),
        pytest.param(
            a_server(a_webhook(deploymentName="a.b"), a_webhook("w.x", deploymentName="a-b"), strategy=TWINS),
            "two Deployments of the strategy would have the Service 'a-b-service'", id="csv.md 19-23: dots",
        ),
        pytest.param(
            a_server(a_webhook(), strategy={"deployments": [a_component(), a_component(serviceAccountName="x")]}),
            "Deployment 'operator' is in the install strategy twice", id="one Deployment twice",
        ),
        pytest.param(
            a_server(a_webhook(), strategy={"deployments": [a_component(), a_component()]}), "",
            id="the same Deployment again",
        ),
        pytest.param(a_server(a_conversion(), modes=("OwnNamespace",)), "unable to manage conversion", id="row 107"),
        pytest.param(
            a_server(a_webhook(), a_webhook("w.example.com", targetPort=8443)),
            "Service 'operator-service' would lead from its port 443 to two ports of the Pods: 9443 and 8443",
            id="csv.md 7.1: one port, two targets",
        ),
        pytest.param(
            a_server(a_webhook(), apis=(an_api(containerPort=443), an_api(containerPort=-1, kind="Unit"), an_api())),
            "", id="csv.md 2.1: of several kinds of one API the last counts",
        ),
    ],
)  # fmt: skip
def test_what_no_cluster_can_install(csv: Manifest, reported: str) -> None:
    found = unusable(Csv(csv))
    assert (found.startswith(reported), bool(found)) == (True, bool(reported))
