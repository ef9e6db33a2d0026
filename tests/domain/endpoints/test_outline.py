"""What a bundle alone says of the objects that serve for the API server."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv
from shared.domain.endpoints.outline import outline
from tests.domain.endpoints.builders import a_conversion, a_server, a_webhook, an_api

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
