"""What a bundle alone says of the objects that serve for the API server."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv, OperatorGroup
from shared.domain.endpoints.outline import converted, outline
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, a_webhook, an_api

GRANTED = ["Role", "RoleBinding", "ClusterRoleBinding", "RoleBinding"]


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        pytest.param(a_server(), [], id="nothing is served"),
        pytest.param(
            a_server(a_webhook(), a_webhook(kind="Mutating")),
            ["Secret", "Service", *GRANTED, "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
            id="csv.md 7.1: webhooks, which get the rights of aggregated APIs, too",
        ),
        pytest.param(
            a_server(apis=(an_api(),)), ["Secret", "Service", *GRANTED, "APIService"], id="csv.md 7.4: an API"
        ),
        pytest.param(a_server(a_conversion()), ["Secret", "Service", *GRANTED], id="csv.md 7.6: a conversion"),
        pytest.param(a_server(a_webhook(deploymentName="absent")), [], id="a webhook that nobody serves"),
    ],
)
def test_what_is_written_is_listed_in_its_order(version: Manifest, kinds: list[str]) -> None:
    assert [one["kind"] for one in outline(Csv(version))] == kinds


def test_nothing_of_a_cluster_is_made_up() -> None:
    found = [*outline(Csv(a_server(a_webhook(), apis=(an_api(),))))]
    assert all(name_of(one) for one in found)
    assert not any(word in str(found) for word in ("ownerReferences", "caBundle", "olmcahash"))


@pytest.mark.parametrize(
    ("group", "selector"),
    [
        pytest.param(None, None, id="no group is known"),
        pytest.param(
            {"status": {"namespaces": ["a", "b"]}}, {"matchLabels": {"olm.operatorgroup.uid/u": ""}}, id="some"
        ),
        pytest.param(
            {"spec": {"selector": {"matchLabels": {"team": "x"}}}},
            {"matchLabels": {"team": "x"}},
            id="those with a label",
        ),
        pytest.param({}, None, id="one that was never looked at"),
    ],
)
def test_webhooks_are_for_the_namespaces_of_the_group(group: Manifest | None, selector: Manifest | None) -> None:
    placed = (
        None if group is None else OperatorGroup({"metadata": {"name": "g", "namespace": "ns", "uid": "u"}, **group})
    )
    [*_, configuration] = outline(Csv(a_server(a_webhook())), placed)
    assert configuration["webhooks"][0].get("namespaceSelector") == selector


def test_an_owned_definition_is_shown_as_it_will_be_converted() -> None:
    definition = {"metadata": {"name": THINGS}, "spec": {"group": "example.com"}}
    shown = converted(Csv(a_server(a_conversion(), customresourcedefinitions={"owned": [OWNED]})), definition)
    webhook = shown["spec"]["conversion"]["webhook"]
    assert shown["spec"]["conversion"]["strategy"] == "Webhook"
    assert webhook["clientConfig"] == {"service": {**webhook["clientConfig"]["service"], "path": "/convert"}}
    assert definition["spec"] == {"group": "example.com"}


OWNED = {"name": THINGS, "version": "v1", "kind": "Thing"}


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(a_server(), id="nothing converts it"),
        pytest.param(a_server(a_conversion()), id="of somebody else"),
        pytest.param(a_server(a_conversion("others.example.com")), id="another one is converted"),
    ],
)
def test_another_definition_is_shown_as_it_is(version: Manifest) -> None:
    definition = {"metadata": {"name": THINGS}, "spec": {}}
    assert converted(Csv(version), definition) is definition
