"""Ways to servers of the registry API: judged, through a proxy, with TLS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.server import running, server_of
from shared.adapters.catalog_client.client import catalog_at
from shared.adapters.catalog_client.dialing import way_to
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from shared.adapters.keys.x509 import issue
from shared.adapters.oci.addresses import AddressRules
from shared.adapters.oci.errors import OciError
from tests.kit.catalogs import tea, written

RULES = AddressRules.parse(())


def answers(folder: Path) -> Answers:
    return Answers(snapshot_of(written(folder / "catalog", *tea()), Store(folder / "store")))


@pytest.mark.parametrize(
    ("address", "environ", "reason"),
    [
        pytest.param("foo", {}, "Malformed", id="8.3.43: no port"),
        pytest.param("127.0.0.1:1", {}, "Blocked", id="this machine"),
        pytest.param("169.254.169.254:80", {"GRPC_PROXY": "http://proxy:1"}, "Blocked", id="behind a proxy, too"),
        pytest.param("2130706433:80", {"GRPC_PROXY": "http://proxy:1"}, "Blocked", id="this machine as a number"),
        pytest.param("0x7f.1:80", {"GRPC_PROXY": "http://proxy:1"}, "Blocked", id="this machine in parts"),
        pytest.param("a%0d%0aX:80", {"GRPC_PROXY": "http://proxy:1"}, "Malformed", id="a line for the proxy"),
        pytest.param("localhost:80", {"GRPC_PROXY": "http://proxy:1"}, "Blocked", id="this machine by name"),
        pytest.param("nowhere.invalid:1", {}, "DNS", id="no such name"),
    ],
)
def test_what_is_not_dialled(address: str, environ: dict[str, str], reason: str) -> None:
    with pytest.raises(OciError) as caught:
        way_to(address, RULES, environ)
    assert caught.value.reason == reason


def test_what_is_dialled() -> None:
    assert way_to("10.0.0.7:50051", RULES, {}).target == "ipv4:10.0.0.7:50051"
    assert way_to("[fd00::7]:50051", RULES, {}).target == "ipv6:[fd00::7]:50051"
    proxied = way_to("tea.olm.svc:50051", RULES, {"GRPC_PROXY": "http://proxy:1"})
    assert proxied.target == "dns:///tea.olm.svc:50051"
    assert ("grpc.http_proxy", "http://proxy:1") in proxied.options


@contextmanager
def a_proxy(asked: list[str], port: int) -> Iterator[str]:
    """One that answers CONNECT by leading to `port`."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(65536):
                target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)  # why: a server that ends waits for who is still connected

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            asked.append(head.split(b"\r\n")[0].decode())
            server = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for pair in ((client, server), (server, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_row_43_a_server_behind_a_proxy_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    with running(answers(tmp_path)) as port, a_proxy(asked, port) as proxy:
        monkeypatch.setenv("GRPC_PROXY", proxy)
        assert b'"tea"' in catalog_at("tea.olm.svc:50051", rules=RULES)
    assert set(asked) == {"CONNECT tea.olm.svc:50051 HTTP/1.1"}


def test_a_server_with_tls_is_read_and_its_certificate_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, key = issue(("localhost",), datetime.now(UTC))
    server, _ = server_of(answers(tmp_path), "127.0.0.1:0")
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, pair.certificate.encode())]))
    server.start()
    try:
        address = f"grpcs://localhost:{port}"
        with pytest.raises(OciError) as caught:
            catalog_at(address)
        assert caught.value.reason == "Unreachable"
        monkeypatch.setenv("OLMF_REGISTRY_CA", pair.authority)
        assert b'"tea"' in catalog_at(address)
    finally:
        server.stop(0).wait()
