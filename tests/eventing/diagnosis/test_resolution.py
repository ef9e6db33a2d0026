"""A namespace of a cluster or of manifests becomes what the resolver is asked, and a request is answered once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from eventing.diagnosis.resolution import answering, inputs_of_manifests, inputs_of_namespace
from shared.adapters.kube import KubeClient
from shared.domain.resolver.resolve import resolve
from shared.domain.shape import InvalidRequest
from tests.domain.resolver.scenery import (
    catalog,
    releases,
    sub,
)
from tests.kit.cluster import FakeCluster

GROUP: dict[str, Any] = {
    "apiVersion": "operators.coreos.com/v1",
    "kind": "OperatorGroup",
    "metadata": {"name": "og", "namespace": "ns"},
}


def test_a_namespace_of_a_cluster_is_asked_for_its_subscriptions() -> None:
    kind = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription"}
    cluster = FakeCluster([{**kind, **sub("a")}, GROUP])
    inputs = inputs_of_namespace(cast("KubeClient", cluster), "ns", is_whole=True)
    assert [one.name for one in inputs.subscribers] == ["a"]
    assert inputs.is_whole
    assert "no operators found from catalog cat" in resolve(inputs).reasons["a"]


def test_a_namespace_of_a_cluster_is_seen_with_the_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLMF_GLOBAL_NAMESPACE", "market")
    source = {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
        "metadata": {"name": "cat", "namespace": "market"}, "spec": {"image": "q.io/cat:1"},
    }  # fmt: skip
    kind = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription"}
    cluster = FakeCluster([{**kind, **sub("a", namespace="market")}, GROUP, source])
    inputs = inputs_of_namespace(cast("KubeClient", cluster), "ns", is_whole=False)
    assert list(map(str, inputs.catalogs)) == ["market/cat"]


def test_manifests_of_other_namespaces_and_kinds_are_passed_over() -> None:
    other = {"kind": "Subscription", **sub("b")}
    other["metadata"] = {"name": "b", "namespace": "elsewhere"}
    inputs = inputs_of_manifests(
        [{"kind": "Subscription", **sub("a")}, other, {"kind": "Pod"}], {}, "ns", is_whole=False
    )
    assert [one.name for one in inputs.subscribers] == ["a"]


def test_a_request_that_comes_again_has_the_same_answer_whoever_asks() -> None:
    arguments: dict[str, Any] = {"namespace": "ns", "catalogs": [catalog(releases("a", 1))]}
    answer = answering(is_whole=True)
    first = answer({**arguments, "id": 1, "subscriptions": [sub("a")]})
    assert answer({**arguments, "id": 2, "subscriptions": [sub("a")]}) is first
    assert answer({**arguments, "id": 2, "subscriptions": [sub("b")]})["unsatisfiable"]


def test_a_catalog_image_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    path = f"oci:{tmp_path}"
    named = {"name": "cat", "namespace": "ns", "path": path}
    request = {"namespace": "ns", "catalogs": [named], "subscriptions": [sub("a")]}
    with pytest.raises(InvalidRequest, match=f"catalog {path}: NotFound: "):
        answering(is_whole=True)(request)


def test_a_catalog_that_is_not_there_is_an_error_even_where_nobody_sees_it() -> None:
    request = {"namespace": "ns", "catalogs": [{"name": "cat", "namespace": "other", "path": "/nosuch"}]}
    with pytest.raises(InvalidRequest, match="catalog /nosuch: no such file or directory"):
        answering(is_whole=True)(request)
