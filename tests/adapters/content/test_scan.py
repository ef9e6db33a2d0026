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
from shared.domain.catalog.documents import NotACatalog
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
        return reported(lambda: Scanner().scan("c", file)), reported(lambda: list(carefully("c", content)))


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
