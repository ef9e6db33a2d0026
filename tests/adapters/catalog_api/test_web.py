from __future__ import annotations

import gzip
import json
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.catalog_api import lines
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.catalog_api.web import running
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from tests.kit.catalogs import a_bundle, tea, written
from tests.kit.waiting import PATIENCE_SECONDS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ALL = "/catalogs/tea/api/v1/all"
_METAS = "/catalogs/tea/api/v1/metas"
MOST_CLIENTS = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 50)
_PAST, _FUTURE = "Thu, 01 Jan 2015 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"


class Client:
    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(method, path, headers=named)
            response = connection.getresponse()
            return response.status, response.read(), dict(response.headers)

    def schemas(self, query: str) -> list[str]:
        status, content, _ = self.ask(f"{_METAS}?{query}")
        assert status == 200
        return [json.loads(line)["schema"] for line in content.splitlines()]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    store = Store(tmp_path / "store")
    documents = [*tea(), *(a_bundle(f"0.{minor}.0", package="cup") for minor in range(20))]
    snapshot = snapshot_of(written(tmp_path / "catalog", *documents), store)
    with running({"tea": Lines(snapshot, store)}) as port:
        yield Client(port)


def test_v1_md_6_all_documents_a_line_each(client: Client) -> None:
    status, content, headers = client.ask(_ALL)
    assert (status, headers["Content-Type"]) == (200, "application/jsonl")
    assert len(content.splitlines()) == 27
    assert {"Last-Modified", "ETag"} <= headers.keys()
    assert client.ask(_METAS)[1] == content


@pytest.mark.parametrize(
    ("query", "schemas"),
    [
        pytest.param("schema=olm.package", ["olm.package"], id="v1.md 6: by schema"),
        pytest.param("schema=olm.package&name=tea", ["olm.package"], id="v1.md 6: by schema and name"),
        pytest.param("schema=olm.channel&package=tea", ["olm.channel"] * 2, id="v1.md 6: by schema and package"),
        pytest.param("schema=olm.bundle&package=tea&name=tea.v1.1.0", ["olm.bundle"], id="v1.md 6: by all three"),
        pytest.param(
            "package=tea",
            ["olm.channel"] * 2 + ["olm.bundle"] * 3 + ["olm.deprecations"],
            id="v1.md 6: a package is no document of itself",
        ),
        pytest.param("schema=none", [], id="v1.md 6: no such schema"),
        pytest.param("name=none", [], id="v1.md 6: no such name"),
        pytest.param("schema=olm.package&&schema=olm.bundle", ["olm.package"], id="v1.md 6: the first value counts"),
        pytest.param("schema=olm.package&name=", ["olm.package"], id="v1.md 6: an empty value is none"),
    ],
)
def test_documents_by_their_words(client: Client, query: str, schemas: list[str]) -> None:
    assert client.schemas(query) == schemas


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        pytest.param("/", 404, "404 page not found", id="v1.md 6: the root"),
        pytest.param("/catalogs/tea/api/v1", 404, "404 page not found", id="v1.md 6: no route"),
        pytest.param("/catalogs/tea.jsonl", 404, "404 page not found", id="v1.md 6: a file"),
        pytest.param("/catalogs/none/api/v1/all", 404, "404 Not Found", id="v1.md 6: no such catalog"),
        pytest.param(f"{_METAS}?none=x", 400, "400 Bad Request", id="v1.md 6: an unknown parameter"),
        pytest.param(
            "/catalogs/T_/api/v1/all", 400, "invalid catalog name: a lowercase RFC 1123", id="v1.md 6: no name"
        ),
        pytest.param(
            "/catalogs/T_/api/v1/metas?none=x", 400, "invalid catalog name", id="v1.md 6: the name comes first"
        ),
    ],
)
def test_what_is_refused(client: Client, path: str, status: int, body: str) -> None:
    found, content, _ = client.ask(path)
    assert found == status
    assert content.decode().startswith(body)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_v1_md_6_other_methods(client: Client, method: str) -> None:
    assert client.ask(_ALL, method)[0] == 405
    assert client.ask("/none", method)[0] == 404


