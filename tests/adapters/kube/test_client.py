"""The client against the sandbox: what it answers, and what it makes of refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from shared import kinds
from shared.adapters.kube import ApiError, KubeClient, connect
from shared.api.manifest import Manifest, name_of, resource_version_of, uid_of
from shared.kinds import Kind, Ref
from tests.kit.sandbox import running_sandbox

A_REF = kinds.CONFIG_MAP.ref("a", "default")
WIDGET = Kind("example.com/v1", "Widget", "widgets")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_sandbox(tmp_path_factory.mktemp("sandbox")) as kubeconfig:
        yield str(kubeconfig)


@pytest.fixture
def client(sandbox: str) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(sandbox)
    yield client
    for found in client.list(kinds.CONFIG_MAP, "default"):
        client.delete(Ref.of(found))
    client.close()


def a_config_map(name: str = "a", *, labels: dict[str, str] | None = None, **data: str) -> Manifest:
    meta = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def test_what_was_created_can_be_read_changed_and_deleted(client: KubeClient) -> None:
    created = client.create(a_config_map(x="1"))
    assert client.get(A_REF) == created
    replaced = client.replace({**created, "data": {"x": "2"}})
    merged = client.merge(A_REF, {"data": {"y": "3"}})
    assert (replaced["data"], merged["data"]) == ({"x": "2"}, {"x": "2", "y": "3"})
    client.delete(A_REF, uid=uid_of(created))
    assert client.get(A_REF) is None


def test_a_status_is_written_apart(client: KubeClient) -> None:
    namespace = client.get(kinds.NAMESPACE.ref("default"))
    assert namespace is not None
    changed = client.replace_status({**namespace, "status": {"phase": "Active", "conditions": []}})
    assert changed["status"]["phase"] == "Active"


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        pytest.param(kinds.CONFIG_MAP.ref("absent", "default"), "the object", id="no such object"),
        pytest.param(kinds.CONFIG_MAP.ref("a", "absent"), "the namespace", id="no such namespace"),
        pytest.param(WIDGET.ref("w", "default"), "the kind", id="a kind that nobody serves"),
        pytest.param(kinds.SUBSCRIPTION.ref("s", "default"), "the definition", id="a kind of ours, not installed yet"),
    ],
)
def test_what_is_not_there_reads_as_nothing(client: KubeClient, ref: Ref, reason: str) -> None:
    assert client.get(ref) is None, reason


def test_a_list_is_complete_in_name_order_and_says_what_its_items_are(sandbox: str, client: KubeClient) -> None:
    paging = KubeClient(connect(sandbox), page=2)
    for name in "cbeda":
        client.create(a_config_map(name, labels={"part": name, "all": "yes"}))
    found = paging.list(kinds.CONFIG_MAP, "default", labels={"all": "yes"})
    assert paging.requests_made == 3
    paging.close()
    assert [name_of(item) for item in found] == list("abcde")
    assert {(item["apiVersion"], item["kind"]) for item in found} == {("v1", "ConfigMap")}
    assert client.list(kinds.CONFIG_MAP, "default", labels={"all": "yes", "part": "c"}) == (found[2],)
    assert client.list(kinds.SUBSCRIPTION) == ()


def test_labels_that_no_object_can_have_are_not_asked_for(client: KubeClient) -> None:
    """The name of an operator may be longer than a label: the API server answers 400, and it was never cleaned up."""
    made = client.requests_made
    assert client.list(kinds.CLUSTER_ROLE, labels={"olm.owner": "x" * 64}) == ()
    assert client.requests_made == made
    assert client.list(kinds.CLUSTER_ROLE, labels={"olm.owner": "x" * 63}) == ()
    assert client.requests_made == made + 1


def test_refusals_say_what_they_are(client: KubeClient) -> None:
    created = client.create(a_config_map())
    with pytest.raises(ApiError) as exists:
        client.create(a_config_map())
    assert (exists.value.already_exists, exists.value.is_conflict) == (True, False)
    client.merge(A_REF, {"data": {"x": "y"}})
    with pytest.raises(ApiError) as conflict:
        client.replace(created)
    assert (conflict.value.is_conflict, resource_version_of(created) != "") == (True, True)
    with pytest.raises(ApiError) as other:
        client.delete(A_REF, uid="of another one")
    assert other.value.is_conflict
    with pytest.raises(ApiError) as absent:
        client.delete(kinds.CONFIG_MAP.ref("absent", "default"))
    assert absent.value.is_not_found
    with pytest.raises(ApiError, match="does not serve the kind Widget"):
        client.create({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})


def test_a_new_kind_is_found_at_once(client: KubeClient) -> None:
    assert client.find(WIDGET.api_version, WIDGET.kind) is None
    names = {"plural": "widgets", "kind": "Widget", "listKind": "WidgetList", "singular": "widget"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    client.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
        }
    )
    assert client.find(WIDGET.api_version, WIDGET.kind) == WIDGET
    asked = client.requests_made
    assert client.find(WIDGET.api_version, WIDGET.kind) == WIDGET
    assert client.requests_made == asked


def test_kinds_of_a_group_that_is_not_served_are_asked_for_once(
    client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client._kinds, "_clock", lambda: 1000.0)  # all in one moment
    asked = client.requests_made
    assert [client.find("absent.example/v1", kind) for kind in ("A", "B", "C")] == [None, None, None]
    assert client.requests_made == asked + 1


def test_the_version_is_asked_for_once(client: KubeClient) -> None:
    first = client.version()
    asked = client.requests_made
    assert (client.version(), client.requests_made) == (first, asked)
    assert first.startswith("v1.")


@pytest.mark.parametrize(("most", "requests"), [(1, 1), (2, 1), (3, 2), (9, 3)])
def test_a_list_with_a_bound_is_not_read_further(
    sandbox: str, client: KubeClient, monkeypatch: pytest.MonkeyPatch, most: int, requests: int
) -> None:
    for name in "abcde":
        client.create(a_config_map(name, labels={"all": "yes"}))
    paging = KubeClient(connect(sandbox), page=2)
    asked: list[Mapping[str, str]] = []
    request = paging.request

    def noted(method: str, path: str, *, query: Mapping[str, str], accept: str) -> Manifest:
        asked.append(query)
        return request(method, path, query=query, accept=accept)

    monkeypatch.setattr(paging, "request", noted)
    found = paging.list(kinds.CONFIG_MAP, "default", labels={"all": "yes"}, most=most)
    assert [name_of(one) for one in found] == list("abcde")[:most]
    assert len(asked) == requests
    assert not any("resourceVersion" in query for query in asked), "a list from the cache of a server has no bound"
    paging.close()
