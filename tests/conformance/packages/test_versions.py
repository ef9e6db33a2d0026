"""An API server with our definitions serves real ClusterServiceVersions as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eventing.local.objects import apply_definitions
from shared.adapters.kube import KubeClient
from tests.conformance.control_plane import running_control_plane
from tests.conformance.http import Api
from tests.conformance.packages.offers import versions
from tests.conformance.targets import REAL, SANDBOX
from tests.kit.real_bundles import extracted, needs_real_bundles
from tests.kit.sandbox import running_sandbox

pytestmark = [pytest.mark.conformance, needs_real_bundles]
PATH = "/apis/operators.coreos.com/v1alpha1/namespaces/default/clusterserviceversions"


@pytest.fixture(params=[SANDBOX, REAL])
def http(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Api]:
    """An API server that has our definitions."""
    with running_sandbox(tmp_path) if request.param == SANDBOX else running_control_plane(tmp_path) as kubeconfig:
        apply_definitions(KubeClient.from_kubeconfig(str(kubeconfig)))
        yield Api.of(kubeconfig)


def test_seventy_real_versions_are_served_unchanged(http: Api, tmp_path: Path) -> None:
    found = list(versions(extracted(tmp_path)))
    assert len(found) == 70
    changed = {}
    for csv in found:
        # Three of them name a group that nobody serves.
        made = http.post(PATH, {**csv, "apiVersion": "operators.coreos.com/v1alpha1", "metadata": own(csv)})
        assert made.status == 201, (csv["metadata"]["name"], made.body)
        served = http.get(f"{PATH}/{csv['metadata']['name']}").body
        if difference := list(unlike(without_nulls(csv["spec"]), served["spec"], "spec")):
            changed[csv["metadata"]["name"]] = difference
        assert served["metadata"].get("annotations") == csv["metadata"].get("annotations")
    assert changed == {}


def own(csv: Any) -> Any:
    """Its metadata, in the namespace of the test."""
    return {**csv["metadata"], "namespace": "default"}


def without_nulls(value: Any) -> Any:
    """A copy without explicit nulls, which mean the same as nothing."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def unlike(desired: Any, served: Any, place: str) -> Iterator[str]:
    """Where two values differ."""
    if isinstance(desired, dict) and isinstance(served, dict):
        for key in desired.keys() | served.keys():
            yield from unlike(desired.get(key), served.get(key), f"{place}.{key}")
    elif isinstance(desired, list) and isinstance(served, list) and len(desired) == len(served):
        for number, (one, other) in enumerate(zip(desired, served, strict=True)):
            yield from unlike(one, other, f"{place}[{number}]")
    elif desired != served:
        yield f"{place}: {str(desired)[:60]!r} became {str(served)[:60]!r}"
