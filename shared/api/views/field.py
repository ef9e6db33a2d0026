"""The fields of views, one line each: where a property finds its value, and the type that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar, cast

from shared.api import fields
from shared.api.fields import Path
from shared.api.manifest import ReadOnly
from shared.api.views.view import View

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V", bound=View)


class Field(Protocol[T_co]):
    """A property, whose type mypy knows; its meaning stands below it."""

    def __get__(self, view: View, owner: type[View], /) -> T_co: ...


def text(*path: str) -> Field[str]:
    """A text; empty when absent."""
    return _field(fields.text_at, path, str)


def flag(*path: str) -> Field[bool]:
    """Whether there is `true`."""
    return _field(fields.flag_at, path, bool)


def number(*path: str) -> Field[int]:
    """A whole number; 0 when absent."""
    return _field(fields.number_at, path, int)


def count(*path: str) -> Field[int]:
    """A number that can still be counted up; 0 for any other."""
    return _field(fields.count_at, path, int)


def moment(*path: str) -> Field[datetime | None]:
    """The time in a Kubernetes timestamp; None when it is absent or not valid."""
    return _field(fields.moment_at, path, datetime | None)


def part(*path: str) -> Field[ReadOnly]:
    """An object inside the object as it is; empty when absent."""
    return _field(fields.part_at, path, ReadOnly)


def parts(*path: str) -> Field[tuple[ReadOnly, ...]]:
    """The objects of a list as they are; empty when absent."""
    return _field(fields.parts_at, path, tuple[ReadOnly, ...])


def texts(*path: str) -> Field[tuple[str, ...]]:
    """The texts of a list; empty when absent."""
    return _field(fields.texts_at, path, tuple[str, ...])


def strings(*path: str) -> Field[Mapping[str, str]]:
    """An object whose values are texts, as labels are; empty when absent."""
    return _field(fields.strings_at, path, Mapping[str, str])


def view(kind: type[V], *path: str) -> Field[V]:
    """An object inside the object, as a view; that of an empty object when absent."""

    def found(view: View) -> V:
        return kind(fields.part_at(view.raw, path))

    return _property(found, kind)


def views(kind: type[V], *path: str) -> Field[tuple[V, ...]]:
    """The objects of a list, as views; empty when absent."""

    def found(view: View) -> tuple[V, ...]:
        return kind.each(fields.parts_at(view.raw, path))

    return _property(found, tuple[kind, ...])  # type: ignore[valid-type]  # why: of no use to mypy, but to who looks


def _field(read: Callable[[ReadOnly, Path], T], path: Path, type_: object) -> Field[T]:
    def found(view: View) -> T:
        return read(view.raw, path)

    return _property(found, type_)


def _property(found: Callable[[View], T], type_: object) -> Field[T]:
    """Declares the type of the value, so that whoever inspects a view sees the types of its properties."""
    found.__annotations__["return"] = type_
    return cast("Field[T]", property(found))
