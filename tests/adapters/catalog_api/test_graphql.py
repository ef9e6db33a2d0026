from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.catalog_api.graphql import child, queries
from shared.adapters.catalog_api.graphql.fields import discovered, field_name, root_name, type_name
from shared.adapters.catalog_api.graphql.queries import Queries
from shared.adapters.catalog_api.line_file import Opened
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.catalog_api.web import running
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from tests.kit.catalogs import a_bundle, tea, written
from tests.kit.waiting import PATIENCE_SECONDS

_PATH = "/catalogs/tea/api/v1/graphql"
_OTHER = {"schema": "my.Kind-x", "name": "one", "package": "cup"}


class Client:
    def __init__(self, port: int) -> None:
        self.port = port

    def send(self, body: str | bytes, method: str = "POST", path: str = _PATH) -> tuple[int, str, str]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(method, path, body=body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers["Content-Type"]

    def query(self, text: str) -> Any:
        status, content, kind = self.send(json.dumps({"query": text}))
        assert (status, kind) == (200, "application/json")
        return json.loads(content)

    def data(self, text: str) -> Any:
        found = self.query(text)
        assert "errors" not in found
        return found["data"]

    def refused(self, text: str) -> str:
        found = self.query(text)
        assert found["data"] is None
        return str(found["errors"][0]["message"])


def lines_of(folder: Path, *documents: dict[str, Any]) -> Lines:
    store = Store(folder / "store")
    return Lines(snapshot_of(written(folder / "catalog", *tea(), *documents), store), store)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    cups = (a_bundle(f"0.{minor}.0", package="cup") for minor in range(120))
    lines = lines_of(tmp_path_factory.mktemp("graphql"), *cups)
    with running({"tea": lines, "soon": None}, queries=Queries(PATIENCE_SECONDS)) as port:
        yield Client(port)


def test_v1_md_7_without_its_gate_there_is_no_such_route(tmp_path: Path) -> None:
    with running({"tea": lines_of(tmp_path)}) as port:
        assert Client(port).send('{"query": "{summary{totalSchemas}}"}')[:2] == (404, "404 page not found\n")


@pytest.mark.parametrize(
    ("method", "path", "body", "answer"),
    [
        pytest.param("GET", _PATH, "", (405, "Only POST is allowed"), id="v1.md 7: another method"),
        pytest.param("PUT", _PATH, "{}", (405, "Only POST is allowed"), id="v1.md 7: a method with a body"),
        pytest.param("POST", _PATH, "tea", (400, "Invalid request body"), id="v1.md 7: no JSON"),
        pytest.param("POST", _PATH, "[]", (400, "Invalid request body"), id="v1.md 7: no object"),
        pytest.param("POST", _PATH, "", (400, "Invalid request body"), id="v1.md 7: no body"),
        pytest.param("POST", _PATH, "{}", (400, "Query cannot be empty"), id="v1.md 7: no query"),
        pytest.param("POST", _PATH, '{"query":""}', (400, "Query cannot be empty"), id="v1.md 7: an empty query"),
        pytest.param(
            "POST", _PATH, json.dumps({"query": "é" * 50_001}), (400, "Query too large"), id="v1.md 7: 100,002 bytes"
        ),
        pytest.param(
            "POST", "/catalogs/cup/api/v1/graphql", '{"query":"{a}"}', (404, "404 Not Found"), id="v1.md 7: no catalog"
        ),
        pytest.param(
            "POST", "/catalogs/soon/api/v1/graphql", '{"query":"{a}"}', (503, "503 Service Unavailable"),
            id="v1.md 7: its content is not here yet",
        ),
    ],
)  # fmt: skip
def test_what_is_no_query(client: Client, method: str, path: str, body: str, answer: tuple[int, str]) -> None:
    status, content, _ = client.send(body, method, path)
    assert (status, content.strip()) == answer


def test_v1_md_7_a_name_that_no_catalog_can_have(client: Client) -> None:
    status, content, _ = client.send('{"query":"{a}"}', path="/catalogs/T_/api/v1/graphql")
    assert status == 400
    assert content.startswith("invalid catalog name: ")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        pytest.param(queries.LARGEST_BODY, "Query cannot be empty", id="v1.md 7: 1 MiB"),
        pytest.param(queries.LARGEST_BODY + 1, "Invalid request body", id="v1.md 7: more than 1 MiB"),
    ],
)
def test_a_long_body(client: Client, length: int, text: str) -> None:
    with closing(HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE_SECONDS)) as connection:
        connection.putrequest("POST", _PATH)
        connection.putheader("Content-Length", str(length))
        connection.endheaders(b"{}" + b" " * (length - 2) if length <= queries.LARGEST_BODY else b"")
        answer = connection.getresponse()
        assert (answer.status, answer.read().decode().strip()) == (400, text)


def test_v1_md_7_documents_by_schema(client: Client) -> None:
    found = client.data("{olmpackages{name defaultChannel} olmchannels(limit: 1){name entries{name replaces}}}")
    assert found["olmpackages"] == [{"name": "tea", "defaultChannel": "stable"}]
    assert {"name", "replaces"} == found["olmchannels"][0]["entries"][0].keys()


