"""The server of PackageManifests beside a sandbox: who is answered, with what, and how it follows the catalogs."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3

from eventing.local.objects import apply_definitions
from eventing.local.ports import free_port
from eventing.packages.catalog_follower import NO_ICON
from eventing.packages.program import Serving, serve
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.kube import KubeClient
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable
from tests.conformance.http import Answer, Api, Json
from tests.conformance.keys import leaf
from tests.kit.catalogs import read_status
from tests.kit.fbc import a_bundle, a_channel, a_package, a_property
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import make_authority

BASE = "/apis/packages.operators.coreos.com/v1"
SOURCES = "/apis/operators.coreos.com/v1alpha1/namespaces/{}/catalogsources"
PICTURE = b"\x89PNG"


@dataclass(frozen=True, slots=True)
class Running:
    """A server, the sandbox that it asks, and what it may read catalogs from."""

    sandbox: Api
    address: str
    keys: Path
    broken: set[str]

    def ask(
        self, path: str, user: str = "admin", groups: tuple[str, ...] = ("system:masters",), *, accept: str = "",
        client: str = "front-proxy", headers: dict[str, str] | None = None,
    ) -> Answer:  # fmt: skip
        """What the API server would pass on for a user."""
        sent = urllib3.HTTPHeaderDict({"X-Remote-User": user, "Accept": accept or "application/json"} | (headers or {}))
        for group in groups:
            sent.add("X-Remote-Group", group)
        with self.pool(client) as pool:
            found = pool.request("GET", f"{self.address}{path}", headers=sent)
        body = found.data
        is_json = found.headers.get("Content-Type", "").startswith("application/json")
        return Answer(found.status, json.loads(body) if is_json else body, found.headers)

    def pool(self, client: str) -> urllib3.PoolManager:
        certificate, key = (str(self.keys / f"{client}.{end}") if client else None for end in ("crt", "key"))
        authority = str(self.keys / "ca.crt")
        return urllib3.PoolManager(ca_certs=authority, timeout=30, retries=False, cert_file=certificate, key_file=key)

    def names(self, namespace: str) -> list[str]:
        found = self.ask(f"{BASE}/namespaces/{namespace}/packagemanifests").body["items"]
        return [one["metadata"]["name"] for one in found]

    def publish(self, namespace: str, name: str, packages: str, state: str = "READY", **spec: Json) -> None:
        """A CatalogSource whose content has these packages."""
        path = SOURCES.format(namespace)
        body = {"metadata": {"name": name}, "spec": {"sourceType": "grpc", "image": "x", **spec}}
        if self.sandbox.get(f"{path}/{name}").status == 404:
            assert self.sandbox.post(path, body).status == 201
        changed = self.sandbox.patch(f"{path}/{name}/status", {"status": read_status(packages, state)})
        assert changed.status == 200, changed.body


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("packages")
    keys = make_authority(folder / "pki", "IP:127.0.0.1")
    leaf(keys, "ca", "front-proxy", "extendedKeyUsage=clientAuth")
    leaf(keys, "ca", "other", "extendedKeyUsage=clientAuth")
    with running_sandbox(folder / "sandbox") as kubeconfig:
        sandbox = Api.of(kubeconfig)
        apply_definitions(KubeClient.from_kubeconfig(str(kubeconfig)))
        trust = {"data": {"requestheader-client-ca-file": "# Főtanúsítvány\n" + (keys / "ca.crt").read_text()}}
        path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
        assert sandbox.patch(path, trust).status == 200
        broken: set[str] = set()
        serving = Serving("127.0.0.1", free_port(), keys / "server.crt", keys / "server.key", "olm")
        with running(serving, kubeconfig, folder, broken) as address:
            for name in ("olm", "mine", "theirs"):
                assert sandbox.post("/api/v1/namespaces", {"metadata": {"name": name}}).status in (201, 409)
            yield Running(sandbox, address, keys, broken)


class running:  # noqa: N801  # reads like a function
    """The server in a thread; yields its address."""

    def __init__(self, serving: Serving, kubeconfig: Path, folder: Path, broken: set[str]) -> None:
        self._loop, self._ended, self._ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
        self._address = ""
        client = KubeClient.from_kubeconfig(str(kubeconfig))
        store = Store(folder / "store")

        def open_(reference: str, _: ImageSource) -> Snapshot | Unavailable:
            if reference in broken:
                return Unavailable("Unreachable", "the registry is away")
            place = folder / reference
            place.mkdir(exist_ok=True)
            documents = [one for package in reference.split("+") for one in a_catalog(package)]
            (place / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
            return snapshot_at(str(place), store)

        def started(address: str) -> None:
            self._address = address
            self._ready.set()

        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(
                serve(serving, client, open_, on_ready=started, ended=self._ended)
            )
        )

    def __enter__(self) -> str:
        self._thread.start()
        assert self._ready.wait(60)
        return self._address

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()


def a_catalog(package: str) -> list[Json]:
    about = a_property("olm.csv.metadata", displayName=package.title(), provider={"name": "Acme"})
    name = f"{package}.v1.0.0"
    icon = {"base64data": base64.b64encode(PICTURE).decode(), "mediatype": "image/png"}
    return [
        a_package(package, defaultChannel="alpha", **({"icon": icon} if package == "tea" else {})),
        a_channel("alpha", {"name": name}, package=package), a_bundle(name, "1.0.0", about, package=package),
    ]  # fmt: skip


@pytest.fixture
def shop(server: Running) -> Iterator[Running]:
    """Tea for everybody, a cup for one namespace."""
    server.publish("olm", "shop", "tea", displayName="The shop")
    server.publish("mine", "kiosk", "cup")
    wait_for(lambda: server.names("mine") == ["cup", "tea"])
    yield server
    server.broken.clear()
    for namespace, name in (("olm", "shop"), ("mine", "kiosk")):
        server.sandbox.delete(f"{SOURCES.format(namespace)}/{name}")
    wait_for(lambda: server.names("mine") == [])


def test_13_1_what_is_served(server: Running) -> None:
    served = server.ask(BASE).body
    assert (served["kind"], served["groupVersion"]) == ("APIResourceList", BASE.removeprefix("/apis/"))
    assert [(one["name"], one["verbs"]) for one in served["resources"]] == [
        ("packagemanifests", ["get", "list", "watch"]), ("packagemanifests/icon", ["get"]),
    ]  # fmt: skip
    assert server.ask("/apis").body["groups"][0]["name"] == "packages.operators.coreos.com"
    assert server.ask("/readyz").status == server.ask("/livez").status == 200


def test_155_each_namespace_sees_its_own_and_the_global_packages(shop: Running) -> None:
    assert [shop.names(one) for one in ("mine", "olm", "theirs")] == [["cup", "tea"], ["tea"], ["tea"]]
    everything = shop.ask(f"{BASE}/packagemanifests").body["items"]
    assert [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in everything] == [
        ("mine", "cup"), ("olm", "tea"),
    ]  # fmt: skip


def test_156_270_271_one_package(shop: Running) -> None:
    found = shop.ask(f"{BASE}/namespaces/theirs/packagemanifests/tea")
    assert (found.status, found.body["metadata"]["namespace"], found.body["status"]["channels"][0]["currentCSV"]) == (
        200, "theirs", "tea.v1.0.0",
    )  # fmt: skip
    absent = shop.ask(f"{BASE}/namespaces/theirs/packagemanifests/cup")
    assert (absent.status, absent.body["reason"]) == (404, "NotFound")


SELECTIONS = [
    pytest.param("labelSelector=catalog", ["cup", "tea"], id="csv.md 277: catalog"),
    pytest.param("labelSelector=!catalog", [], id="csv.md 277: not catalog"),
    pytest.param("", ["cup", "tea"], id="csv.md 277: nothing"),
    pytest.param("labelSelector=catalog+in+(kiosk)", ["cup"], id="one catalog"),
    pytest.param("fieldSelector=metadata.name%3Dtea", ["tea"], id="csv.md 13.1: a name"),
]


@pytest.mark.parametrize(("query", "names"), SELECTIONS)
@pytest.mark.parametrize("path", ["/namespaces/mine/packagemanifests", "/packagemanifests"])
def test_selectors(shop: Running, path: str, query: str, names: list[str]) -> None:
    found = shop.ask(f"{BASE}{path}?{query}").body["items"]
    assert [one["metadata"]["name"] for one in found] == names


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("fieldSelector=metadata.namespace%3Dx", "field label not supported: metadata.namespace"),
        ("fieldSelector=metadata.name!%3Dx", "field label not supported: metadata.name!=x"),
        ("labelSelector=a,", "found '', expected: identifier after ','"),
    ],
)
def test_13_1_wrong_selectors(server: Running, query: str, message: str) -> None:
    found = server.ask(f"{BASE}/packagemanifests?{query}")
    assert (found.status, found.body["message"]) == (400, message)


def test_13_1_a_table(shop: Running) -> None:
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    found = shop.ask(f"{BASE}/namespaces/mine/packagemanifests", accept=accept).body
    assert [one["name"] for one in found["columnDefinitions"]] == ["Name", "Catalog", "Age"]
    assert [row["cells"][:2] for row in found["rows"]] == [["cup", ""], ["tea", "The shop"]]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_161_an_icon(shop: Running) -> None:
    path = f"{BASE}/namespaces/mine/packagemanifests/tea/icon"
    found = shop.ask(path)
    assert (found.status, found.body, found.headers["Content-Type"]) == (200, PICTURE, "image/png")
    assert found.headers["ETag"] == '"tea.alpha.tea.v1.0.0"'
    assert found.headers["Content-Security-Policy"].startswith("sandbox;"), "a picture may be an SVG with scripts"
    assert shop.ask(path, headers={"If-None-Match": found.headers["ETag"]}).status == 304
    assert shop.ask(path, headers={"If-None-Match": '"else"'}).status == 200


def test_13_6_without_an_icon_there_is_a_picture(shop: Running) -> None:
    found = shop.ask(f"{BASE}/namespaces/mine/packagemanifests/cup/icon")
    assert (found.body, found.headers["Content-Type"], found.headers.get("ETag")) == (
        NO_ICON.content, "image/svg+xml", None,
    )  # fmt: skip
    assert shop.ask(f"{BASE}/namespaces/mine/packagemanifests/pot/icon").status == 404


def test_160_a_new_name_of_the_catalog_shows(shop: Running) -> None:
    shop.sandbox.patch(f"{SOURCES.format('olm')}/shop", {"spec": {"displayName": "The tea shop"}})
    path = f"{BASE}/namespaces/theirs/packagemanifests/tea"
    wait_for(lambda: shop.ask(path).body["status"]["catalogSourceDisplayName"] == "The tea shop")


def test_13_7_a_catalog_whose_server_is_away_shows_nothing(shop: Running) -> None:
    shop.publish("olm", "shop", "tea", "TRANSIENT_FAILURE")
    wait_for(lambda: shop.names("mine") == ["cup"])
    shop.publish("olm", "shop", "tea")
    wait_for(lambda: shop.names("mine") == ["cup", "tea"])


def test_272_content_that_cannot_be_read_hides_no_other_catalog(shop: Running) -> None:
    shop.broken.add("pot")
    shop.publish("theirs", "broken", "pot")
    shop.publish("theirs", "fine", "jug")
    wait_for(lambda: shop.names("theirs") == ["jug", "tea"])
    shop.sandbox.delete(f"{SOURCES.format('theirs')}/broken")
    shop.sandbox.delete(f"{SOURCES.format('theirs')}/fine")
    wait_for(lambda: shop.names("theirs") == ["tea"])


def test_a_watch_reports_what_changes(shop: Running) -> None:
    path = f"{BASE}/namespaces/mine/packagemanifests"
    version = shop.ask(path).body["metadata"]["resourceVersion"]
    shop.publish("mine", "kiosk", "cup+jug")
    wait_for(lambda: shop.names("mine") == ["cup", "jug", "tea"])
    assert watched(shop, f"{path}?watch=1&resourceVersion={version}", 1) == [("ADDED", "jug")]
    assert watched(shop, f"{path}?watch=1", 3) == [("ADDED", "cup"), ("ADDED", "jug"), ("ADDED", "tea")]
    assert watched(shop, f"{path}?watch=1&fieldSelector=metadata.name%3Dtea", 1) == [("ADDED", "tea")]


@pytest.mark.parametrize("version", ["1", "nonsense", "99999999999999"])
def test_a_watch_from_an_unknown_version_lists_again(server: Running, version: str) -> None:
    [(kind, code)] = watched(server, f"{BASE}/packagemanifests?watch=1&resourceVersion={version}", 1)
    assert (kind, code) == ("ERROR", 410)


def watched(server: Running, path: str, count: int) -> list[tuple[str, Any]]:
    headers = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    with server.pool("front-proxy") as pool:
        answer = pool.request("GET", f"{server.address}{path}", headers=headers, preload_content=False)
        rest = b""
        for chunk in answer.stream(65536):
            rest += chunk
            if rest.count(b"\n") >= count:
                break
        answer.close()
    events = [json.loads(line) for line in rest.splitlines()]
    return [(one["type"], one["object"].get("code") or one["object"]["metadata"]["name"]) for one in events]


RULE = {"apiGroups": ["packages.operators.coreos.com"], "resources": ["packagemanifests"], "verbs": ["list"]}


def test_who_may_list_is_asked_for_each_namespace(shop: Running) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    assert shop.sandbox.post(f"{rbac}/clusterroles", {"metadata": {"name": "packages"}, "rules": [RULE]}).status == 201
    subject = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
    role = {"kind": "ClusterRole", "name": "packages", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "ann"}, "subjects": [subject], "roleRef": role}
    assert shop.sandbox.post(f"{rbac}/namespaces/mine/rolebindings", binding).status == 201
    path = f"{BASE}/namespaces/{{}}/packagemanifests"
    assert shop.ask(path.format("mine"), "ann", ()).status == 200
    refused = shop.ask(path.format("theirs"), "ann", ())
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert 'User "ann" cannot list resource "packagemanifests"' in refused.body["message"]
    assert shop.ask(f"{BASE}/packagemanifests", "ann", ()).status == 403
    assert shop.ask(f"{path.format('mine')}/tea", "ann", ()).status == 403
    assert shop.ask(f"{path.format('mine')}?watch=true", "ann", ()).status == 403


@pytest.mark.parametrize("client", ["", "other"])
def test_headers_count_from_the_front_proxy_alone(server: Running, client: str) -> None:
    refused = server.ask(f"{BASE}/packagemanifests", client=client)
    assert refused.status == 403
    assert "system:anonymous" in refused.body["message"]


def test_a_token_is_reviewed(server: Running) -> None:
    path, ours = f"{BASE}/packagemanifests", {"Authorization": f"Bearer {server.sandbox.token}"}
    assert server.ask(path, client="", headers=ours).status == 200
    assert server.ask(path, client="", headers={"Authorization": "Bearer nonsense"}).status == 401


def test_watches_of_one_user_have_an_end(shop: Running) -> None:
    """Each has its place in memory; another user is not kept out, and one that ends makes room."""
    path, sent = f"{shop.address}{BASE}/namespaces/mine/packagemanifests?watch=1", {"X-Remote-Group": "system:masters"}

    def watching(pool: urllib3.PoolManager, user: str) -> urllib3.BaseHTTPResponse:
        return pool.request("GET", path, headers=sent | {"X-Remote-User": user}, preload_content=False)

    with shop.pool("front-proxy") as pool:
        locked = [watching(pool, "ann") for _ in range(16)]
        try:
            assert {one.status for one in locked} == {200}
            refused = watching(pool, "ann")
            output = json.loads(refused.data)
            assert (refused.status, output["reason"], refused.headers["Retry-After"]) == (429, "TooManyRequests", "5")
            assert shop.ask(f"{BASE}/namespaces/mine/packagemanifests", "ann").status == 200
            locked.append(watching(pool, "ben"))
            assert locked[-1].status == 200
        finally:
            for one in locked:
                one.close()

        def is_let_in() -> bool:
            with contextlib.closing(watching(pool, "ann")) as again:
                return again.status == 200

        wait_for(is_let_in, "room for another watch")
