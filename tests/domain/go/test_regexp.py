"""Regular expressions are those of Go."""

from __future__ import annotations

import pytest

from shared.domain.go.regexp import matches


@pytest.mark.parametrize(
    ("pattern", "text", "want"),
    [
        pytest.param("b", "abc", True, id="a match anywhere"),
        pytest.param("^a$", "a\n", False, id="a dollar is the end, not the place before a last line break"),
        pytest.param("^[[:alpha:]]+$", "aB", True, id="a class of characters by name"),
        pytest.param("a(?i)b", "aB", True, id="a flag in the middle"),
        pytest.param("^(a+)+$", "a" * 5000 + "!", False, id="no backtracking: it would take longer than the universe"),
        pytest.param("^.a", "\ud800a", True, id="half a surrogate pair is one character"),
        pytest.param("(?=a)", "a", None, id="no pattern: Go cannot look ahead"),
        pytest.param("(", "a", None, id="no pattern"),
    ],
)
def test_a_pattern_is_read_as_go_reads_it(pattern: str, text: str, want: bool | None) -> None:
    assert matches(pattern, text) is want