def test_v1_md_6_head_has_no_body(client: Client) -> None:
    status, content, headers = client.ask(_ALL, "HEAD")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) > 0
    assert client.ask(_ALL, "HEAD", Accept_Encoding="gzip")[:2] == (200, b"")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"If-Modified-Since": _FUTURE}, 304, id="v1.md 6: not modified since"),
        pytest.param({"If-Modified-Since": _PAST}, 200, id="v1.md 6: modified since"),
        pytest.param({"If-Modified-Since": "yesterday"}, 200, id="v1.md 6: a date that is none"),
        pytest.param({"If-Modified-Since": f"Mon, 01 Jan {10**12} 00:00:00 GMT"}, 200, id="v1.md 6: a date too far"),
        pytest.param({"If-None-Match": "*"}, 304, id="v1.md 6: any is known"),
        pytest.param({"If-None-Match": '"x"', "If-Modified-Since": _FUTURE}, 200, id="v1.md 6: tags before dates"),
        pytest.param({"If-Match": "*"}, 200, id="v1.md 6: any will do"),
        pytest.param({"If-Match": '"x"'}, 412, id="v1.md 6: another one is wanted"),
        pytest.param({"If-Unmodified-Since": _PAST}, 412, id="v1.md 6: modified meanwhile"),
        pytest.param({"If-Unmodified-Since": _FUTURE}, 200, id="v1.md 6: unmodified"),
    ],
)
@pytest.mark.parametrize("path", [_ALL, f"{_METAS}?schema=olm.package"])
def test_conditions(client: Client, path: str, headers: dict[str, str], status: int) -> None:
    assert client.ask(path, **headers)[0] == status


def test_what_was_told_is_known_again(client: Client) -> None:
    _, _, headers = client.ask(_ALL)
    assert client.ask(_ALL, If_None_Match=headers["ETag"])[:2] == (304, b"")
    assert client.ask(_ALL, If_Modified_Since=headers["Last-Modified"])[:2] == (304, b"")


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        pytest.param("bytes=0-9", slice(0, 10), id="from the start"),
        pytest.param("bytes=10-", slice(10, None), id="to the end"),
        pytest.param("bytes=-5", slice(-5, None), id="the last ones"),
    ],
)
def test_v1_md_6_ranges(client: Client, asked: str, part: Any) -> None:
    whole = client.ask(_ALL)[1]
    status, content, headers = client.ask(_ALL, Range=asked)
    assert (status, content) == (206, whole[part])
    assert headers["Content-Range"].endswith(f"/{len(whole)}")


def test_ranges_that_are_none(client: Client) -> None:
    whole = client.ask(_ALL)[1]
    assert client.ask(_ALL, Range="bytes=999999-")[0] == 416
    assert client.ask(_ALL, Range="bytes=-0")[0] == 416
    assert client.ask(_ALL, Range="lines=1-2")[:2] == (200, whole)
    assert client.ask(_ALL, Range=f"bytes={'9' * 5000}-")[:2] == (200, whole)
    assert client.ask(_ALL, Range="bytes=0-9", If_Range='"old"')[:2] == (200, whole)


def test_v1_md_6_large_answers_are_compressed_where_wanted(client: Client) -> None:
    whole = client.ask(_ALL)[1]
    _, content, headers = client.ask(_ALL, Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(content) == whole
    small = client.ask(f"{_METAS}?schema=olm.package", Accept_Encoding="gzip")
    assert "Content-Encoding" not in small[2]


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        pytest.param("gzip", "gzip", id="one"),
        pytest.param("gzip, zstd", "zstd", id="the one that packs better"),
        pytest.param("gzip, zstd;q=0.5", "gzip", id="the one that is liked better"),
        pytest.param("gzip;q=0", None, id="one that is refused"),
        pytest.param("gzip;q=x", None, id="a weight that is none"),
        pytest.param("*;q=0.1", "zstd", id="any"),
        pytest.param("br", None, id="another"),
    ],
)
@pytest.mark.parametrize("path", [_ALL, f"{_METAS}?schema=olm.bundle"])
def test_how_an_answer_is_packed(client: Client, path: str, accepted: str, coding: str | None) -> None:
    whole = client.ask(path)
    status, content, headers = client.ask(path, Accept_Encoding=accepted)
    assert (status, headers.get("Content-Encoding")) == (200, coding)
    unpack: Callable[[bytes], bytes] = {"gzip": gzip.decompress, "zstd": zstd.decompress}.get(coding or "", bytes)
    assert unpack(content) == whole[1]
    assert (headers["ETag"] == whole[2]["ETag"]) is (coding is None), "packed bytes are others"
    assert ("Accept-Ranges" in headers) is (coding is None), "what was packed is not gone on with"
    assert client.ask(path, Accept_Encoding=accepted, If_None_Match=headers["ETag"])[0] == 304
    part = client.ask(path, Accept_Encoding=accepted, Range="bytes=5-", If_Range=headers["ETag"])
    assert part[0] == (206 if coding is None else 200), "the rest of packed bytes is never that of the others"


