"""YAML as the Go tools of Kubernetes write it, byte for byte (fbc.md §8.1): sorted keys, folded at 80 columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cmp_to_key, lru_cache
from typing import Any, Final, TypeAlias

from shared.domain.go.float import yaml_text
from shared.domain.go.scalar import resolve

_WIDTH: Final = 80
_STEP: Final = 2
_LONGEST_KEY: Final = 128
"""Bytes of a key that stands on one line with its value."""
_BREAKS: Final = "\n\u2028\u2029"
_SPECIAL: Final = re.compile(r"[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""What can only be written as an escape."""
_ODD_SPACE: Final = re.compile(rf" [{_BREAKS}]")
_INDENTED: Final = re.compile(rf"[{_BREAKS}] ")
_INDICATOR: Final = re.compile(r"""---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?:-](?: |\Z)""")
_INNER: Final = re.compile(r":(?: |\Z)|(?<= )#")
_BREAK: Final = re.compile(rf"[{_BREAKS}]")
_ANY_BREAK: Final = re.compile(rf"[\r\x85{_BREAKS}]")
_LINES: Final = re.compile(rf"[^{_BREAKS}]*[{_BREAKS}]|[^{_BREAKS}]+\Z")
_FOLD: Final = re.compile("(?<=[^ ]) (?=[^ ])")
_ESCAPED: Final = re.compile(r"[^ !#-\[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_LEADING: Final = re.compile(r"[^\D0]0*\Z")
_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE: Final = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?)?"
)
_NAMED: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"',
    "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip

_Value: TypeAlias = Any  # why: any JSON value


def to_yaml(value: Mapping[str, _Value]) -> str:
    """One document, without a line `---`."""
    writer = _Writer()
    writer.node(value, -_STEP)
    writer.start_line(0)
    return "".join(writer.parts)


