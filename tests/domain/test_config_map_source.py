"""Which ConfigMap a catalog waits for."""

from __future__ import annotations

import pytest

from shared.api.views import CatalogSource
from shared.domain.config_map_source import ERROR, awaited


@pytest.mark.parametrize(
    ("spec", "reason", "want"),
    [
        pytest.param({"sourceType": "internal", "configMap": "kitchen"}, ERROR, "kitchen", id="it was not there"),
        pytest.param({"sourceType": "configmap", "configMap": "kitchen"}, ERROR, "kitchen", id="the other type"),
        pytest.param({"sourceType": "internal", "configMap": "kitchen"}, "", "", id="it was read"),
        pytest.param({"sourceType": "internal", "configMap": ".."}, ERROR, "", id="nothing can have that name"),
        pytest.param({"sourceType": "grpc", "configMap": "kitchen"}, ERROR, "", id="a catalog of an image"),
    ],
)
def test_a_catalog_waits_for_a_config_map(spec: dict[str, str], reason: str, want: str) -> None:
    source = {"metadata": {"name": "k", "namespace": "olm"}, "spec": spec, "status": {"reason": reason}}
    assert awaited(CatalogSource(source)) == want
