"""Shows what would move the cursor of a terminal, colour it, rename it, or turn the order of letters around.

Names, messages and annotations are written by whoever may create an object. Everything that a verb prints goes through
here; what a verb itself does to a terminal (a line that it erases) goes through `own`.
"""

from __future__ import annotations

import io
import re
from typing import Any, Final, TextIO

_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""All but the tabulator and the end of a line."""
_TURNED: Final = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
"""What changes the direction of letters, or ends lines; right where people write from right to left."""
_CONTROL: Final = re.compile(f"[{_CONTROLS}]")
_ANY: Final = re.compile(f"[{_CONTROLS}{_TURNED}]")


def visible(text: str) -> str:
    r"""A text with such characters as `\u001b`, which is their form in JSON, too."""
    return _ANY.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class VisibleText(io.TextIOWrapper):
    """A stream for people.

    Where it is no terminal, marks of direction are left in documents: they may be right there, and harm nobody.
    """

    def write(self, text: str, /) -> int:
        """Write a text visibly."""
        found = _ANY if self.isatty() else _CONTROL
        super().write(found.sub(_code, text))
        return len(text)

    @classmethod
    def of(cls, stream: io.TextIOWrapper) -> VisibleText:
        """Takes the place of a stream, which must not be used any more."""
        encoding, by_line, at_once = stream.encoding, stream.line_buffering, stream.write_through
        return cls(
            stream.detach(), encoding=encoding, errors="backslashreplace", line_buffering=by_line, write_through=at_once
        )


class Own:
    """The same stream for what a verb itself does to the terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        """Write a text as it is."""
        if isinstance(self._stream, VisibleText):
            return io.TextIOWrapper.write(self._stream, text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:  # why: whatever else a stream has
        return getattr(self._stream, name)
