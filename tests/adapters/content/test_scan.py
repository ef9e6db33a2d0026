"""The fast way of reading a catalog is never wrong: whatever is in a file, it says the same as the careful one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.adapters.content.snapshot.scan import Scanner, carefully
from shared.domain.catalog.documents import Document, NotACatalog
from shared.domain.go import encode
from tests.kit.catalogs import a_property, tea

_DOCUMENTS = [*tea(), {"schema": "my.note", "package": "tea", "text": 'a "quoted"\n{"x": 1}\n}\n{ é'}]
_DOCUMENTS[5]["properties"].append(a_property("olm.bundle.object", {"data": "e30="}))
LINES = b"".join(json.dumps(one).encode() + b"\n" for one in _DOCUMENTS)
PRETTY = b"\n".join(json.dumps(one, indent=4).encode() for one in _DOCUMENTS)
FORMS = {"lines": LINES, "pretty": PRETTY}


def both(content: bytes) -> tuple[Any, Any]:
    """What the two ways make of a file: its documents, or that it is none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "c")
        file.write_bytes(content)
        quickly, slowly = reported(lambda: Scanner().scan("c", file)), reported(lambda: list(carefully("c", content)))
        assert observed(file, quickly) == quickly
        return quickly, slowly


def observed(file: Path, documents: Any) -> Any:
    """What is found while somebody is told of it, and that he is told of all of it or knows that he is not."""
    told: list[tuple[Document, bytes]] = []
    scanner = Scanner(lambda *one: told.append(one))
    found = reported(lambda: scanner.scan("c", file))
    if scanner.observe and found == documents != "no catalog":
        assert [document for document, _ in told] == documents
        texts = [one.text or file.read_bytes()[one.offset :][: one.length] for one in Scanner().scan("c", file)]
        assert [line for _, line in told] == [encode.normalized(text) for text in texts]
    return found


def reported(read: Any) -> Any:
    try:
        return [one.document for one in read()]
    except NotACatalog:
        return "no catalog"


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_both_ways_agree(content: bytes) -> None:
    quickly, slowly = both(content)
    assert quickly == slowly
    assert len(quickly) == len(_DOCUMENTS)


_SNIPPETS = (
    b"}\n{", b"}", b"{", b'"', b"\n", b",", b"null", b"\\", b"\xff", b" ", b"---\n", b"[", b"]", b":", b"1e5", b"#",
    b'"name":', b'"Name": "x",', b"\\u00e9", b"\\ud800", b"\x00", b"12345678901234567890123",
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(sorted(FORMS)),
    st.lists(st.tuples(st.integers(0, 3000), st.sampled_from(_SNIPPETS), st.integers(0, 3)), min_size=1, max_size=4),
)
@example("lines", [(30, b"\xff", 1)])
def test_both_ways_agree_on_changed_catalogs(form: str, changes: list[tuple[int, bytes, int]]) -> None:
    content = FORMS[form]
    for position, snippet, length in changes:
        content = content[:position] + snippet + content[position + length :]
    quickly, slowly = both(content)
    assert quickly == slowly


def test_whoever_is_told_of_the_documents_is_told_of_all(tmp_path: Path) -> None:
    for content, count in ((LINES, len(_DOCUMENTS)), (PRETTY, len(_DOCUMENTS)), (b"schema: x\n", None)):
        (tmp_path / "c").write_bytes(content)
        told: list[tuple[Document, bytes]] = []
        scanner = Scanner(lambda *one, told=told: told.append(one))
        scanner.scan("c", tmp_path / "c")
        assert (len(told) if scanner.observe else None) == count


@pytest.mark.parametrize("observe", [None, lambda *_: None], ids=["alone", "observed"])
def test_equal_properties_of_bundles_are_kept_once(tmp_path: Path, observe: Any) -> None:
    (tmp_path / "c").write_bytes(PRETTY)
    found = [one.document for one in Scanner(observe).scan("c", tmp_path / "c")]
    bundles = [one.fields["properties"] for one in found if one.schema == "olm.bundle"]
    values = [one["value"] for properties in bundles for one in properties if one["type"] == "olm.gvk"]
    assert len(values) > len({id(one) for one in values}) == 1
