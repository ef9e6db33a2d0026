"""Builds the value of a YAML document from the events of libyaml, within the limits of Go's parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import yaml
from yaml._yaml import CParser

from shared.domain.go.scalar import ScalarError, key_text, plain, resolve, tagged
from shared.domain.go.scalar import json_value as value_of

DEEPEST: Final = 1000
"""How deep values may be nested. Go allows ten times as much, but libyaml looks at each open bracket for each word."""
_OF_JSON: Final = ("unsupported map key", "json: ")
_COLLECTIONS: Final = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_FEW: Final = 400_000
_MANY: Final = 4_000_000
_UNSUSPICIOUS_NODES: Final = 100
_UNSUSPICIOUS_ALIASED: Final = 1000
_SUSPICIOUS_KEYS: Final = 100_000
"""After so many merged keys, and after twice as many each time, the share is looked at."""
_SHARE_OF_FEW: Final = 0.99
_SHARE_OF_MANY: Final = 0.10


class YamlError(ValueError):
    """The Go tools do not accept a text; the message says why and, if known, in which line."""

    def __init__(self, problem: str, line: int = 0, go_line: int = 0) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.line = line
        where = f"line {go_line}: " if go_line else ""
        self.go_message = problem if problem.startswith(_OF_JSON) else f"yaml: {where}{problem}"
        """The message of the tools; some errors occur only when the YAML is converted to JSON."""


class _UnparsableError(YamlError):
    """An error that Go finds when it parses, before it looks at any value."""


def _too_deep(event: Any) -> YamlError:
    return _UnparsableError(f"exceeded max depth of {DEEPEST}", event.start_mark.line + 1)


def _unknown(anchor: str) -> YamlError:
    return _UnparsableError(f"unknown anchor '{anchor}' referenced")


class _Pending:
    """The placeholder of an anchor until its node is complete."""


class Reader:
    """Builds the value of the first document from parser events."""

    def __init__(self, text: str) -> None:
        self._source = text
        self._parser = CParser(text)
        self._next = self._parser.get_event
        self._text = text if "\\/" in text else ""
        self._anchors: dict[str, Any] = {}
        self._has_aliases = False
        self._merged, self._suspicious = 0, _SUSPICIOUS_KEYS
        self._depth = 1
        self._flow = 0
        """How many of the collections around are written in brackets."""

    def document(self) -> Any:
        """The value; None of nothing. Errors of libyaml, ScalarError, YamlError."""
        try:
            event = self._next()
            while event is not None and event.__class__ is not yaml.DocumentStartEvent:
                event = self._next()
            if event is None:
                return None
            if event.version not in (None, (1, 1)):
                raise YamlError("found incompatible YAML document")
            return self._root(self._next())
        finally:
            self._parser.dispose()

    def _parse_rest(self) -> None:
        """Read on to the end of the document: Go parses it before it looks at values, so those errors come first."""
        depth = 0
        while (event := self._next()) is not None and event.__class__ is not yaml.DocumentEndEvent:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise _too_deep(event)
            anchor: Any = getattr(event, "anchor", None)
            if event.__class__ is yaml.AliasEvent and anchor not in self._anchors:
                raise _unknown(anchor)
            self._anchors[anchor] = _Pending

    def _root(self, event: Any) -> Any:
        try:
            if event.__class__ is yaml.MappingStartEvent and not event.flow_style:
                return self._root_mapping(event)
            return self._whole(self._value(event))
        except _UnparsableError:
            raise
        except (YamlError, ScalarError):
            self._parse_rest()
            raise

    def _root_mapping(self, event: Any) -> Any:
        key: Any = self._next()
        if key.__class__ in _COLLECTIONS and key.flow_style and key.tag is None and key.anchor is None:
            inner = self._next()
            if inner.__class__ in (yaml.SequenceEndEvent, yaml.MappingEndEvent):
                # Go ignores the colon after `[]` and `{}`, and with it the rest of the document.
                return {} if key.__class__ is yaml.MappingStartEvent else []
            raise YamlError("invalid map key", event.start_mark.line + 1)
        self._anchors |= {event.anchor: _Pending} if event.anchor else {}
        return self._whole(self._anchored(event, self._mapping(key)))

    def _whole(self, value: Any) -> Any:
        """The value. YamlError when invalid text follows it, or when it has excessive aliases."""
        self._next()
        if self._has_aliases:
            self._check_aliases()
        return value

    def _check_aliases(self) -> None:
        if is_excessive(_events(self._source)):
            raise YamlError("document contains excessive aliasing")

    def _value(self, event: Any) -> Any:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            return self._anchored(event, value_of(self._scalar(event)))
        if kind is yaml.AliasEvent:
            return self._alias(event)
        if event.anchor:
            self._anchors[event.anchor] = _Pending
        self._depth += 1
        if self._depth > DEEPEST:
            raise _too_deep(event)
        self._flow += event.flow_style
        value = self._mapping() if kind is yaml.MappingStartEvent else self._sequence()
        self._flow -= event.flow_style
        self._depth -= 1
        return self._anchored(event, value)

    def _anchored(self, event: Any, value: Any) -> Any:
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _unknown(event.anchor)
        value = self._anchors[event.anchor]
        if value is _Pending:
            raise YamlError(f"anchor {event.anchor!r} value contains itself")
        self._has_aliases = True
        return value

    def _scalar(self, event: Any) -> object:
        if self._text and event.style == '"':
            self._check_escapes(event)
        if self._flow and not event.style and "?" in event.value[1:]:
            # In brackets, Go ends a text at a question mark; libyaml does not.
            raise _UnparsableError("did not find expected ',' or closing bracket", event.start_mark.line + 1)
        if event.tag is None:
            return resolve(event.value) if event.implicit[0] else event.value
        return event.value if event.tag == "!" else tagged(event.tag, event.value)

    def _check_escapes(self, event: Any) -> None:
        # libyaml supports this escape of JSON; the parser of the Go tools does not.
        if _ESCAPED_SLASH.search(self._text, event.start_mark.index, event.end_mark.index):
            line = event.start_mark.line
            raise _UnparsableError("found unknown escape character", line + 1, line and line + 1)

    def _sequence(self) -> list[Any]:
        values = []
        event = self._next()
        while event.__class__ is not yaml.SequenceEndEvent:
            values.append(self._value(event))
            event = self._next()
        return values

    def _mapping(self, first: Any = None) -> dict[str, Any]:
        values: dict[str, Any] = {}
        step, scalar, end, check = self._next, yaml.ScalarEvent, yaml.MappingEndEvent, bool(self._text or self._flow)
        key = first or step()
        while key.__class__ is not end:
            if key.__class__ is scalar and key.tag is None and key.value == "<<" and key.implicit[0]:
                self._merge(step(), values)
            else:
                name = self._key(key)
                event = step()
                if event.__class__ is scalar and event.anchor is None and event.tag is None and not check:
                    values[name] = plain(event.value) if event.implicit[0] else event.value
                else:
                    values[name] = self._value(event)
            key = step()
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
            self._merged += len(one)
            if self._merged > self._suspicious:  # before the work is done, which grows with the square of the text
                self._check_aliases()
                self._suspicious *= 2
            merged |= one
        values |= merged


def _events(text: str) -> Iterator[Any]:
    """The events of a text, and None for ever after the last."""
    parser = CParser(text)
    while True:
        yield parser.get_event()


def is_excessive(events: Iterable[Any]) -> bool:  # why: events of a parser without types
    """Whether the share of nodes expanded from aliases is too large at any point of a document."""
    return any(_is_suspicious(nodes, aliased) for nodes, aliased in _expansions(events))


def _expansions(events: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """At each alias of a document the number of nodes so far, and of those expanded from aliases."""
    nodes = aliased = 0
    sizes: dict[str | None, int] = {}
    open_: list[tuple[str | None, int]] = []
    for event in events:
        match event:
            case yaml.AliasEvent():
                size = sizes.get(event.anchor, 0)
                nodes += 1 + size
                aliased += size
                yield nodes, aliased
            case yaml.ScalarEvent():
                nodes += 1
                sizes[event.anchor] = 1
            case yaml.CollectionStartEvent():
                open_.append((event.anchor, nodes))
                nodes += 1
            case yaml.CollectionEndEvent():
                anchor, before = open_.pop()
                sizes[anchor] = nodes - before
            case yaml.DocumentEndEvent():
                return


def _is_suspicious(nodes: int, aliased: int) -> bool:
    if nodes <= _UNSUSPICIOUS_NODES or aliased <= _UNSUSPICIOUS_ALIASED:
        return False
    excess = min(max(nodes - _FEW, 0), _MANY - _FEW) / (_MANY - _FEW)
    return aliased / nodes > _SHARE_OF_FEW - (_SHARE_OF_FEW - _SHARE_OF_MANY) * excess
