"""Checks the shape of a JSON request; errors name the path, the expected type and the found type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Shape: TypeAlias = "type | list[Shape] | Mapping[str, Shape]"
"""A type, a list with the shape of its items, or an object with the shapes of some of its fields."""


class InvalidRequest(ValueError):
    """A request is not valid; the message names the path of the wrong field."""


def check(value: Any, shape: Shape, place: str = "") -> None:  # why: any JSON value
    """Raise InvalidRequest for the first place that does not match; null counts as absent."""
    if value is None:
        return
    if isinstance(shape, type):
        _check_type(value, shape, place)
    elif isinstance(shape, list):
        _check_type(value, list, place)
        for index, item in enumerate(value):
            if item is None:
                raise InvalidRequest(f"{place}[{index}]: there is nothing")
            check(item, shape[0], f"{place}[{index}]")
    else:
        _check_type(value, dict, place)
        for field, inner in shape.items():
            check(value.get(field), inner, f"{place}.{field}" if place else field)


def _check_type(value: object, desired: type, place: str) -> None:
    if not isinstance(value, desired) or (isinstance(value, bool) and desired is not bool):
        raise InvalidRequest(f"{place}: wanted {_WORDS[desired]}, got {word_for(value)}")


def word_for(value: object) -> str:
    """What a JSON value is, in words."""
    return _WORDS[type(value)]


_WORDS: Final[Mapping[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