def reported(port: int, *requests: bytes) -> bytes:
    """All that a server says until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(b"".join(requests))
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_who_speaks_an_old_http_gets_nothing_packed(client: Client) -> None:
    answer = reported(client.port, f"GET {_ALL} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert body == client.ask(_ALL)[1]


def test_the_body_of_a_read_is_no_request(client: Client) -> None:
    hidden = b"GET /hidden HTTP/1.1\r\n\r\n"
    answer = reported(client.port, f"GET /one HTTP/1.1\r\nContent-Length: {len(hidden)}\r\n\r\n".encode(), hidden)
    assert answer.count(b"404 Not Found") == 1


@pytest.mark.parametrize("target", ["http://[", "http://[::1/catalogs/tea/api/v1/all", "//[x"])
def test_an_address_that_is_none_is_no_defect(client: Client, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(client.port, f"GET {target} HTTP/1.1\r\n\r\n".encode())[9:12] in (b"400", b"404")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH"])
def test_v1_md_6_methods_that_nobody_knows(client: Client, method: str) -> None:
    assert client.ask(_ALL, method)[0] == 405


def test_a_name_may_be_escaped(client: Client) -> None:
    assert client.ask("/catalogs/%74ea/api/v1/all")[0] == 200
    assert client.ask("/catalogs/..%2Ftea/api/v1/all")[0] == 400


def test_nothing_has_no_ranges(client: Client) -> None:
    assert client.ask(f"{_METAS}?name=none", Range="bytes=0-")[:2] == (200, b"")


def test_a_range_of_some_documents(client: Client) -> None:
    path = f"{_METAS}?schema=olm.bundle"
    whole = client.ask(path)[1]
    for start, end in ((0, 0), (10, 700), (len(whole) - 3, len(whole) - 1)):
        assert client.ask(path, Range=f"bytes={start}-{end}")[:2] == (206, whole[start : end + 1])


def test_a_part_is_packed_once_and_what_is_large_anew_for_each(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{_METAS}?schema=olm.bundle"
    plain = client.ask(path)[1]
    for _ in range(2):
        status, content, headers = client.ask(path, Accept_Encoding="gzip")
        assert (status, gzip.decompress(content), headers["Content-Encoding"]) == (200, plain, "gzip")
        assert "Content-Length" in headers
    monkeypatch.setattr(lines, "_LARGEST_PACKED", 10)
    status, content, headers = client.ask(path, Accept_Encoding="zstd")
    assert (zstd.decompress(content), "Content-Length" in headers) == (plain, False)


def test_what_was_packed_first_is_forgotten_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    found = Lines(snapshot_of(written(tmp_path / "catalog", *tea()), store), store)
    sizes = [one.size for name in ("tea.v1.0.0", "tea.v1.1.0") if (one := found.pack("gzip", name=name))]
    assert found.packed("gzip", name="tea.v1.0.0") is not None
    monkeypatch.setattr(lines, "_KEPT_PACKED", sum(sizes))
    assert found.pack("gzip", schema="olm.channel")
    assert found.packed("gzip", name="tea.v1.0.0") is None


def test_a_thousand_clients_at_once_are_answered(client: Client) -> None:
    request = f"GET {_METAS}?schema=olm.package HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with ExitStack() as stack:
        connections = []
        for _ in range(MOST_CLIENTS):
            connections.append(socket.create_connection(("127.0.0.1", client.port), PATIENCE_SECONDS))
            stack.enter_context(connections[-1]).sendall(request)
        answers = {connection.recv(65536) for connection in connections}
    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1
