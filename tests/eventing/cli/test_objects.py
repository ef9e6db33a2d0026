"""Objects as a person names them."""

from __future__ import annotations

import re

import pytest

from eventing.cli.failure import CliError
from eventing.cli.objects import ref_of
from shared.kinds import CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, DEPLOYMENT, NAMESPACE, SUBSCRIPTION, Ref


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("Subscription/etcd", SUBSCRIPTION.ref("etcd", "ns"), id="a kind"),
        pytest.param("sub/etcd", SUBSCRIPTION.ref("etcd", "ns"), id="a short name"),
        pytest.param("deployments/etcd", DEPLOYMENT.ref("etcd", "ns"), id="a plural"),
        pytest.param("subscription.operators.coreos.com/etcd", SUBSCRIPTION.ref("etcd", "ns"), id="kubectl's own form"),
        pytest.param("deployment.v1.apps/etcd", DEPLOYMENT.ref("etcd", "ns"), id="with the version"),
        pytest.param("namespace/olm", NAMESPACE.ref("olm"), id="a kind without namespace"),
        pytest.param("clusterextension/etcd", CLUSTER_EXTENSION.ref("etcd"), id="of OLM v1, in no namespace"),
        pytest.param("ClusterObjectSets/etcd-1", CLUSTER_OBJECT_SET.ref("etcd-1"), id="a revision"),
        pytest.param("a.io/v1/Thing/x/y", Ref("a.io/v1", "Thing", "y", "x"), id="a whole ref"),
    ],
)
def test_ref_of(text: str, want: Ref) -> None:
    assert ref_of(text, "ns") == want


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("Subscripton/etcd", "'Subscripton': no such kind here; did you mean Subscription?", id="a typo"),
        pytest.param("installplanes/a", "did you mean InstallPlan?", id="a plural of one's own"),
        pytest.param("Nonsense/x", "wanted one of APIService, CatalogSource", id="nothing is similar"),
    ],
)
def test_a_kind_with_a_typo(text: str, hint: str) -> None:
    with pytest.raises(CliError, match=re.escape(hint)):
        ref_of(text, "ns")


@pytest.mark.parametrize("text", ["etcd", "Subscription/", "Nonsense/x", "Subscription.apps/x"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(CliError) as error:
        ref_of(text, "ns")
    assert error.value.code == 2
