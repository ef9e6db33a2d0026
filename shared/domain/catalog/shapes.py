"""What the fields of a document have to be, judged as a decoder of Go judges (fbc.md §2.3, §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from shared.domain.go.json import kind_of, misfit
from shared.domain.go.text import fold, from_base64

_TEXT_KINDS: Final = frozenset((str, type(None)))


class Shape(Protocol):
    """A type of Go. The null of JSON fits every type: decoding it leaves the field as it is."""

    @property
    def go(self) -> str:
        """Its name in Go."""
        ...

    def fits(self, value: Any, /) -> bool:  # why: any JSON value
        """Whether a value can be decoded."""
        ...

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:  # why: any JSON value
        """Why it cannot, in the order in which a decoder finds it out; asked of whatever is not None."""
        ...


def why_not(shape: Shape, value: Any) -> str:  # why: any JSON value
    """The first complaint about a value, or an empty text."""
    return "" if shape.fits(value) else next(shape.complaints(value, "", ""))


def _is_something(value: object) -> bool:
    return value is not None


def _mismatch(value: Any, go: str, owner: str, path: str) -> str:
    return misfit(kind_of(value), go, owner and f"{owner}.{path}")


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A string, a boolean, or a named type of one of them, e.g. `v1alpha1.InstallModeType`."""

    go: str
    kind: type

    def fits(self, value: Any, /) -> bool:
        return value.__class__ is self.kind or value is None

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        if not self.fits(value):
            yield _mismatch(value, self.go, owner, path)