@pytest.mark.parametrize(
    ("arguments", "first", "count"),
    [
        pytest.param("", 0, 100, id="v1.md 7: a hundred"),
        pytest.param("(limit: 3)", 0, 3, id="v1.md 7: a limit"),
        pytest.param("(limit: 300)", 0, 100, id="v1.md 7: at most a hundred"),
        pytest.param("(limit: 0)", 0, 100, id="v1.md 7: a limit of nothing"),
        pytest.param("(limit: -2, offset: -5)", 0, 100, id="v1.md 7: below nothing"),
        pytest.param("(offset: 120)", 120, 3, id="v1.md 7: from a position"),
        pytest.param("(offset: 1000)", 123, 0, id="v1.md 7: beyond the end"),
    ],
)
def test_pages(client: Client, arguments: str, first: int, count: int) -> None:
    everything = [
        one["name"]
        for offset in (0, 100)
        for one in client.data(f"{{olmbundles(offset: {offset}){{name}}}}")["olmbundles"]
    ]
    assert len(everything) == 123
    found = [one["name"] for one in client.data(f"{{olmbundles{arguments}{{name}}}}")["olmbundles"]]
    assert found == everything[first : first + count]


def test_v1_md_7_a_summary(client: Client) -> None:
    found = client.data("{summary{totalSchemas schemas{name totalObjects totalFields}}}")["summary"]
    assert found["totalSchemas"] == len(found["schemas"]) == 4
    by_name = {one["name"]: one for one in found["schemas"]}
    assert by_name["olm.bundle"]["totalObjects"] == 123
    assert by_name["olm.package"]["totalFields"] >= 3


def test_v1_md_7_an_object_is_a_text_of_json(client: Client) -> None:
    bundle = client.data("{olmbundles(limit: 1){properties{type value}}}")["olmbundles"][0]
    identity = next(one for one in bundle["properties"] if one["type"] == "olm.package")
    assert set(json.loads(identity["value"])) == {"packageName", "version"}


def nested(depth: int) -> str:
    return "{a" * depth + "}" * depth


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param(nested(11), "query exceeds maximum depth of 10", id="v1.md 7: depth"),
        pytest.param(nested(30_000), "query parse error: ", id="v1.md 7: no stack is deep enough"),
        pytest.param(
            "{" + " ".join(f"a{one}: b" for one in range(51)) + "}", "query exceeds maximum alias count of 50",
            id="v1.md 7: aliases",
        ),
        pytest.param("{" + "a " * 501 + "}", "query exceeds maximum field count of 500", id="v1.md 7: fields"),
        pytest.param(
            "{...f} fragment f on Query {" + "a " * 501 + "}", "query exceeds maximum field count of 500",
            id="v1.md 7: a fragment is followed",
        ),
        pytest.param(
            "{... on Query " + nested(10) + "}", "query exceeds maximum depth of 10",
            id="v1.md 7: an inline fragment is followed",
        ),
        pytest.param("{", "query parse error: ", id="v1.md 7: syntax"),
        pytest.param("{tea}", "Cannot query field 'tea' on type 'Query'", id="v1.md 7: no such field"),
    ],
)  # fmt: skip
def test_what_is_too_much(client: Client, query: str, text: str) -> None:
    assert client.refused(query).startswith(text)


def test_v1_md_7_what_is_just_not_too_much(client: Client) -> None:
    query = "{...f ...f " + " ".join(f"a{one}: summary{{totalSchemas}}" for one in range(50)) + "}"
    fragment = " fragment f on Query {" + "summary{totalSchemas} " * 199 + "}"
    assert len(client.data(query + fragment)) == 51


def test_v1_md_7_a_query_has_seconds(tmp_path: Path) -> None:
    with running({"tea": lines_of(tmp_path)}, queries=Queries(0.001)) as port:
        assert Client(port).refused("{summary{totalSchemas}}") == "context deadline exceeded"


def test_an_answer_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lines_of(tmp_path)
    answers = child.Answers(Opened(lines.file()), discovered(Opened(lines.file())), 200)
    found = answers.answer("{olmbundles{name image}}")
    assert found["data"] is None
    assert "answer exceeds maximum size" in found["errors"][0]["message"]


def test_what_escapes_add_to_an_answer_counts() -> None:
    data = {"data": {"text": "\x00" * 100}}
    assert json.loads(child.written(data, 700)) == data
    assert "answer exceeds maximum size" in child.written(data, 600).decode()


