"""The server of catalogs beside a sandbox: who is served, and the same by every replica (v1.md §6)."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
import urllib3

from eventing.catalogs import changing_certificate, program
from eventing.catalogs.program import Content, Place, serve
from eventing.catalogs.served_catalogs import Open, ServedCatalogs
from eventing.catalogs.served_sources import ServedSources
from eventing.local.objects import apply_definitions
from shared import names
from shared.adapters.catalog_client.methods import REGISTRY, caller
from shared.adapters.catalog_client.registry_pb2 import ListPackageRequest, PackageName
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.snapshot.identity import digest_of
from shared.adapters.content.store import Store
from shared.adapters.kube import KubeClient, connect
from shared.adapters.oci.errors import OciError
from shared.api.expressions import V1
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE
from shared.ports import Unavailable
from tests.conformance.http import Api, Json
from tests.kit.fbc import a_bundle, a_channel, a_package
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS, wait_for
from tests.kit.webhook_server import make_authority

DEEPEST: Json = {"type": "x", "value": json.loads("[" * 400 + "]" * 400)}
CATALOGS = f"/apis/{V1}/v1/clustercatalogs"
TEA, CUP, DEEP, DEFECT, FULL, POOR, SLOW = ("registry.example/c@sha256:" + digit * 64 for digit in "1234567")
PACKAGES = {TEA: "tea", CUP: "cup", DEEP: "deep", SLOW: "slow"}


@dataclass
class Replicas:
    """Two servers with a store of their own each, and the sandbox that both follow."""

    sandbox: Api
    kubeconfig: Path
    keys: Path
    addresses: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    """Of the registry API."""
    broken: set[str] = field(default_factory=set)
    tried: Counter[str] = field(default_factory=Counter)
    """How often each content was to be opened."""
    patience: threading.Event = field(default_factory=threading.Event)
    """When the slow one answers."""

    def opens(self, folder: Path) -> tuple[Open, Store]:
        """What opens catalogs below a folder, and its store."""
        store = Store(folder / "store")

        def open_(reference: str, _: ImageSource) -> Snapshot | Unavailable:
            self.tried[reference] += 1
            if reference in self.broken or reference == POOR:
                return Unavailable("Unreachable", "the registry is away")
            if reference == FULL:
                raise OciError("TooLarge", "it does not fit")
            if reference == SLOW:
                assert self.patience.wait(PATIENCE_SECONDS)
            return snapshot_of(folder.parent / PACKAGES[reference], store, digest_of)

        return open_, store

    def ask(self, path: str, replica: int = 0, method: str = "GET") -> urllib3.BaseHTTPResponse:
        with urllib3.PoolManager(ca_certs=str(self.keys / "ca.crt"), timeout=30, retries=False) as pool:
            return pool.request(method, f"{self.addresses[replica]}/catalogs/{path}")

    def publish(self, name: str, reference: str = "", unpacked: str = "2026-01-01T00:00:00Z", **spec: Json) -> None:
        """A ClusterCatalog whose status says that this content is served."""
        source = {"type": "Image", "image": {"ref": "registry.example/c:v1"}}
        if self.sandbox.get(f"{CATALOGS}/{name}").status == 404:
            assert self.sandbox.post(CATALOGS, {"metadata": {"name": name}, "spec": {"source": source}}).status == 201
        if spec:
            assert self.sandbox.patch(f"{CATALOGS}/{name}", {"spec": spec}).status == 200
        if reference:
            resolved = {"type": "Image", "image": {"ref": reference}}
            status = {"resolvedSource": resolved, "lastUnpacked": unpacked}
            assert self.sandbox.patch(f"{CATALOGS}/{name}/status", {"status": status}).status == 200

    def until(self, path: str, status: int) -> None:
        """Both replicas answer so."""
        every = range(len(self.addresses))
        wait_for(lambda: all(self.ask(path, one).status == status for one in every), f"{status} of {path}")


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    folder = tmp_path_factory.mktemp("catalogs")
    keys = make_authority(folder / "pki", "IP:127.0.0.1")
    for package in PACKAGES.values():
        (folder / package).mkdir()
        (folder / package / "catalog.json").write_text("\n".join(map(json.dumps, documents(package))))
    with running_sandbox(folder / "sandbox") as kubeconfig, ExitStack() as stack:
        apply_definitions(KubeClient.from_kubeconfig(str(kubeconfig)))
        found = Replicas(Api.of(kubeconfig), kubeconfig, keys)
        places = [found.opens(folder / str(one)) for one in range(2)]
        servers = [stack.enter_context(running(kubeconfig, keys, *each)) for each in places]
        found.addresses, found.ports = (tuple(each) for each in zip(*servers, strict=True))
        yield found
        found.patience.set()


@contextmanager
def running(kubeconfig: Path, keys: Path, open_: Open, store: Store) -> Iterator[tuple[str, int]]:
    """The address of a server in a thread, and its port of the registry API."""
    loop, ended, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    addresses: list[str] = []
    ports: list[int] = []

    def started(address: str) -> None:
        addresses.append(address)
        ready.set()

    async def work() -> None:
        content = Content(ServedCatalogs([open_, open_], store, "olm"), ServedSources([open_], [open_], "olm"))
        place = Place("127.0.0.1", 0, keys / "server.crt", keys / "server.key")
        await serve(place, connect(str(kubeconfig)), content, on_ready=started, ended=ended, on_registry=ports.append)

    thread = threading.Thread(target=lambda: loop.run_until_complete(work()))
    thread.start()
    try:
        assert ready.wait(PATIENCE_SECONDS)
        wait_for(lambda: ports, "the registry API")
        yield addresses[0], ports[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def documents(package: str) -> list[Json]:
    name = f"{package}.v1.0.0"
    return [
        a_package(package, defaultChannel="alpha"), a_channel("alpha", {"name": name}, package=package),
        a_bundle(name, "1.0.0", package=package) | ({"properties": [DEEPEST]} if package == "deep" else {}),
    ]  # fmt: skip


def test_v1_md_6_every_replica_serves_the_same(replicas: Replicas) -> None:
    replicas.publish("same", TEA)
    replicas.until("same/api/v1/all", 200)
    first, second = (replicas.ask("same/api/v1/all", one) for one in range(2))
    assert first.data == second.data != b""
    for name in ("ETag", "Last-Modified", "Content-Type", "Content-Length"):
        assert first.headers[name] == second.headers[name]
    assert first.headers["Last-Modified"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    head = replicas.ask("same/api/v1/all", 1, "HEAD")
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(first.data)))
    assert [json.loads(replicas.ask("same/api/v1/metas?schema=olm.package").data)["name"]] == ["tea"]


def test_v1_md_6_several_catalogs_below_one_address(replicas: Replicas) -> None:
    replicas.publish("one", TEA)
    replicas.publish("two", CUP)
    replicas.until("one/api/v1/all", 200)
    replicas.until("two/api/v1/all", 200)
    assert b"cup" not in replicas.ask("one/api/v1/all").data
    assert b"tea" not in replicas.ask("two/api/v1/all").data


def test_a_catalog_follows_its_status(replicas: Replicas) -> None:
    replicas.publish("moves", TEA)
    replicas.until("moves/api/v1/all", 200)
    before = replicas.ask("moves/api/v1/all")
    replicas.publish("moves", CUP, "2026-02-01T00:00:00Z")
    wait_for(lambda: replicas.ask("moves/api/v1/all").data not in (before.data, b"503 Service Unavailable\n"))
    after = replicas.ask("moves/api/v1/all")
    assert b"cup" in after.data
    assert (after.headers["ETag"] != before.headers["ETag"], after.headers["Last-Modified"]) == (
        True,
        "Sun, 01 Feb 2026 00:00:00 GMT",
    )


def test_content_that_is_not_here_yet_is_503_and_what_does_not_exist_404(replicas: Replicas) -> None:
    replicas.broken.add(TEA)
    replicas.publish("late", TEA)
    replicas.publish("never")
    replicas.until("late/api/v1/all", 503)
    replicas.until("never/api/v1/all", 503)
    assert replicas.ask("late/api/v1/metas").headers["Retry-After"] == "1"
    assert replicas.ask("nobody/api/v1/all").status == 404
    replicas.broken.clear()
    replicas.until("late/api/v1/all", 200)


def test_what_is_unavailable_or_gone_is_404(replicas: Replicas) -> None:
    replicas.publish("off", TEA)
    replicas.publish("gone", TEA)
    replicas.until("off/api/v1/all", 200)
    replicas.until("gone/api/v1/all", 200)
    replicas.publish("off", availabilityMode="Unavailable")
    assert replicas.sandbox.delete(f"{CATALOGS}/gone").status == 200
    replicas.until("off/api/v1/all", 404)
    replicas.until("gone/api/v1/all", 404)


def test_one_bad_catalog_does_not_end_the_others(replicas: Replicas) -> None:
    replicas.publish("deep", DEEP)
    replicas.publish("defect", DEFECT)
    replicas.publish("full", FULL)
    replicas.until("deep/api/v1/all", 200)
    replicas.until("defect/api/v1/all", 503)
    replicas.until("full/api/v1/all", 503)
    replicas.publish("good", TEA)
    replicas.until("good/api/v1/all", 200)


def test_what_cannot_be_opened_is_tried_again_once_for_each_pause(replicas: Replicas) -> None:
    replicas.publish("poor", POOR)
    replicas.until("poor/api/v1/all", 503)
    wait_for(lambda: replicas.tried[POOR] >= 2, "both replicas have tried it")
    for number in range(8):
        replicas.sandbox.patch(f"{CATALOGS}/poor", {"metadata": {"annotations": {"number": str(number)}}})
    replicas.publish("after", CUP)
    replicas.until("after/api/v1/all", 200)  # whoever serves this one has heard of all of that
    assert replicas.tried[POOR] == 2


def test_a_slow_catalog_holds_up_no_other(replicas: Replicas) -> None:
    replicas.publish("slow", SLOW)
    wait_for(lambda: replicas.tried[SLOW] >= 2, "both replicas are at it")
    replicas.publish("quick", CUP)
    replicas.until("quick/api/v1/all", 200)
    replicas.patience.set()


def test_a_new_certificate_is_shown_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replicas: Replicas
) -> None:
    monkeypatch.setattr(changing_certificate, "RENEW_SECONDS", 0.01)
    keys = make_authority(tmp_path / "old", "IP:127.0.0.1")

    with running(replicas.kubeconfig, keys, *replicas.opens(tmp_path)) as (address, _):
        before = shown(address)
        assert before in (keys / "server.crt").read_text()
        (keys / "server.crt").write_text("half of a pair")
        renewed = make_authority(tmp_path / "new", "IP:127.0.0.1")
        assert shown(address) == before
        for name in ("server.key", "server.crt"):
            (keys / name).write_bytes((renewed / name).read_bytes())
        wait_for(lambda: shown(address) in (renewed / "server.crt").read_text(), "the new certificate")


def test_who_connects_while_the_certificate_changes_is_shown_a_whole_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replicas: Replicas
) -> None:
    monkeypatch.setattr(changing_certificate, "RENEW_SECONDS", 0.0)
    keys, other = (make_authority(tmp_path / name, "IP:127.0.0.1") for name in ("present", "other"))
    pairs = [{name: (each / name).read_bytes() for name in ("server.key", "server.crt")} for each in (keys, other)]
    known = [pair["server.crt"].decode() for pair in pairs]
    with running(replicas.kubeconfig, keys, *replicas.opens(tmp_path)) as (address, _):
        for number in range(40):
            for name, content in pairs[number % 2].items():
                (keys / name).write_bytes(content)
            for _ in range(10):
                found = shown(address)
                assert any(found in each for each in known), found


def test_who_speaks_no_tls_stops_nobody(replicas: Replicas) -> None:
    replicas.publish("safe", TEA)
    replicas.until("safe/api/v1/all", 200)
    host, _, port = replicas.addresses[0].removeprefix("https://").partition(":")
    with socket.create_connection((host, int(port))) as silent:
        assert replicas.ask("safe/api/v1/all").status == 200, "nobody waits for a client that says nothing"
        silent.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert replicas.ask("safe/api/v1/all").status == 200


def test_catalog_md_2_4_1_every_replica_answers_for_every_catalog_source(replicas: Replicas) -> None:
    content = {"type": names.RESOLVED_CONTENT, "status": "True", "reason": "ContentRead", "message": TEA}
    content["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    about = {"protocol": "grpc", "serviceName": "tea", "serviceNamespace": "olm", "port": "50051"}
    sources = f"/apis/{CATALOG_SOURCE.api_version}/namespaces/olm/{CATALOG_SOURCE.plural}"
    spec = {"sourceType": "grpc", "image": "registry.example/c:v1"}
    replicas.sandbox.post("/api/v1/namespaces", {"metadata": {"name": "olm"}})
    assert replicas.sandbox.post(sources, {"metadata": {"name": "tea"}, "spec": spec}).status == 201
    status = {"status": {"conditions": [content], "registryService": about}}
    assert replicas.sandbox.patch(f"{sources}/tea/status", status).status == 200
    options = [("grpc.default_authority", "tea.olm.svc:50051")]
    for port in replicas.ports:
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            wait_for(lambda: packages(channel) == ["tea"], "the catalog")  # why: it is waited for here
    assert replicas.sandbox.delete(f"{sources}/tea").status == 200
    with grpc.insecure_channel(f"127.0.0.1:{replicas.ports[0]}", options=options) as channel:
        wait_for(lambda: packages(channel) == [], "its end")


def test_a_registry_api_that_ends_is_begun_anew_and_ends_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    async def answer(*_: object) -> None:
        tried.append("again")
        if len(tried) == 1:
            raise ExceptionGroup("", [KeyError("a defect")])
        raise asyncio.CancelledError

    monkeypatch.setattr(program, "AGAIN_SECONDS", 0)
    monkeypatch.setattr(program, "_answer_registry", answer)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(program._serve_registry(*[None] * 4))  # type: ignore[arg-type]  # why: only its loop
    assert len(tried) == 2


def shown(address: str) -> str:
    """The certificate that a client is shown."""
    host, _, port = address.removeprefix("https://").partition(":")
    return ssl.get_server_certificate((host, int(port)))


def packages(channel: grpc.Channel) -> list[str]:
    """The packages of a catalog; none of one that is not there."""
    method = REGISTRY.methods_by_name["ListPackages"]
    try:
        return [PackageName.FromString(each).name for each in caller(channel, method)(ListPackageRequest(), timeout=30)]
    except grpc.RpcError as error:
        if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE):
            raise
        return []
