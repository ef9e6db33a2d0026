"""YAML and JSON read as the Go tools of Kubernetes read them: same values, same refusals (fbc.md §2.1)."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson
import yaml
from yaml._yaml import CParser

from shared.api.manifest import Manifest
from shared.domain.goscalar import ScalarError, key_text, plain, resolve, tagged
from shared.domain.goscalar import json_value as value_of

_ALIASED_NODES: Final = 1_000_000
"""How many nodes aliases may stand for in one document; more is an attack, not a manifest."""
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")


class YamlError(ValueError):
    """A text is not what the Go tools accept; the message says what and, where known, in which line."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem = problem
        self.line = line


def load(source: str | bytes) -> Manifest:
    """The first document of a text, which must be an object."""
    value = load_value(source)
    if not isinstance(value, dict):
        raise YamlError(f"wanted an object, got {'nothing' if value is None else type(value).__name__}")
    return value


def load_value(source: str | bytes) -> Any:  # why: any JSON value
    """The first document of a text, whatever it is; what follows it is not looked at. None when there is none."""
    text = _text(source)
    if text.lstrip()[:1] == "{":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # flow YAML, or more than one object: the YAML reader says what is wrong
    return _document(text)


def document(content: bytes) -> Any:  # why: any JSON value
    """The only document of a text without separators. None when it is empty."""
    return _document(_text(content))


def _text(source: str | bytes) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise YamlError(f"not UTF-8 at byte {error.start}") from error


def _document(text: str) -> Any:
    try:
        return _Reader(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise YamlError(error.problem or error.context or str(error), line) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(error.reason, text.count("\n", 0, error.position) + 1) from error
    except (yaml.YAMLError, ScalarError) as error:
        raise YamlError(str(error)) from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error


class _Pending:
    """What an anchor stands for until its node is complete."""


class _Reader:
    """Builds the value of the first document from parser events."""

    def __init__(self, text: str) -> None:
        self._parser = CParser(text)
        self._next = self._parser.get_event
        self._text = text if "\\/" in text else ""
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[int, int] = {}
        self._aliased = 0

    def document(self) -> Any:
        try:
            event = self._next()
            while event is not None and event.__class__ is not yaml.DocumentStartEvent:
                event = self._next()
            if event is None:
                return None
            if event.version not in (None, (1, 1)):
                raise YamlError("found incompatible YAML document")
            value = self._value(self._next())
            self._next()  # the end of the document, or the error that something stands behind its node
            return value
        finally:
            self._parser.dispose()

    def _value(self, event: Any) -> Any:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            return self._anchored(event, value_of(self._scalar(event)))
        if kind is yaml.AliasEvent:
            return self._alias(event)
        if event.anchor:
            self._anchors[event.anchor] = _Pending
        value = self._mapping() if kind is yaml.MappingStartEvent else self._sequence()
        return self._anchored(event, value)

    def _anchored(self, event: Any, value: Any) -> Any:
        if event.anchor:
            self._anchors[event.anchor] = value
            self._sizes[id(value)] = self._size(value)
        return value

    def _size(self, value: Any) -> int:
        """How many nodes a value has, those behind its aliases included."""
        if id(value) in self._sizes:
            return self._sizes[id(value)]
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + sum(map(self._size, children))

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise YamlError(f"unknown anchor {event.anchor!r} referenced")
        value = self._anchors[event.anchor]
        if value is _Pending:
            raise YamlError(f"anchor {event.anchor!r} value contains itself")
        self._aliased += self._size(value)
        if self._aliased > _ALIASED_NODES:
            raise YamlError("document contains excessive aliasing")
        return value

    def _scalar(self, event: Any) -> object:
        if self._text and event.style == '"':
            self._check_escapes(event)
        if event.tag is None or event.tag == "!":
            return resolve(event.value) if event.implicit[0] else event.value
        return tagged(event.tag, event.value)

    def _check_escapes(self, event: Any) -> None:
        # libyaml learned this escape from JSON; the parser of the Go tools did not.
        if _ESCAPED_SLASH.search(self._text, event.start_mark.index, event.end_mark.index):
            raise YamlError("found unknown escape character", event.start_mark.line + 1)

    def _sequence(self) -> list[Any]:
        values = []
        event = self._next()
        while event.__class__ is not yaml.SequenceEndEvent:
            values.append(self._value(event))
            event = self._next()
        return values

    def _mapping(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        step, scalar, end, check = self._next, yaml.ScalarEvent, yaml.MappingEndEvent, bool(self._text)
        while (key := step()).__class__ is not end:
            if key.__class__ is scalar and key.tag is None and key.value == "<<" and key.implicit[0]:
                self._merge(step(), values)
                continue
            name = self._key(key)
            event = step()
            if event.__class__ is scalar and event.anchor is None and event.tag is None and not check:
                values[name] = plain(event.value) if event.implicit[0] else event.value
            else:
                values[name] = self._value(event)
        return values

    def _key(self, event: Any) -> str:
        if event.__class__ is yaml.ScalarEvent:
            scalar = self._scalar(event)
            self._anchored(event, value_of(scalar) if event.anchor else None)
            return scalar if scalar.__class__ is str else key_text(scalar)
        value = self._value(event)
        if isinstance(value, dict | list):
            raise YamlError("invalid map key", event.start_mark.line + 1)
        return key_text(value)

    def _merge(self, event: Any, values: dict[str, Any]) -> None:
        source = self._value(event)
        sources = source if isinstance(source, list) else [source]
        if not all(isinstance(one, dict) for one in sources):
            raise YamlError("map merge requires map or sequence of maps as the value")
        merged: dict[str, Any] = {}
        for one in reversed(sources):
            merged |= one
        values |= merged
