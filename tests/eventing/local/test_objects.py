"""Who else manages the objects that we would manage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from eventing.local.marker import MARKED_NAMESPACE, InstallationMarker
from eventing.local.objects import (
    TakeOverError,
    refuse_catalogs_of_others,
    refuse_other_managers,
    refuse_second_installation,
)
from shared import names
from shared.kinds import CATALOG_SOURCE, DEPLOYMENT, NAMESPACE, Kind
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def a_cluster(kind: Kind, name: str, **annotations: str) -> KubeClient:
    meta = {"name": name, "annotations": annotations, **({"namespace": "there"} if kind == DEPLOYMENT else {})}
    return cast("KubeClient", FakeCluster([{"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}]))


@pytest.mark.parametrize(
    ("name", "who"),
    [
        pytest.param(
            "operator-controller-controller-manager",
            "OLM v1 runs on this cluster (Deployment there/operator-controller-controller-manager)",
            id="OLM v1",
        ),
        pytest.param("catalog-operator", "OLM runs on this cluster (Deployment there/catalog-operator)", id="OLM"),
        pytest.param("olmf-worker", "olm-functions run in pods on this cluster", id="our pods"),
        pytest.param("olmf-scheduler", "olm-functions run in pods on this cluster", id="our pods on Knative"),
    ],
)
def test_who_is_deployed_is_not_disturbed(name: str, who: str) -> None:
    with pytest.raises(TakeOverError) as refused:
        refuse_other_managers(a_cluster(DEPLOYMENT, name))
    assert who in str(refused.value)


def test_other_deployments_do_not_matter() -> None:
    refuse_other_managers(a_cluster(DEPLOYMENT, "tide-controller"))


def test_an_installation_of_another_machine_is_not_disturbed(tmp_path: Path) -> None:
    cluster = a_cluster(NAMESPACE, MARKED_NAMESPACE, **{names.UP: "another:/its/state"})
    with pytest.raises(TakeOverError, match=r"on another in /its/state: .* `olmf down --state /its/state` ends it"):
        refuse_second_installation(cluster, InstallationMarker("here", tmp_path))
    refuse_second_installation(cluster, InstallationMarker("another", Path("/its/state")))


def test_where_nobody_works_anybody_may(tmp_path: Path) -> None:
    refuse_second_installation(a_cluster(NAMESPACE, MARKED_NAMESPACE), InstallationMarker("here", tmp_path))
    refuse_second_installation(a_cluster(NAMESPACE, "elsewhere"), InstallationMarker("here", tmp_path))


def test_a_catalog_of_somebody_else_is_not_replaced() -> None:
    def present(**spec: str) -> KubeClient:
        meta = {"name": "mine", "namespace": "olm"}
        kind = CATALOG_SOURCE
        source = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        return cast("KubeClient", FakeCluster([source]))

    catalogs = [CATALOG_SOURCE.ref("mine", "olm"), CATALOG_SOURCE.ref("other", "olm")]
    with pytest.raises(TakeOverError, match="CatalogSource olm/mine was not made by `olmf up`, and is not replaced"):
        refuse_catalogs_of_others(present(image="quay.io/me/mine:v1"), catalogs)
    refuse_catalogs_of_others(present(publisher=names.LOCAL_PUBLISHER), catalogs)
