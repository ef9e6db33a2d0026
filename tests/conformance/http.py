"""A few lines of HTTP for the conformance suite: what went over the wire, not what a client library made of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import urllib3
import yaml

Json = Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Status code and decoded body."""

    status: int
    body: Json
    headers: Any


class Api:
    """One API server, with the credentials of a kubeconfig."""

    def __init__(self, server: str, token: str, authority: str | None = None) -> None:
        self.server, self.token, self._authority = server, token, authority
        self._more: dict[str, str] = {}
        self._pool = urllib3.PoolManager(ca_certs=authority, timeout=30, retries=False)

    @classmethod
    def of(cls, kubeconfig: Path) -> Api:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        return cls(cluster["server"], user["token"], cluster.get("certificate-authority"))

    def as_user(self, token: str) -> Api:
        """The same server with other credentials."""
        return Api(self.server.partition("/token/")[0], token, self._authority)

    def as_other(self, headers: dict[str, str]) -> Api:
        """The same server and credentials, with more headers."""
        return Api.logged_in(**{**self.login(), "headers": headers})

    def again(self) -> Api:
        """The same server and credentials, with connections of its own."""
        return Api.logged_in(**self.login())

    def login(self) -> dict[str, Any]:
        """What another process needs to be the same client, as JSON values."""
        return {"server": self.server, "token": self.token, "authority": self._authority, "headers": self._more}

    @classmethod
    def logged_in(cls, server: str, token: str, authority: str | None, headers: dict[str, str]) -> Api:
        """The client of a `login`."""
        other = cls(server, token, authority)
        other._more = headers
        return other

    def _headers(self, accept: str, content: str) -> dict[str, str]:
        headers = {"Accept": accept, "Content-Type": content}
        return headers | self._more | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def send(
        self, method: str, path: str, body: Json = None, *, accept: str = "application/json",
        content: str = "application/json",
    ) -> Answer:  # fmt: skip
        data = body if isinstance(body, bytes) else None if body is None else orjson.dumps(body)
        answer = self._pool.request(method, self.server + path, body=data, headers=self._headers(accept, content))
        try:
            decoded = orjson.loads(answer.data)
        except orjson.JSONDecodeError:
            decoded = answer.data.decode()
        return Answer(answer.status, decoded, answer.headers)

    def get(self, path: str, *, accept: str = "application/json") -> Answer:
        return self.send("GET", path, accept=accept)

    def post(self, path: str, body: Json) -> Answer:
        return self.send("POST", path, body)

    def put(self, path: str, body: Json) -> Answer:
        return self.send("PUT", path, body)

    def delete(self, path: str, body: Json = None) -> Answer:
        return self.send("DELETE", path, body)

    def patch(self, path: str, body: Json, kind: str = "merge-patch+json") -> Answer:
        return self.send("PATCH", path, body, content=f"application/{kind}")

    @contextmanager
    def watch(self, path: str, *, accept: str = "application/json") -> Iterator[Iterator[Json]]:
        """The events of a watch as they come; it ends with the block."""
        answer = self._pool.request(
            "GET", self.server + path, headers=self._headers(accept, "application/json"), preload_content=False
        )
        try:
            yield (orjson.loads(line) for line in _lines(answer))
        finally:
            answer.close()


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in answer.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from filter(None, lines)
