"""The Deployments that serve."""

from __future__ import annotations

from shared.api.views import Csv
from shared.domain.endpoints.endpoint import endpoints_of
from tests.domain.endpoints.builders import a_server, a_webhook, an_api


def test_ports_csv_md_7_1() -> None:
    """First those of APIServices by name, of several kinds of one the last; then those of webhooks; each pair once."""
    apis = (
        an_api("z.example.com", containerPort=7443), an_api("a.example.com", containerPort=1),
        an_api("a.example.com", containerPort=-1),
    )  # fmt: skip
    hooks = (
        a_webhook("c.example.com", containerPort=9443, targetPort="https"), a_webhook("a.example.com", targetPort=0),
        a_webhook("b.example.com", targetPort=443),
    )  # fmt: skip
    (found,) = endpoints_of(Csv(a_server(*hooks, apis=apis)))
    assert found.ports == ((443, 443), (7443, 7443), (9443, "https"))
