"""Reads fields of JSON that somebody else wrote: a value of another type than the field has counts as absent.

Each type has a reader that takes a path of keys as a tuple; those that rules use on parts have a short form, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from shared.api.manifest import ReadOnly, instant

Path: TypeAlias = tuple[str, ...]
EMPTY: Final[ReadOnly] = {}
_HIGHEST: Final = 2**53
"""What every reader of JSON understands; nobody counts that far, so a number beyond it is somebody's bait."""


def value_at(raw: ReadOnly, path: Path) -> Any:  # why: any JSON value
    """What stands at a path; None when there is nothing, or something on the way is no object."""
    found: object = raw
    for key in path:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


def text_at(raw: ReadOnly, path: Path) -> str:
    """A text; empty when absent."""
    found: object = raw
    for key in path:  # as in `value_at`: this is asked for most often
        if not isinstance(found, dict):
            return ""
        found = found.get(key)
    return found if isinstance(found, str) else ""


def flag_at(raw: ReadOnly, path: Path) -> bool:
    """Whether there is `true`."""
    return value_at(raw, path) is True


def number_at(raw: ReadOnly, path: Path) -> int:
    """A whole number; 0 when absent."""
    found = value_at(raw, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def count_at(raw: ReadOnly, path: Path) -> int:
    """A number that can still be counted up; 0 for any other."""
    found = number_at(raw, path)
    return found if 0 < found < _HIGHEST else 0


def moment_at(raw: ReadOnly, path: Path) -> datetime | None:
    """The time in a Kubernetes timestamp; None when it is absent or not valid."""
    return instant(value_at(raw, path))


def part_at(raw: ReadOnly, path: Path) -> ReadOnly:
    """An object inside the object; empty when absent."""
    found = value_at(raw, path)
    return found if isinstance(found, dict) else EMPTY


def parts_at(raw: ReadOnly, path: Path) -> tuple[ReadOnly, ...]:
    """The objects of a list; empty when absent."""
    return tuple([one for one in _items(raw, path) if isinstance(one, dict)])


def texts_at(raw: ReadOnly, path: Path) -> tuple[str, ...]:
    """The texts of a list; empty when absent."""
    return tuple([one for one in _items(raw, path) if isinstance(one, str)])


def strings_at(raw: ReadOnly, path: Path) -> Mapping[str, str]:
    """An object whose values are texts, as labels are; empty when absent."""
    found = value_at(raw, path)
    if not isinstance(found, dict):
        return EMPTY
    for one in found.values():
        if not isinstance(one, str):
            return {key: text for key, text in found.items() if isinstance(text, str)}
    return found


def value(raw: ReadOnly, *path: str) -> Any:  # why: any JSON value
    """`value_at` a path of keys."""
    return value_at(raw, path)


def text(raw: ReadOnly, *path: str) -> str:
    """`text_at` a path of keys."""
    return text_at(raw, path)


def flag(raw: ReadOnly, *path: str) -> bool:
    """`flag_at` a path of keys."""
    return flag_at(raw, path)


def moment(raw: ReadOnly, *path: str) -> datetime | None:
    """`moment_at` a path of keys."""
    return moment_at(raw, path)


def part(raw: ReadOnly, *path: str) -> ReadOnly:
    """`part_at` a path of keys."""
    return part_at(raw, path)


def parts(raw: ReadOnly, *path: str) -> tuple[ReadOnly, ...]:
    """`parts_at` a path of keys."""
    return parts_at(raw, path)


def texts(raw: ReadOnly, *path: str) -> tuple[str, ...]:
    """`texts_at` a path of keys."""
    return texts_at(raw, path)


def strings(raw: ReadOnly, *path: str) -> Mapping[str, str]:
    """`strings_at` a path of keys."""
    return strings_at(raw, path)


def _items(raw: ReadOnly, path: Path) -> list[Any] | tuple[Any, ...]:
    found = value_at(raw, path)
    return found if isinstance(found, list | tuple) else ()
