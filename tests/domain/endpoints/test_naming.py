"""Names of what stands in front of a Deployment: those of OLM, where they can be names at all."""

from __future__ import annotations

import pytest

from shared.domain.endpoints import naming
from shared.domain.syntax import LABEL_1035

LONG = "a" * 63


@pytest.mark.parametrize(
    ("deployment", "service"),
    [
        pytest.param("operator", "operator-service", id="csv.md 7.1: as OLM"),
        pytest.param("operator.v1", "operator-v1-service", id="csv.md 19-23: a Service has no dots"),
        pytest.param("a" * 55, f"{'a' * 55}-service", id="63 characters"),
    ],
)
def test_service_name(deployment: str, service: str) -> None:
    assert naming.service_name(deployment) == service


def test_long_names_stay_apart() -> None:
    found = [naming.service_name(one) for one in (LONG, f"{'a' * 62}b", f"{'a' * 54}.{'b' * 8}")]
    assert len(set(found)) == 3
    assert all(LABEL_1035.fits(one) and len(one) <= 63 for one in found)


def test_the_names_of_olm_csv_md_7_1() -> None:
    assert naming.secret_name("operator") == "operator-service-cert"
    assert naming.hosts("operator", "ns") == (
        "operator-service.ns", "operator-service.ns.svc", "operator-service.ns.svc.cluster.local",
    )  # fmt: skip
