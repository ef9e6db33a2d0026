"""Splits a stream of JSON or YAML documents as the Go tools of Kubernetes do (fbc.md §2.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

import orjson

from shared.domain.go import json as gojson
from shared.domain.go import yaml as goyaml

_LOOK_AHEAD: Final = 4096
_AMBIGUOUS: Final = 2
"""Up to this document, a text that is not JSON may be YAML; after two JSON objects a stream stays JSON."""
_BORDERS: Final = (b"\n}\n{", b"\n{")
"""The separators of two objects. The first, of indented objects, is found in half the time because it is longer."""
_SHOWN: Final = 200
_LARGEST_YAML: Final = 64 * 2**20
_SHORTEST_REST: Final = 4
"""Go reads four bytes at a time to find the line where YAML may begin."""
_UNREADABLE: Final = "error converting YAML to JSON: "
_UNWANTED: Final = "error unmarshaling JSON: while decoding JSON: "
_SPACES: Final = re.compile(rb"[ \t\r\n]*")
_LINE_END: Final = re.compile(rb"[^\S\n]*\n?")
_SEPARATOR: Final = re.compile(rb"^---([^\n]*)\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a stream, or why it could not be read."""

    number: int
    """The number of the document, from 1."""
    offset: int
    """The offset of its beginning, in bytes."""
    value: Any  # why: any JSON value
    error: str = ""
    is_json: bool = False
    """Whether it was read as JSON, not as YAML."""


Refusal: TypeAlias = Callable[[Any], str]
"""Returns why the caller refuses a value, or an empty text; after a refusal the rest is read as YAML."""


def parts(content: bytes, refusal: Refusal = lambda _: "") -> Iterator[Part]:
    """Every document; after an unreadable one, the next document whose beginning is certain."""
    if content[:_LOOK_AHEAD].lstrip().startswith(b"{"):
        return _json(content, refusal)
    return _yaml(content, 0, 1, refusal)


def _json(content: bytes, refusal: Refusal) -> Iterator[Part]:
    number, before, start = 1, 0, _skip_space(content, 0)
    cutter = _Cutter(content)
    while start < len(content):
        part, end = _next_object(cutter, start, number, refusal)
        if part.error and number <= _AMBIGUOUS:
            rest = _rest_as_yaml(content, before, number, refusal)
            if rest is not None:
                yield from rest
                return
        yield part
        if end is None:
            return
        number, before, start = number + 1, end, _skip_space(content, end)


def _next_object(cutter: _Cutter, start: int, number: int, refusal: Refusal) -> tuple[Part, int | None]:
    """The document at an offset and the offset of its end, which is None for a document that is not JSON."""
    try:
        value, end = cutter.object_at(start)
    except gojson.JsonError as failure:
        has_offset = number <= _AMBIGUOUS and str(failure) != gojson.END
        where = f"json: offset {failure.offset}: " if has_offset else ""
        return Part(number, max(start, failure.offset - 1), None, f"{where}{failure}"), None
    return Part(number, start, value, refusal(value), is_json=True), end


class _Cutter:
    """Splits objects off a stream; fast while each begins on its own line, as tools write them."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        is_indented = content[:_LOOK_AHEAD].lstrip()[1:2] in (b"\n", b"\r")
        self._borders = _BORDERS[0 if is_indented else 1 :]

    def object_at(self, start: int) -> tuple[Any, int]:
        """The object at an offset, and the offset of its end. JsonError when it is not an object."""
        end = self._likely_end(start) if self._borders else -1
        if end < 0 or end - start > gojson.LARGEST:
            return gojson.first(self.content, start)
        try:
            return orjson.loads(memoryview(self.content)[start:end]), end
        except orjson.JSONDecodeError:
            value, real_end = gojson.first(self.content, start)
            if self.content[real_end:end].strip():
                self._borders = self._borders[1:]  # a wrong guess costs a scan of the whole rest
            return value, real_end

    def _likely_end(self, start: int) -> int:
        # A JSON string cannot contain a line break, and nested objects are indented.
        border = self.content.find(self._borders[0], start)
        return len(self.content) if border < 0 else border + len(self._borders[0]) - len(_BORDERS[-1])


def _skip_space(content: bytes, start: int) -> int:
    match = _SPACES.match(content, start)
    return match.end() if match else start


def _rest_as_yaml(content: bytes, start: int, number: int, refusal: Refusal) -> Iterator[Part] | None:
    """The rest of a stream, from the next line on, as YAML; None when the caller refuses its first document."""
    behind = _LINE_END.match(content, start)
    begin = behind.end() if behind else start
    if len(content) - (begin - (content[begin - 1 : begin] == b"\n")) < _SHORTEST_REST:
        return None
    rest = _yaml(content, begin, number, refusal)
    first = next(rest)
    return None if first.error else chain((first,), rest)


def _yaml(content: bytes, start: int, number: int, refusal: Refusal) -> Iterator[Part]:
    for begin, end, wrong in _yaml_documents(content, start):
        is_large = end - begin > _LARGEST_YAML
        error = f"a YAML document of more than {_LARGEST_YAML >> 20} MiB: write it as JSON" if is_large else wrong
        yield Part(number, begin, None, error) if error else _yaml_part(number, begin, content[begin:end], refusal)
        number += 1


def _yaml_part(number: int, offset: int, document: bytes, refusal: Refusal) -> Part:
    try:
        value = goyaml.document(document if document.endswith(b"\n") else document + b"\n")
    except goyaml.YamlError as error:
        ahead = document.split(b"\n", max(error.line - 1, 0))[:-1]
        return Part(number, offset + sum(len(line) + 1 for line in ahead), None, f"{_UNREADABLE}{error.go_message}")
    why = refusal(value)
    return Part(number, offset, value, why and f"{_UNWANTED}{why}")


def _yaml_documents(content: bytes, start: int) -> Iterator[tuple[int, int, str]]:
    """The begin and end of the documents of a stream, which are separated by any line that starts with `---`."""
    for match in _SEPARATOR.finditer(content, start):
        behind = match[1].strip()
        if behind and not behind.startswith(b"#"):
            why = f"invalid Yaml document separator: {behind[:_SHOWN].decode('utf-8', 'replace')}"
            yield match.start(), match.end(), why
            return
        if match.start() > start:
            yield start, match.start(), ""
            start = match.end()
    if start < len(content):
        yield start, len(content), ""