class _Writer:
    """Writes block style; it knows in which column it stands and whether a new line has begun."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._column = 0
        self._is_spaced = True
        """A blank, or the start of a line, stands before."""
        self._is_indented = True
        """Only indentation and marks such as `- ` stand before in this line."""

    def node(self, value: _Value, indent: int) -> None:
        """A value that belongs to a collection at this indentation."""
        if isinstance(value, Mapping) and value:
            self._mapping(value, indent + _STEP)
        elif isinstance(value, list | tuple) and value:
            # A list stands below its key, not to the right of it.
            self._sequence(value, indent + _STEP if self._is_indented else indent)
        elif isinstance(value, str):
            self._text(value, indent + _STEP, is_key=False)
        else:
            self._mark(_plain(value))

    def start_line(self, indent: int) -> None:
        """Go to a column at the start of a line, which may be the present one."""
        if not self._is_indented or self._column > indent or (self._column == indent and not self._is_spaced):
            self._break("\n")
        self._put(" " * (indent - self._column))
        self._is_spaced = self._is_indented = True

    def _mapping(self, value: Mapping[str, _Value], indent: int) -> None:
        for key in _sorted(tuple(value)):
            self.start_line(indent)
            is_simple = len(key.encode("utf-8", "replace")) <= _LONGEST_KEY and not _ANY_BREAK.search(key)
            if is_simple:
                self._text(key, indent + _STEP, is_key=True)
                self._mark(":", needs_space=False)
            else:
                self._mark("?", keeps_indentation=True)
                self._text(key, indent + _STEP, is_key=False)
                self.start_line(indent)
                self._mark(":", keeps_indentation=True)
            self.node(value[key], indent)

    def _sequence(self, value: Sequence[_Value], indent: int) -> None:
        for one in value:
            self.start_line(indent)
            self._mark("-", keeps_indentation=True)
            self.node(one, indent)

    def _text(self, text: str, indent: int, *, is_key: bool) -> None:
        if "\n" in text:
            if not is_key and _is_block(text):
                self._literal(text, indent)
                return
        elif _means_itself(text) and _is_plain(text):
            self._mark("")
            self._folded(text, indent, is_key=is_key)
            return
        elif _means_itself(text) and _is_single(text):
            self._single_quoted(text.replace("'", "''"), indent, is_key=is_key)
            return
        self._double_quoted(text, indent, is_key=is_key)

    def _literal(self, text: str, indent: int) -> None:
        self._mark("|" + _hints(text))
        self._break("\n")
        for line in _LINES.findall(text):
            body, ending = (line[:-1], line[-1]) if line[-1] in _BREAKS else (line, "")
            if body:
                self._put(" " * indent + body)
                self._is_indented = False
            if ending:
                self._break(ending)
        self._is_spaced = True

    def _folded(self, text: str, indent: int, *, is_key: bool) -> None:
        """A text without line breaks, cut at single blanks behind column 80."""
        start = 0
        if not is_key and self._column + len(text) > _WIDTH:
            for match in _FOLD.finditer(text):
                if self._column + match.start() - start > _WIDTH:
                    self._put(text[start : match.start()])
                    self._fold(indent)
                    start = match.end()
        self._put(text[start:])

    def _fold(self, indent: int) -> None:
        self._break("\n")
        self._put(" " * indent)

    def _single_quoted(self, text: str, indent: int, *, is_key: bool) -> None:
        self._mark("'")
        for number, line in enumerate(re.split("([\u2028\u2029])", text)):
            if line and line in _BREAKS:
                self._break(line)
            elif line:
                self._put(" " * (indent if number and not self._column else 0))
                self._folded(line, indent, is_key=is_key)
        self._mark("'", needs_space=False)

    def _double_quoted(self, text: str, indent: int, *, is_key: bool) -> None:
        self._mark('"')
        is_escaped = text.startswith("\ufeff")  # the reference takes every character of such a text for the mark
        was_blank = False
        for index, character in enumerate(text):
            if character != " " or is_escaped:
                self._put(_escape(character) if is_escaped or _ESCAPED.match(character) else character)
                was_blank = False
                continue
            if not is_key and not was_blank and self._column > _WIDTH and 0 < index < len(text) - 1:
                self._fold(indent)
                self._put("\\" if text[index + 1] == " " else "")
            else:
                self._put(" ")
            was_blank = True
        self._mark('"', needs_space=False)

    def _mark(self, text: str, *, needs_space: bool = True, keeps_indentation: bool = False) -> None:
        if needs_space and not self._is_spaced:
            self._put(" ")
        self._put(text)
        self._is_spaced = False
        self._is_indented = self._is_indented and keeps_indentation

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self._column += len(text)

    def _break(self, text: str) -> None:
        self.parts.append(text)
        self._column = 0
        self._is_indented = True


def _plain(value: _Value) -> str:
    if isinstance(value, float):
        return yaml_text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int) else "{}" if isinstance(value, Mapping) else "[]"


def _means_itself(text: str) -> bool:
    """A reader takes the bare text for this text, not for a number, a word or a date."""
    if not text or not isinstance(resolve(text), str):
        return False
    return text[0] not in "+-0123456789" or not (_BASE_60.fullmatch(text) or _is_date(text))


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    numbers = [int(group) for group in match.groups() if group is not None]
    year, month, day = numbers[:3]
    if not 1 <= month <= 12 or not 1 <= day <= _days(year, month):
        return False
    return all(number < limit for number, limit in zip(numbers[3:], (24, 60, 60), strict=False))


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _is_plain(text: str) -> bool:
    """Whether the text needs no quotes: nothing in it looks like an indicator of YAML."""
    if text[0] == " " or text[-1] == " " or text[0] in _BREAKS:
        return False
    return not (_SPECIAL.search(text) or _INDICATOR.match(text) or _INNER.search(text, 1) or _BREAK.search(text))


def _is_single(text: str) -> bool:
    return not (_SPECIAL.search(text) or _ODD_SPACE.search(text) or _INDENTED.search(text))


def _is_block(text: str) -> bool:
    return text[-1] != " " and not (_SPECIAL.search(text) or _ODD_SPACE.search(text))


def _hints(text: str) -> str:
    """Where the lines begin when the first is indented itself, and how many line breaks stand at the end."""
    start = str(_STEP) if text[0] == " " or text[0] in _BREAKS else ""
    if text[-1] not in _BREAKS:
        return f"{start}-"
    return f"{start}+" if len(text) == 1 or text[-2] in _BREAKS else start


def _escape(character: str) -> str:
    if character in _NAMED:
        return f"\\{_NAMED[character]}"
    code = ord(character)
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


@lru_cache(maxsize=4096)
def _sorted(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(keys, key=cmp_to_key(_compare)))


def _compare(one: str, other: str) -> int:
    """Letters by code point, behind everything else; digits as numbers."""
    index = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if index is None:
        return len(one) - len(other)
    a, b = one[index], other[index]
    if a.isalpha() or b.isalpha():
        return ord(a) - ord(b) if a.isalpha() and b.isalpha() else 1 if a.isalpha() else -1
    # A zero behind other digits is a digit of the same number.
    lead = 1 if "0" in (a, b) and _LEADING.search(one, 0, index) else 0
    (first, first_end), (second, second_end) = _number(one, index, lead), _number(other, index, lead)
    return first - second or first_end - second_end or ord(a) - ord(b)


def _number(text: str, start: int, lead: int) -> tuple[int, int]:
    """The number at an index, and where it ends."""
    end = start
    while end < len(text) and text[end].isdecimal():
        lead = lead * 10 + ord(text[end]) - ord("0")
        end += 1
    return lead, end