def test_a_file_of_fields_that_the_disk_lost_a_part_of_is_made_anew(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    with running({"tea": lines}, queries=Queries(PATIENCE_SECONDS)) as port:
        whole = Client(port).data("{summary{totalSchemas}}")
        [kept] = (tmp_path / "store").rglob("graphql1-*")
        for path in [kept, *kept.rglob("*")] if kept.is_dir() else [kept]:
            if path.is_file():
                path.write_bytes(path.read_bytes()[:-3])
        assert Client(port).data("{summary{totalSchemas}}") == whole


def test_while_queries_run_other_answers_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query more than may wait comes: one, whichever is the last, is told to come again while all others wait."""
    free = threading.Event()

    def wait(*_: object, **__: object) -> None:
        free.wait(PATIENCE_SECONDS)
        raise OSError("over")

    monkeypatch.setattr("shared.adapters.catalog_api.graphql.forks.Forks.run", wait)
    count = queries.WAITING + 1
    with running({"tea": lines_of(tmp_path)}, queries=Queries()) as port, ThreadPoolExecutor(count) as pool:
        client = Client(port)
        asked = [pool.submit(client.send, '{"query":"{a}"}') for _ in range(count)]
        refused, waiting = futures.wait(asked, PATIENCE_SECONDS, futures.FIRST_COMPLETED)
        assert client.send("", "GET", "/catalogs/tea/api/v1/all")[0] == 200
        free.set()
        assert [one.result()[0] for one in refused] == [503]
        assert {one.result()[0] for one in waiting} == {500}


def test_v1_md_7_two_schemas_of_one_name(tmp_path: Path) -> None:
    clash = {"schema": "olm-package", "name": "x", "package": "tea"}
    with running({"tea": lines_of(tmp_path, clash)}, queries=Queries(PATIENCE_SECONDS)) as port:
        assert Client(port).send('{"query":"{summary{totalSchemas}}"}')[:2] == (500, "500 Internal Server Error\n")
        assert Client(port).send("", "GET", "/catalogs/tea/api/v1/all")[0] == 200


@pytest.mark.parametrize(
    ("values", "want"),
    [
        pytest.param(["x", 1, {"a": 2}], ["x", "1", '{"a":2}'], id="v1.md 7: text"),
        pytest.param([True, "x"], [True, None], id="v1.md 7: bool"),
        pytest.param([1, 2.0, 2**40, "x", 3.5], [1, 2, None, None, 3], id="v1.md 7: integral number"),
        pytest.param([1.5, 2, "x"], [1.5, 2, None], id="v1.md 7: other number"),
        pytest.param([{"b": 1, "a": "<"}, None], ['{"a":"\\u003c","b":1}', None], id="v1.md 7: object"),
        pytest.param([["x", "y"], "x", None], [["x", "y"], None, None], id="v1.md 7: list"),
        pytest.param([[1, 2]], [[1, 2]], id="v1.md 7: list of numbers"),
        pytest.param([[1, "x"]], [["1", "x"]], id="v1.md 7: list of several kinds"),
        pytest.param([[], [1]], [[], ["1"]], id="v1.md 7: an empty list is one of text"),
        pytest.param([[None], [None, "x"]], [[None], [None, "x"]], id="v1.md 7: a list of nothing"),
    ],
)
def test_types_are_those_of_the_first_document(tmp_path: Path, values: list[object], want: list[object]) -> None:
    documents = ({**_OTHER, "name": f"n{number}", "MY-value": value} for number, value in enumerate(values))
    opened = Opened(lines_of(tmp_path, *documents).file())
    found = child.Answers(opened, discovered(opened)).answer("{mykindxs{myValue}}")
    assert "errors" not in found
    assert [one["myValue"] for one in found["data"]["mykindxs"]] == want


def test_v1_md_7_elements_have_the_fields_of_the_first_ten(tmp_path: Path) -> None:
    elements = [{"a": 1}, "x", {"B_c": [1], "d": []}, *({"a": 2} for _ in range(7)), {"e": 1}]
    opened = Opened(lines_of(tmp_path, {**_OTHER, "list": elements}).file())
    answers = child.Answers(opened, discovered(opened))
    found = answers.answer("{mykindxs{list{a bC d}}}")["data"]["mykindxs"][0]["list"]
    assert found[:3] == [
        {"a": 1, "bC": None, "d": None}, {"a": None, "bC": None, "d": None}, {"a": None, "bC": [1], "d": []},
    ]  # fmt: skip
    assert "Cannot query field 'e'" in answers.answer("{mykindxs{list{e}}}")["errors"][0]["message"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("", "value"), ("CamelCase", "camelCase"), ("UPPERCASE", "uppercase"), ("---", "field_"),
        ("123invalid", "field_123invalid"), ("default-channel", "defaultChannel"), ("a..b__c", "aBC"), ("_x", "x"),
    ],
)  # fmt: skip
def test_v1_md_7_names_of_fields(key: str, name: str) -> None:
    assert field_name(key) == name


@pytest.mark.parametrize(
    ("schema", "of_type", "root"),
    [
        ("olm.package", "OlmPackage", "olmpackages"), ("olm.bundle", "OlmBundle", "olmbundles"),
        ("", "Unknown", "s"), ("3d.csv", "DCsv", "3dcsvs"),
    ],
)  # fmt: skip
def test_v1_md_7_names_of_schemas(schema: str, of_type: str, root: str) -> None:
    assert (type_name(schema), root_name(schema)) == (of_type, root)


def test_an_address_that_is_none_is_no_defect_of_a_query(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert client.send("{}", path="//[")[0] == 400
    assert capsys.readouterr().err == ""
