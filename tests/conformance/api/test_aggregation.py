"""An aggregated API whose server runs in a simulated Pod: availability, discovery, its objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventing.local.kubelet import sample_operator
from tests.conformance.api.objects import AGGREGATED, condition
from tests.conformance.http import Api
from tests.kit.served_pods import OF_APIS, OF_WEBHOOKS, Layout, Sample, install
from tests.kit.waiting import wait_for

Json = Any
BASE = f"/apis/{sample_operator.GROUP}/v1"
LAYOUTS = [pytest.param(OF_WEBHOOKS, id="of webhooks"), pytest.param(OF_APIS, id="of aggregated APIs")]


@pytest.fixture(scope="session")
def http(with_pods: Api) -> Api:
    return with_pods


@pytest.fixture
def sample(http: Api, namespace: str, tmp_path: Path) -> Sample:
    return install(http, namespace, tmp_path / "pki")


def answers(http: Api, path: str) -> Json:
    """The first answer of a server that is available: the proxy learns that a little later than the condition."""
    return wait_for(lambda: (found := http.get(path)).status == 200 and found.body, path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_aggregated_api_is_served(http: Api, namespace: str, tmp_path: Path, layout: Layout) -> None:
    with install(http, namespace, tmp_path / "pki", layout).aggregated() as name:
        wait_for(lambda: condition(http.get(name).body, "Available") == "True")
        assert answers(http, f"{BASE}/measures/lux")["quantity"] == "illuminance"
        items = answers(http, f"{BASE}/measures")["items"]
        assert [one["metadata"]["name"] for one in items] == [*sample_operator.UNITS]
        assert http.get(f"{BASE}/measures/absent").status == 404


@pytest.mark.parametrize("accept", [AGGREGATED, "application/json"])
def test_discovery_reports_an_aggregated_api(sample: Sample, accept: str) -> None:
    with sample.aggregated():
        wait_for(lambda: sample_operator.GROUP in str(sample.http.get("/apis", accept=accept).body))
    wait_for(lambda: sample_operator.GROUP not in str(sample.http.get("/apis", accept=accept).body))


@pytest.mark.parametrize("more", [{}, {"caBundle": None, "insecureSkipTLSVerify": True}], ids=["known", "any"])
def test_the_server_knows_who_asks_and_by_whom(sample: Sample, more: Json) -> None:
    """By headers, which it believes of the certificate that the CA in the ConfigMap signed."""
    with sample.aggregated(**more):
        assert answers(sample.http, f"{BASE}/measures/lux")["readBy"] == "admin"
        jane = sample.http.as_other({"Impersonate-User": "jane", "Impersonate-Group": "system:masters"})
        assert answers(jane, f"{BASE}/measures/lux")["readBy"] == "jane"


def reason(http: Api, name: str) -> str:
    conditions = http.get(name).body.get("status", {}).get("conditions") or [{}]
    return str(conditions[0].get("reason", ""))


OBSTACLES: list[tuple[Callable[[Json], Json], str]] = [
    (lambda service: {**service, "name": "absent"}, "ServiceNotFound"),
    (lambda service: {**service, "port": 444}, "ServicePortError"),
]


@pytest.mark.parametrize(("change", "why"), OBSTACLES)
def test_an_unavailable_api_reports_why(sample: Sample, change: Callable[[Json], Json], why: str) -> None:
    http = sample.http
    with sample.aggregated(service=change({"name": "lamps", "namespace": sample.namespace})) as name:
        wait_for(lambda: reason(http, name) == why)
        wait_for(lambda: http.get(f"{BASE}/measures").status == 503, "the proxy knows of the obstacle")
        assert http.get(f"{BASE}/measures").body == "service unavailable\n"
