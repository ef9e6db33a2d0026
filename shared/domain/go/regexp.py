"""Regular expressions as Go has them: RE2, whose time is linear in the text, from the library for CEL."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from shared.domain.go.text import encodable

_REMEMBERED = 256
"""Characters of a text, and of a pattern, whose answer is remembered: names, reasons and times come again and again."""


def matches(pattern: str, text: str) -> bool | None:
    """Whether a text has a match of a pattern anywhere; None for a text that is not a pattern."""
    is_short = len(pattern) <= _REMEMBERED and len(text) <= _REMEMBERED
    return _remembered(pattern, text) if is_short else _matches(pattern, text)


def _matches(pattern: str, text: str) -> bool | None:
    encoded = {"text": encodable(text), "pattern": encodable(pattern)}
    result = _search().eval(data=encoded).value()
    return result if isinstance(result, bool) else None


_remembered = lru_cache(maxsize=4096)(_matches)


@cache
def _search() -> Any:  # why: a type of a library without types
    from cel_expr_python import cel  # native code: loaded only when there is a pattern

    words = {"text": cel.Type.STRING, "pattern": cel.Type.STRING}
    return cel.NewEnv(variables=words).compile("text.matches(pattern)")
