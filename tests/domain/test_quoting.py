from __future__ import annotations

import pytest

from shared.domain.quoting import quoted


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a b", '"a b"', id="fbc.md 0: plain"),
        pytest.param('a"\\', '"a\\"\\\\"', id="fbc.md 0: quotes and backslashes"),
        pytest.param("\n\t\x07", '"\\n\\t\\a"', id="fbc.md 0: named escapes"),
        pytest.param("é☃", '"é☃"', id="fbc.md 0: what can be printed stays"),
        pytest.param("\x00\x7f", '"\\x00\\x7f"', id="fbc.md 0: control characters"),
        pytest.param("\xa0\U000e0001", '"\\u00a0\\U000e0001"', id="fbc.md 0: invisible characters"),
    ],
)
def test_a_text_is_quoted_as_the_reference_quotes(text: str, want: str) -> None:
    assert quoted(text) == want
