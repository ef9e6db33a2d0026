"""The fakes of step and effect tests answer as our client does: the same calls to each of them, on both targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from eventing.effects import Effects
from shared import kinds
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, carries, name_of, namespace_of, resource_version_of, uid_of
from shared.kinds import Kind, Ref
from shared.names import ANY, NONE
from shared.ports import Cluster, Discovery, Listing
from shared.step import Delete
from tests.conformance.http import Api as Http
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FakeCluster, FixedClock

UNSERVED = Kind("nowhere.example/v1", "Ghost", "ghosts")
Change = Callable[[Any, Manifest], object]
"""What is done to the `Api`, given the object that is there."""


class Reads(Cluster, Discovery, Protocol):
    """What both fakes implement."""


@pytest.fixture
def client(api: Path) -> Iterator[KubeClient]:
    with ExitStack() as stack:
        client = KubeClient.from_kubeconfig(str(api))
        stack.callback(client.close)
        yield client


@pytest.fixture
def other_namespace(http: Http, namespace: str) -> str:
    name = f"{namespace}-z"
    assert http.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    return name


def a_map(name: str, namespace: str, **labels: str) -> Manifest:
    meta = {"name": name, "namespace": namespace, "labels": {"test": namespace[:11], **labels}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"key": name}}


def stored(client: KubeClient, manifest: Manifest, kind: str) -> Any:
    """The fake or the client, with the object in it."""
    if kind == "KubeClient":
        client.create(manifest)
        return client
    return FakeApi([manifest])


@pytest.mark.parametrize("implementation", ["FakeCluster", "FakeApi", "KubeClient"])
def test_reads(client: KubeClient, namespace: str, other_namespace: str, implementation: str) -> None:
    there = [
        a_map("b", namespace, tier="one", zone="x"),
        a_map("a", namespace, tier="one"),
        a_map("a", other_namespace, tier="two"),
    ]
    cluster = reading(client, there, implementation)
    found = cluster.get(kinds.CONFIG_MAP.ref("a", namespace))
    assert found is not None
    assert (found["apiVersion"], found["kind"], found["data"]) == ("v1", "ConfigMap", {"key": "a"})
    assert cluster.get(kinds.CONFIG_MAP.ref("absent", namespace)) is None
    assert cluster.get(UNSERVED.ref("absent", namespace)) is None
    assert cluster.list(UNSERVED) == ()
    asked = [
        kinds.CONFIG_MAP.ref(name, place) for name, place in (("b", namespace), ("absent", namespace), ("a", namespace))
    ]
    assert cluster.get_all(asked) == tuple(map(cluster.get, asked))
    assert [one is None for one in cluster.get_all(asked)] == [False, True, False]
    assert (cluster.get_all(()), cluster.list_all(())) == ((), ())
    listings = [Listing(kinds.CONFIG_MAP, namespace, {"tier": "one"}), Listing(UNSERVED), Listing(kinds.JOB, namespace)]
    assert [len(one) for one in cluster.list_all(listings)] == [2, 0, 0]
    for labels, place, names in (
        ({"test": namespace}, "", [(namespace, "a"), (namespace, "b"), (other_namespace, "a")]),
        ({"test": namespace}, namespace, [(namespace, "a"), (namespace, "b")]),
        ({"tier": "one", "zone": "x"}, namespace, [(namespace, "b")]),
        ({"test": namespace, "zone": ANY}, "", [(namespace, "b")]),
        ({"test": namespace, "zone": NONE}, "", [(namespace, "a"), (other_namespace, "a")]),
        ({"tier": "one", "zone": NONE}, namespace, [(namespace, "a")]),
        ({"tier": "none"}, namespace, []),
        ({"tier": "two"}, namespace, []),
        ({"tier": "t" * 64}, namespace, []),
    ):
        listed = cluster.list(kinds.CONFIG_MAP, place, labels=labels)
        assert [(namespace_of(item), name_of(item)) for item in listed] == names
        assert all((item["apiVersion"], item["kind"]) == ("v1", "ConfigMap") for item in listed)
        assert all(carries(item, labels) for item in listed)
    assert cluster.find("v1", "ConfigMap") == kinds.CONFIG_MAP
    assert cluster.find(UNSERVED.api_version, UNSERVED.kind) is None
    assert cluster.version().startswith("v1.")


def reading(client: KubeClient, there: list[Manifest], implementation: str) -> Reads:
    if implementation == "FakeCluster":
        return FakeCluster(there)
    if implementation == "FakeApi":
        return FakeApi(there)
    for manifest in there:
        client.create(manifest)
    return client


REFUSED: dict[str, tuple[Change, tuple[int, str]]] = {
    "creating it again": (lambda api, it: api.create(it | {"metadata": bare(it)}), (409, "AlreadyExists")),
    "replacing an older version": (lambda api, it: api.replace(changed(it, resourceVersion="1")), (409, "Conflict")),
    "replacing what is not there": (lambda api, it: api.replace(changed(it, name="absent")), (404, "NotFound")),
    "trying to apply to an older version": (
        lambda api, it: api.try_out(changed(it, resourceVersion="1", managedFields=None), field_manager="test"),
        (409, "Conflict"),
    ),
    "patching an older version": (
        lambda api, it: api.merge(Ref.of(it), {"metadata": {"resourceVersion": "1"}, "data": {"a": "b"}}),
        (409, "Conflict"),
    ),
    "patching what is not there": (
        lambda api, it: api.merge(kinds.CONFIG_MAP.ref("absent", namespace_of(it)), {"data": {"a": "b"}}),
        (404, "NotFound"),
    ),
    "deleting its namesake": (lambda api, it: api.delete(Ref.of(it), uid="another"), (409, "Conflict")),
    "deleting an older version": (
        lambda api, it: api.delete(Ref.of(it), uid=uid_of(it), resource_version="1"),
        (409, "Conflict"),
    ),
    "deleting what is not there": (
        lambda api, it: api.delete(kinds.CONFIG_MAP.ref("absent", namespace_of(it))),
        (404, "NotFound"),
    ),
}


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
@pytest.mark.parametrize("case", REFUSED)
def test_refused_writes(client: KubeClient, namespace: str, implementation: str, case: str) -> None:
    change, refusal = REFUSED[case]
    api = stored(client, a_map("a", namespace), implementation)
    before = api.get(kinds.CONFIG_MAP.ref("a", namespace))
    with pytest.raises(ApiError) as refused:
        change(api, before)
    assert (refused.value.status, refused.value.reason) == refusal
    assert api.get(Ref.of(before)) == before


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
@pytest.mark.parametrize(
    ("uid", "did", "is_there"),
    [
        pytest.param("of-another", "absent", True, id="its namesake: what was meant is gone"),
        pytest.param("", "sent", False, id="whatever has its name"),
        pytest.param("its own", "sent", False, id="the very object"),
    ],
)
def test_a_delete_with_a_uid(
    client: KubeClient, namespace: str, implementation: str, uid: str, did: str, is_there: bool
) -> None:
    api = stored(client, a_map("a", namespace), implementation)
    ref = kinds.CONFIG_MAP.ref("a", namespace)
    write = Delete(ref, uid=uid_of(api.get(ref)) if uid == "its own" else uid)
    done = Effects(api, FixedClock()).perform([write], {}, lambda: True)
    assert [written.did for written in done.written] == [did]
    assert bool(api.get(ref)) == is_there


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
def test_what_changed_since_it_was_read_is_not_deleted(client: KubeClient, namespace: str, implementation: str) -> None:
    api = stored(client, a_map("a", namespace), implementation)
    read = api.get(kinds.CONFIG_MAP.ref("a", namespace))
    after = api.merge(Ref.of(read), {"data": {"key": "b"}})
    write = Delete(Ref.of(read), uid=uid_of(read), resource_version=resource_version_of(read))
    done = Effects(api, FixedClock()).perform([write], {}, lambda: True)
    assert done.failure is not None
    assert done.failure.kind == "conflict"
    assert api.get(Ref.of(read)) == after


DONE: dict[str, tuple[Change, dict[str, str] | None]] = {
    "replacing it": (lambda api, it: api.replace(it | {"data": {"new": "1"}}), {"new": "1"}),
    "replacing whatever is there": (
        lambda api, it: api.replace(changed(it, resourceVersion=None) | {"data": {"new": "1"}}),
        {"new": "1"},
    ),
    "patching a key in": (lambda api, it: api.merge(Ref.of(it), {"data": {"new": "1"}}), {"key": "a", "new": "1"}),
    "patching a key out": (lambda api, it: api.merge(Ref.of(it), {"data": {"key": None, "new": "1"}}), {"new": "1"}),
    "applying another key": (lambda api, it: applied(api, it, {"new": "1"}), {"key": "a", "new": "1"}),
    "applying another value": (lambda api, it: applied(api, it, {"key": "b"}), {"key": "b"}),
    "deleting it": (lambda api, it: api.delete(Ref.of(it), uid=uid_of(it)), None),
    "deleting what was read": (
        lambda api, it: api.delete(Ref.of(it), uid=uid_of(it), resource_version=resource_version_of(it)),
        None,
    ),
}


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
@pytest.mark.parametrize("case", DONE)
def test_writes(client: KubeClient, namespace: str, implementation: str, case: str) -> None:
    change, data = DONE[case]
    api = stored(client, a_map("a", namespace), implementation)
    before = api.get(kinds.CONFIG_MAP.ref("a", namespace))
    answer = change(api, before)
    after = api.get(Ref.of(before))
    assert (after or {}).get("data") == data
    if after is not None:
        assert answer == after
        assert uid_of(after) == uid_of(before)
        assert resource_version_of(after) != resource_version_of(before)


SAME: dict[str, Change] = {
    "replacing it by itself": lambda api, it: api.replace(it),
    "patching what is so already": lambda api, it: api.merge(Ref.of(it), {"data": {"key": "a"}}),
}


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
@pytest.mark.parametrize("case", SAME)
def test_writes_that_change_nothing_make_no_new_version(
    client: KubeClient, namespace: str, implementation: str, case: str
) -> None:
    api = stored(client, a_map("a", namespace), implementation)
    before = api.get(kinds.CONFIG_MAP.ref("a", namespace))
    SAME[case](api, before)
    assert resource_version_of(api.get(Ref.of(before))) == resource_version_of(before)


@pytest.mark.parametrize("implementation", ["FakeApi", "KubeClient"])
def test_a_status_is_written_apart(client: KubeClient, namespace: str, implementation: str) -> None:
    """Of an Ingress, because no controller writes in it meanwhile."""
    meta = {"name": "a", "namespace": namespace}
    spec = {"ingressClassName": "none", "defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}
    api = stored(
        client, {"apiVersion": INGRESS.api_version, "kind": "Ingress", "metadata": meta, "spec": spec}, implementation
    )
    before, status = api.get(INGRESS.ref("a", namespace)), {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}
    desired = {**before, "spec": {**before["spec"], "ingressClassName": "other"}, "status": status}
    after = api.replace_status(desired)
    assert after["spec"] == before["spec"]
    assert after["status"]["loadBalancer"]["ingress"][0]["ip"] == "10.0.0.1"
    with pytest.raises(ApiError) as refused:
        api.replace_status(changed(desired, resourceVersion="1"))
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")


INGRESS = Kind("networking.k8s.io/v1", "Ingress", "ingresses")


def bare(manifest: Manifest) -> Manifest:
    return {key: manifest["metadata"][key] for key in ("name", "namespace")}


def changed(manifest: Manifest, **metadata: str | None) -> Manifest:
    """With other metadata; None takes a field out."""
    kept = {**manifest["metadata"], **metadata}
    return {**manifest, "metadata": {key: value for key, value in kept.items() if value is not None}}


def applied(api: Any, manifest: Manifest, data: dict[str, str]) -> object:
    desired = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": bare(manifest), "data": data}
    return api.apply(desired, field_manager="test", force=True)
