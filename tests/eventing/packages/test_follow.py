"""What counts as the version of a package."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from eventing.packages.follow import stand
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Kind
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def an_object(kind: Kind, name: str, labels: dict[str, str] | None = None, **fields: object) -> Manifest:
    meta = {"name": name, "namespace": "two", "labels": labels or {}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


@pytest.mark.parametrize(
    ("labels", "phase", "is_done"),
    [
        pytest.param({}, "Succeeded", True, id="the version itself"),
        pytest.param({"olm.copiedFrom": "one"}, "Resolving", False, id="a copy of what another namespace installed"),
    ],
)
def test_stand(labels: dict[str, str], phase: str, *, is_done: bool) -> None:
    subscription = an_object(
        SUBSCRIPTION, "tide", spec={"name": "tide"}, status={"currentCSV": "tide.v1", "installedCSV": "tide.v1"}
    )
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", labels, status={"phase": "Succeeded"})
    now = stand(cast("KubeClient", FakeCluster([subscription, csv])), "two", "tide")
    assert (now.phase, now.is_done) == (phase, is_done)
