"""Which documents of a bundle's files count."""

from __future__ import annotations

import pytest

from shared.domain.bundle.reading import FILE_BYTES, documents


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"a: [b", "cannot be read: ", id="fbc.md R205: broken YAML"),
        pytest.param(b"", "cannot be read: it is empty; correct it", id="nothing at all"),
        pytest.param(b"a: \xff", "invalid leading UTF-8 octet", id="no text"),
        pytest.param(b" " * (FILE_BYTES + 1), "cannot be read: it has more than 4194304 bytes", id="too large"),
        pytest.param(b"[" * 300 + b"]" * 300, "nested too deeply", id="deep in YAML"),
        pytest.param(b'{"a":' * 300 + b"1" + b"}" * 300, "nested too deeply", id="deep in JSON"),
        pytest.param(b"a: &a [*a]", "contains itself", id="an alias of itself"),
        pytest.param(b"---\nkind: A\n---\n: [\n", "", id="a second document that nobody can read"),
        pytest.param(b"# only a comment\n---\nkind: A\n", "it holds nothing, not an object", id="a comment counts"),
    ],
)
def test_a_file_that_cannot_be_read_is_passed_over_with_its_name_and_the_reason(content: bytes, words: str) -> None:
    _, passed = documents({"manifests/a.yaml": content}, "manifests").objects()
    assert all("manifests/a.yaml" in str(one) for one in passed)
    assert any(words in str(one) for one in passed) == bool(words)


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = [b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)]
    _, passed = documents({"manifests/a.yaml": b"\n".join(lines)}, "manifests").objects()
    assert "excessive aliasing" in str(passed[0])


def test_fbc_md_r206_of_several_documents_the_first_counts() -> None:
    found = documents({"manifests/a.yaml": b"kind: A\n---\nkind: B\n"}, "manifests")
    assert found.by_path == {"manifests/a.yaml": {"kind": "A"}}
    assert [str(one) for one in found.passed] == [
        "found more than one document inside manifests/a.yaml, using only the first one"
    ]


def test_fbc_md_r207_hidden_files_and_folders_below_do_not_count() -> None:
    files = {"manifests/.a.yaml": b"kind: A", "manifests/sub/b.yaml": b"kind: B", "other/c.yaml": b"kind: C"}
    assert not documents(files, "manifests").by_path


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b"---\na: b\n  c: d\n", "line 3: ", id="a line that is no YAML"),
        pytest.param(b"\n\n" + b'{"a":' * 300 + b"1" + b"}" * 300, "line 3: nested", id="a deep document"),
        pytest.param(b"a: [b", "error converting", id="the first line is not named"),
    ],
)
def test_the_line_of_a_document_that_cannot_be_read_is_reported(content: bytes, place: str) -> None:
    _, passed = documents({"manifests/a.yaml": content}, "manifests").objects()
    assert str(passed[0]).startswith(f"manifests/a.yaml cannot be read: {place}")
