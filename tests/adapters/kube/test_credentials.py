"""Certificates, tokens and kubeconfigs are rotated while programs work: they go on by themselves."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from eventing.watch.stream import Stream
from shared.adapters.kube import ApiError, Connection, KubeClient, connect
from shared.adapters.kube.connection import of_pod
from shared.adapters.kube.credentials import LOOK_SECONDS, Credentials, FileCredentials, Verification
from shared.kinds import NAMESPACE
from tests.conformance.keys import leaf, openssl


@dataclass
class Hands:
    """A clock that a test moves."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def certificates(folder: Path, name: str) -> None:
    """An authority, and what it signs: a certificate of 127.0.0.1."""
    subject = ("-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", *subject)
    serving(folder)


def serving(folder: Path) -> None:
    leaf(folder, "ca", "server", "subjectAltName=IP:127.0.0.1")


class Answers(BaseHTTPRequestHandler):
    """An empty list to who has the token that counts now."""

    protocol_version = "HTTP/1.1"
    token = "one"  # of a test

    def do_GET(self) -> None:
        is_known = self.headers["Authorization"] == f"Bearer {self.token}"
        body = b'{"kind":"NamespaceList","items":[],"metadata":{"resourceVersion":"7"}}' if is_known else b"{}"
        self.send_response(200 if is_known else 401)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # every request meets the certificate of now
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@dataclass
class Cluster:
    """An API server whose certificates and tokens a test rotates, and the files by which a pod knows it."""

    folder: Path
    url: str
    tls: ssl.SSLContext
    answers: type[Answers]
    hands: Hands

    @property
    def connection(self) -> Connection:
        authority, token = self.folder / "mounted.crt", self.folder / "mounted-token"
        files = FileCredentials(partial(of_pod, authority, token, Verification()), (authority, token), self.hands)
        return Connection(self.url, files)

    def mount(self) -> None:
        """What the kubelet mounts: whole files, each put in the place of the one before."""
        for name, content in (("mounted.crt", (self.folder / "ca.crt").read_text()), ("mounted-token", Answers.token)):
            new = self.folder / "new"
            new.write_text(content)
            new.replace(self.folder / name)
        self.hands.seconds += LOOK_SECONDS

    def serve_again(self) -> None:
        """The server begins to use the certificate that lies there."""
        self.tls.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    certificates(tmp_path, "one")
    Answers.token = "one"
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server = HTTPServer(("127.0.0.1", 0), Answers)
    found = Cluster(tmp_path, f"https://127.0.0.1:{server.server_port}", tls, Answers, Hands())
    found.serve_again()
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    found.mount()
    yield found
    server.shutdown()
    server.server_close()


def a_new_serving_certificate(cluster: Cluster) -> None:
    serving(cluster.folder)
    cluster.serve_again()


def a_new_authority(cluster: Cluster) -> None:
    certificates(cluster.folder, "two")
    cluster.serve_again()
    cluster.mount()


def a_new_token(cluster: Cluster) -> None:
    Answers.token = "two"
    cluster.mount()


@pytest.mark.parametrize("rotate", [a_new_serving_certificate, a_new_authority, a_new_token])
async def test_a_program_goes_on_when_its_cluster_rotates(cluster: Cluster, rotate: Callable[[Cluster], None]) -> None:
    client = KubeClient(cluster.connection)
    async with aiohttp.ClientSession() as session:
        stream = Stream(session, cluster.connection, NAMESPACE)
        for _ in range(2):
            assert client.list(NAMESPACE) == ()
            assert await stream.version() == "7"
            rotate(cluster)


def test_a_new_token_leaves_the_connections_as_they_are_and_a_new_authority_does_not(cluster: Cluster) -> None:
    connection = cluster.connection
    before = connection.tls
    a_new_token(cluster)
    assert (connection.authorization(), connection.tls is before) == ("Bearer two", True)
    a_new_authority(cluster)
    assert connection.tls is not before


def test_a_new_certificate_of_ours_is_shown_by_a_new_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.kube.credentials.LOOK_SECONDS", 0)
    certificates(tmp_path, "one")
    user = {"client-certificate": "server.crt", "client-key": "server.key", "token": "one"}
    cluster = {"server": "https://here", "certificate-authority": "ca.crt"}
    path = tmp_path / "kubeconfig"

    def write(token: str) -> None:
        path.write_text(yaml.safe_dump({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "c", "user": {**user, "token": token}}],
        }))  # fmt: skip

    write("one")
    found = connect(str(path))
    before = found.tls
    write("other")
    assert (found.authorization(), found.tls is before) == ("Bearer other", True)
    serving(tmp_path)
    assert found.tls is not before


def test_until_the_new_authority_is_mounted_the_server_is_not_believed(cluster: Cluster) -> None:
    client = KubeClient(cluster.connection)
    certificates(cluster.folder, "two")
    cluster.serve_again()
    with pytest.raises(ApiError, match="CERTIFICATE_VERIFY_FAILED"):
        client.list(NAMESPACE)
    cluster.mount()
    assert client.list(NAMESPACE) == ()


def test_what_cannot_be_read_changes_nothing_and_is_looked_at_again(tmp_path: Path) -> None:
    file, hands = tmp_path / "token", Hands()
    file.write_text("one")

    def read() -> Credentials:
        if not (text := file.read_text()):
            raise ValueError("half written")
        return Credentials(None, lambda: text)

    found = FileCredentials(read, (file,), hands)
    seen = []
    for text in ("", None, "two"):
        file.write_text(text) if text is not None else file.unlink()
        hands.seconds += LOOK_SECONDS
        seen.append(found().authorization())
    assert seen == ["one", "one", "two"]
    file.write_text("three")
    assert found().authorization() == "two", "files are not looked at with each request"


def a_kubeconfig(folder: Path, current: str, **servers: str) -> str:
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump({
        "current-context": current,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in servers],
        "clusters": [{"name": name, "cluster": {"server": f"http://{name}"}} for name in servers],
        "users": [{"name": name, "user": {"token": token}} for name, token in servers.items()],
    }))  # fmt: skip
    return str(path)


def test_a_new_kubeconfig_gives_new_credentials_for_the_same_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.kube.credentials.LOOK_SECONDS", 0)
    found = connect(a_kubeconfig(tmp_path, "here", here="one"))
    a_kubeconfig(tmp_path, "here", here="two")
    assert found.authorization() == "Bearer two"
    a_kubeconfig(tmp_path, "there", here="three", there="other")
    assert found.authorization() == "Bearer three", "who makes another context the current one moves nobody"


def test_a_kubeconfig_that_leads_to_another_server_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.kube.credentials.LOOK_SECONDS", 0)
    found = connect(a_kubeconfig(tmp_path, "here", here="one"))
    path = Path(a_kubeconfig(tmp_path, "here", here="two"))
    path.write_text(path.read_text().replace("http://here", "http://elsewhere"))
    assert (found.server, found.authorization()) == ("http://here", "Bearer one")
    assert replace(found, agent="olmf/worker").authorization() == "Bearer one"
