"""What classic OLM left is found by its names and owners, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from eventing.diagnosis.leftovers import leftovers, running
from shared import kinds
from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref
from tests.kit.cluster import FakeCluster

SOURCE = {
    "apiVersion": kinds.CATALOG_SOURCE.api_version, "kind": "CatalogSource",
    "metadata": {"name": "my.cat", "namespace": "olm", "uid": "u-cat"}, "spec": {"sourceType": "grpc"},
}  # fmt: skip
OWNED = {"ownerReferences": [{"apiVersion": "x", "kind": "CatalogSource", "name": "my.cat", "uid": "u-cat"}]}
SELECTOR = {"selector": {"olm.catalogSource": "my.cat"}}


def made(
    kind: Kind, name: str, namespace: str = "olm", *, meta: Mapping[str, Any] | None = None, **more: Any
) -> Manifest:
    place = {"namespace": namespace} if kind.is_namespaced else {}
    identity = {"name": name, **place, "uid": f"u-{name}"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**identity, **(meta or {})}, **more}


def listed(*objects: Manifest) -> list[Ref]:
    return [one.ref for one in leftovers(FakeCluster([SOURCE, *objects])) if not one.kept]


def of_catalog(label: str) -> dict[str, Any]:
    return {**OWNED, "labels": {label: "my.cat"}}


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(made(kinds.POD, "my.cat-x", meta=of_catalog("olm.catalogSource")), id="the Pod that serves it"),
        pytest.param(
            made(kinds.POD, "my.cat-y", meta=of_catalog("catalogsource.operators.coreos.com/update")),
            id="a Pod that polls its image",
        ),
        pytest.param(made(kinds.SERVICE, "my-cat", meta=OWNED, spec=SELECTOR), id="the Service of an image"),
        pytest.param(made(kinds.SERVICE, "my.cat", meta=OWNED, spec=SELECTOR), id="the Service of a ConfigMap"),
        pytest.param(made(kinds.SERVICE_ACCOUNT, "my.cat", meta=OWNED), id="the account of an image"),
        pytest.param(made(kinds.SERVICE_ACCOUNT, "my.cat-configmap-server", meta=OWNED), id="that of a ConfigMap"),
        pytest.param(made(kinds.ROLE, "my.cat-configmap-reader", meta=OWNED), id="a Role"),
        pytest.param(made(kinds.ROLE_BINDING, "my.cat-server-configmap-reader", meta=OWNED), id="a RoleBinding"),
        pytest.param(made(kinds.NETWORK_POLICY, "my.cat-grpc-server", meta=OWNED), id="a NetworkPolicy"),
    ],
)
def test_what_olm_makes_for_a_catalog(one: Manifest) -> None:
    assert listed(one) == [Ref.of(one)]
    theirs = {**one, "metadata": {**one["metadata"], "ownerReferences": []}}
    assert listed(theirs) == [], "the name or the label alone says nothing"


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(made(kinds.SERVICE, "my-cat", meta=OWNED, spec={"type": "ExternalName"}), id="our Service"),
        pytest.param(made(kinds.NETWORK_POLICY, "my.cat-unpack-bundles", meta=OWNED), id="the policy of unpack Jobs"),
        pytest.param(made(kinds.CONFIG_MAP, "h" * 63, meta=OWNED), id="an unpacked bundle"),
    ],
)
def test_what_both_use_stays(one: Manifest) -> None:
    assert listed(one) == []


BINDING = made(
    kinds.CLUSTER_ROLE_BINDING, "olm-operator-binding-marine",
    roleRef={"kind": "ClusterRole", "name": "system:controller:operator-lifecycle-manager"},
    subjects=[{"kind": "ServiceAccount", "name": "olm-operator-serviceaccount", "namespace": "marine"}],
)  # fmt: skip
PACKAGE_SERVER = made(
    kinds.CLUSTER_SERVICE_VERSION, "packageserver", "marine",
    spec={"apiservicedefinitions": {"owned": [{"group": "packages.operators.coreos.com", "version": "v1"}]}},
)  # fmt: skip
ROLE = made(kinds.CLUSTER_ROLE, "system:controller:operator-lifecycle-manager")


def test_what_its_chart_made_is_found_in_whatever_namespace_in_the_order_in_which_it_may_go() -> None:
    deployments = [
        made(kinds.DEPLOYMENT, name, "marine", spec={"replicas": 0}) for name in ("olm-operator", "catalog-operator")
    ]
    policy = made(kinds.NETWORK_POLICY, "default-deny-all-traffic", "marine")
    account = made(kinds.SERVICE_ACCOUNT, "olm-operator-serviceaccount", "marine")
    others = [
        made(kinds.NETWORK_POLICY, "default-deny-all-traffic", "other"),
        made(kinds.SERVICE, "olm-operator-metrics", "marine"),
    ]
    found = listed(ROLE, account, policy, *deployments, PACKAGE_SERVER, BINDING, *others)
    assert found == [Ref.of(one) for one in (PACKAGE_SERVER, *deployments, policy, account, BINDING, ROLE)]


def test_without_a_trace_of_olm_nothing_of_that_name_is_its() -> None:
    assert listed(ROLE, PACKAGE_SERVER, made(kinds.SERVICE_ACCOUNT, "olm-operator-serviceaccount", "marine")) == []


def test_a_version_that_is_only_called_like_the_package_server_stays() -> None:
    other = {**PACKAGE_SERVER, "spec": {}}
    assert Ref.of(other) not in listed(other, BINDING)


@pytest.mark.parametrize(
    ("meta", "why"),
    [
        pytest.param(
            {"annotations": {"include.release.openshift.io/self-managed-high-availability": "true"}},
            "the release of the cluster manages it",
            id="OpenShift makes it again",
        ),
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "it is being deleted", id="it goes already"),
    ],
)
def test_what_is_not_ours_to_remove_is_told(meta: dict[str, Any], why: str) -> None:
    account = made(kinds.SERVICE_ACCOUNT, "my.cat", meta={**OWNED, **meta})
    [found] = leftovers(FakeCluster([SOURCE, account]))
    assert (found.ref, found.kept) == (Ref.of(account), why)


def test_only_programs_with_replicas_run() -> None:
    resting = made(kinds.DEPLOYMENT, "olm-operator", "marine", spec={"replicas": 0})
    objects = [resting, made(kinds.DEPLOYMENT, "catalog-operator", "marine"), BINDING]
    assert [one.name for one in running(FakeCluster(objects))] == ["catalog-operator"]


def test_a_tenant_who_calls_a_deployment_like_a_program_of_olm_loses_nothing_and_stops_nobody() -> None:
    theirs = [
        made(kinds.DEPLOYMENT, "olm-operator", "tenant"), made(kinds.DEPLOYMENT, "catalog-operator", "tenant"),
        made(kinds.NETWORK_POLICY, "default-deny-all-traffic", "tenant"),
        made(kinds.SERVICE_ACCOUNT, "olm-operator-serviceaccount", "tenant"),
    ]  # fmt: skip
    assert listed(*theirs, BINDING, ROLE) == [Ref.of(BINDING), Ref.of(ROLE)]
    assert running(FakeCluster([*theirs, BINDING])) == ()
