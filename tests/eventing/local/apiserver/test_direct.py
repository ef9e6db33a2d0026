"""The sandbox that one client has for itself answers as the one that listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from eventing.local.apiserver.direct import fresh_sandbox
from shared.adapters.kube import ApiError, KubeClient
from shared.api.crds import definitions
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP, NAMESPACE, Ref
from tests.kit.sandbox import running_sandbox

ROLE = Ref("rbac.authorization.k8s.io/v1", "ClusterRole", "system:aggregate-to-admin")


def a_config_map(name: str, namespace: str = "default", **data: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


@pytest.fixture
def here() -> Iterator[KubeClient]:
    with closing(fresh_sandbox()) as client:
        yield client


@pytest.fixture
def there(tmp_path: Path) -> Iterator[KubeClient]:
    with running_sandbox(tmp_path) as kubeconfig, closing(KubeClient.from_kubeconfig(str(kubeconfig))) as client:
        yield client


def refused(act: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        act()
    return caught.value.status, caught.value.reason, caught.value.message


def test_what_is_written_is_read(here: KubeClient) -> None:
    made = here.create(a_config_map("tea", a="1"))
    here.merge(ref := CONFIG_MAP.ref("tea", "default"), {"data": {"b": "2"}})
    found = here.get(ref)
    assert found is not None
    assert (found["data"], found["metadata"]["uid"]) == ({"a": "1", "b": "2"}, made["metadata"]["uid"])
    assert [one["metadata"]["name"] for one in here.list(CONFIG_MAP, "default")] == ["tea"]
    here.delete(ref)
    assert here.get(ref) is None


def test_a_name_with_a_colon_is_found(here: KubeClient) -> None:
    assert here.get(ROLE) is not None


def test_what_follows_from_a_deletion_has_followed(here: KubeClient) -> None:
    here.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}})
    here.create(a_config_map("tea", "gone"))
    here.delete(NAMESPACE.ref("gone"))
    assert (here.get(NAMESPACE.ref("gone")), here.list(CONFIG_MAP, "gone")) == (None, ())


def test_both_serve_and_refuse_alike(here: KubeClient, there: KubeClient) -> None:
    answers = []
    for client in (here, there):
        for definition in definitions():
            client.create(definition)
        client.create(a_config_map("tea"))
        unknown = a_config_map("tee") | {"surplus": 1}
        client.create(unknown)
        answers.append(
            (
                client.version(),
                client.find("operators.coreos.com/v2", "OperatorCondition"),
                client.find("operators.coreos.com/v1", "Nothing"),
                client.warnings(),
                refused(partial(client.create, a_config_map("tea"))),
                refused(partial(client.request, "GET", "/apis/none/v1")),
                refused(partial(client.request, "POST", "/api/v1/namespaces/default/configmaps", {})),
            )
        )
    assert answers[0] == answers[1]


def test_it_cannot_be_watched(here: KubeClient) -> None:
    assert refused(lambda: here.request("GET", "/api/v1/namespaces", query={"watch": "true"}))[0] == 405
