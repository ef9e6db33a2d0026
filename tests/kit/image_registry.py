"""A registry that says what a test wants it to say, true or not."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import socket
import ssl
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

TLS_HELLO, MOST_BYTES = b"\x16", 64 * 1024
WANTS_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
Entry: TypeAlias = tuple[tarfile.TarInfo, bytes]


@dataclass
class Answer:
    """One HTTP response."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_to: int | None = None
    """Send only so many bytes of the body, then hang up."""


@dataclass
class Request:
    """What was asked."""

    method: str
    path: str
    authorization: str
    span: str = ""
    """The header `Range`."""


@dataclass
class ScriptedRegistry:
    """Answers by path; `gate` may answer instead, e.g. with 401."""

    address: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    gate: Callable[[Request], Answer | None] = lambda _: None

    def put(self, name: str, tag: str, layers: Sequence[bytes], labels: Mapping[str, str] | None = None) -> str:
        """Publish an image; its digest."""
        config = self.blob(name, json.dumps({"config": {"Labels": dict(labels or {})}}).encode())
        manifest = {"schemaVersion": 2, "config": config, "layers": [self.blob(name, layer) for layer in layers]}
        return self.manifest(name, tag, manifest)

    def manifest(self, name: str, tag: str, manifest: Mapping[str, Any]) -> str:
        """Publish a manifest; its digest."""
        content = json.dumps(manifest).encode()
        digest = digest_of(content)
        answer = Answer(content, headers={"Docker-Content-Digest": digest})
        self.answers[f"/v2/{name}/manifests/{tag}"] = self.answers[f"/v2/{name}/manifests/{digest}"] = answer
        return digest

    def blob(self, name: str, content: bytes) -> dict[str, Any]:
        """Publish a blob; its descriptor."""
        digest = digest_of(content)
        self.answers[f"/v2/{name}/blobs/{digest}"] = Answer(content)
        return {"mediaType": "x", "digest": digest, "size": len(content)}

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        return self.gate(request) or self.answers.get(request.path.partition("?")[0]) or Answer(status=404)


class Server(ThreadingHTTPServer):
    """With a certificate it speaks TLS, and says so to who does not, as registries in Go do."""

    tls: ssl.SSLContext | None = None

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.tls is None:
            return connection, address
        if connection.recv(1, socket.MSG_PEEK) == TLS_HELLO:
            return self.tls.wrap_socket(connection, server_side=True), address
        connection.recv(MOST_BYTES)
        connection.sendall(WANTS_TLS)
        connection.close()
        raise ConnectionError("not TLS")


@contextmanager
def scripted_registry(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedRegistry]:
    """The registry on loopback: plain, or with the certificate of `tls`."""
    registry = ScriptedRegistry()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = registry.answer(
                Request(self.command, self.path, self.headers.get("Authorization", ""), self.headers.get("Range", ""))
            )
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut_to])
            self.close_connection = answer.cut_to is not None

        do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815  # why: the name that http.server calls

        def log_message(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.tls = tls
        registry.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def digest_of(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def a_file(path: str, content: bytes = b"") -> Entry:
    return tarfile.TarInfo(path), content


def a_link(path: str, target: str, *, hard: bool = False) -> Entry:
    member = tarfile.TarInfo(path)
    member.type, member.linkname = (tarfile.LNKTYPE if hard else tarfile.SYMTYPE), target
    return member, b""


def a_device(path: str) -> Entry:
    member = tarfile.TarInfo(path)
    member.type = tarfile.CHRTYPE
    return member, b""


def a_layer(*entries: Entry, compressed: bool = True) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member, content in entries:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0) if compressed else buffer.getvalue()


def in_zstd(content: bytes) -> bytes:
    """Content as a newer image builder compresses it: in two frames, with what is to be skipped between them."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    half = len(content) // 2
    skipped = b"\x50\x2a\x4d\x18" + len(b"index").to_bytes(4, "little") + b"index"
    return zstd.compress(content[:half]) + skipped + zstd.compress(content[half:])