@dataclass(frozen=True, slots=True)
class _Integer:
    """A whole number within bounds."""

    go: str
    lowest: int
    highest: int

    def fits(self, value: Any, /) -> bool:
        if value.__class__ is float and value.is_integer():
            return self.lowest <= value <= self.highest
        return value is None or (value.__class__ is int and self.lowest <= value <= self.highest)

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        if not self.fits(value):
            text = _mismatch(value, self.go, owner, path)
            yield text.replace("number", f"number {value}", 1) if value.__class__ in (int, float) else text


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Bytes, written as base64 or as a list of numbers."""

    go: str = "[]uint8"

    def fits(self, value: Any, /) -> bool:
        if value.__class__ is not str:
            return value is None or (value.__class__ is list and all(map(_OCTET.fits, value)))
        try:
            from_base64(value)
        except ValueError:
            return False
        return True

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        if isinstance(value, list):
            for one in filter(_is_something, value):
                yield from _OCTET.complaints(one, owner, path)
        elif isinstance(value, str):
            try:
                from_base64(value)
            except ValueError as error:
                yield str(error)
        else:
            yield _mismatch(value, self.go, owner, path)


@dataclass(frozen=True, slots=True)
class _Raw:
    """Anything."""

    go: str = "json.RawMessage"

    def fits(self, _: Any, /) -> bool:
        return True

    def complaints(self, _: Any, __: str, ___: str, /) -> Iterator[str]:
        yield from ()


@dataclass(frozen=True, slots=True)
class _ListOf:
    """A list of one shape."""

    inner: Shape

    @property
    def go(self) -> str:
        return f"[]{self.inner.go}"

    def fits(self, value: Any, /) -> bool:
        return value is None or (value.__class__ is list and all(map(self.inner.fits, value)))

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        if isinstance(value, list):
            for one in filter(_is_something, value):
                yield from self.inner.complaints(one, owner, path)
        else:
            yield _mismatch(value, self.go, owner, path)


@dataclass(frozen=True, slots=True)
class _TextMap:
    """Texts by any key."""

    go: str = "map[string]string"

    def fits(self, value: Any, /) -> bool:
        return value is None or (value.__class__ is dict and _TEXT_KINDS.issuperset(map(type, value.values())))

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        if isinstance(value, dict):
            for key in sorted(value):
                yield from TEXT.complaints(value[key], owner, path)
        else:
            yield _mismatch(value, self.go, owner, path)


@dataclass(frozen=True)
class Struct:
    """Known fields, whatever the case of their names; unknown ones are not looked at."""

    go: str
    fields: Mapping[str, Shape]

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {fold(name): name for name in self.fields}

    @cached_property
    def _scalars(self) -> tuple[tuple[frozenset[type], tuple[str, ...]], ...]:
        """The names of the fields of each kind of scalar, behind what such a field may hold."""
        scalars = {name: shape.kind for name, shape in self.fields.items() if isinstance(shape, _Scalar)}
        return tuple(
            (frozenset((kind, type(None))), tuple(name for name, one in scalars.items() if one is kind))
            for kind in dict.fromkeys(scalars.values())
        )

    @cached_property
    def _is_text_only(self) -> bool:
        return all(shape is TEXT for shape in self.fields.values())

    @cached_property
    def _others(self) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
        return tuple((name, shape.fits) for name, shape in self.fields.items() if not isinstance(shape, _Scalar | _Raw))

    def name_of(self, key: str) -> str | None:
        """The field that a key names, whatever its case; None for an unknown one."""
        return self._folded.get(fold(key))

    def fits(self, value: Any, /) -> bool:
        """Whether every known field of an object fits."""
        if value.__class__ is not dict:
            return value is None
        if self._is_text_only and _TEXT_KINDS.issuperset(map(type, value.values())):
            return True
        if not value.keys() <= self.fields.keys() and self._has_odd_spelling(value):
            pairs = ((self._folded.get(fold(key)), one) for key, one in value.items())
            return all(self.fields[name].fits(one) for name, one in pairs if name)
        for kinds, names in self._scalars:  # they are the many, and looked at without a call for each
            if not kinds.issuperset(map(type, map(value.get, names))):
                return False
        if not self._others:
            return True
        return all(fits(one) for name, fits in self._others if (one := value.get(name)) is not None)

    def _has_odd_spelling(self, value: Mapping[str, Any]) -> bool:
        return any(fold(key) in self._folded for key in value.keys() - self.fields.keys())

    def complaints(self, value: Any, owner: str, path: str, /) -> Iterator[str]:
        """Why an object does not fit, field by field."""
        if not isinstance(value, dict):
            yield _mismatch(value, self.go, owner, path)
        for key in sorted(value if isinstance(value, dict) else ()):
            if (name := self._folded.get(fold(key))) and value[key] is not None:
                below = f"{path}.{name}" if path else name
                yield from self.fields[name].complaints(value[key], self.go.rpartition(".")[2], below)

    def read(self, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """The fields under their own names; of several spellings, the last by code point that holds something."""
        if value is None:
            return {}
        if value.keys() <= self.fields.keys():
            return value
        found = {}
        for key in sorted(value):
            name = self._folded.get(fold(key))
            if name and (value[key] is not None or name not in found):
                found[name] = value[key]
        return found


TEXT: Final = _Scalar("string", str)
FLAG: Final = _Scalar("bool", bool)
INT32: Final = _Integer("int32", -(2**31), 2**31 - 1)
_OCTET: Final = _Integer("uint8", 0, 255)
BYTES: Final = _Bytes()
RAW: Final = _Raw()
TEXTS: Final = _ListOf(TEXT)
TEXT_MAP: Final = _TextMap()


def list_of(inner: Shape) -> Shape:
    """A list of one shape."""
    return _ListOf(inner)


def inner_of(shape: Shape) -> Shape | None:
    """The shape of the elements of a list; None for any other shape."""
    return shape.inner if isinstance(shape, _ListOf) else None


def octets(value: Any) -> bytes:  # why: any JSON value
    """The bytes that a value states which fits `BYTES`; none of null."""
    return from_base64(value) if isinstance(value, str) else bytes(int(octet or 0) for octet in value or ())


def raw(go: str) -> Shape:
    """Anything, where Go has that type."""
    return _Raw(go)


def named_text(go: str) -> Shape:
    """A text of a type of its own."""
    return _Scalar(go, str)


def struct(go: str, texts: str = "", **others: Shape) -> Struct:
    """A struct with fields that are texts, and others."""
    return Struct(go, dict.fromkeys(texts.split(), TEXT) | others)
