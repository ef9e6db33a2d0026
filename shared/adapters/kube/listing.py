"""Reads the objects of a collection page by page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest, metadata
from shared.domain.syntax import LABEL_VALUE, QUALIFIED_NAME
from shared.names import ANY, NONE
from shared.refs import InvalidName

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_T = TypeVar("_T")
_SPECIAL = re.compile(r"[\\,=]")
"""What the API server's parser of such selectors wants a backslash before."""
_PREFIX = re.compile(r"([a-z0-9.-]+/)?[^/]+")


def can_be_set(labels: Mapping[str, str]) -> bool:
    """Whether an object can have these labels; to select others the API server answers 400.

    The names of operators and OperatorGroups become values of labels, and may be too long for that.
    """
    are_keys = all(QUALIFIED_NAME.fits(key.rpartition("/")[2]) and _PREFIX.fullmatch(key) for key in labels)
    return are_keys and not any(LABEL_VALUE.problems(value) for value in labels.values() if value not in (ANY, NONE))


def label_selector(labels: Mapping[str, str]) -> str:
    """The query parameter for objects with these labels (without, for `NONE`). InvalidName when none can have them."""
    if not can_be_set(labels):
        raise InvalidName(f"{dict(labels)} are no labels that an object can have")
    return ",".join(_requirement(key, value) for key, value in sorted(labels.items()))


def _requirement(key: str, value: str) -> str:
    return {ANY: key, NONE: f"!{key}"}.get(value, f"{key}={value}")


def field_selector(fields: Mapping[str, str]) -> str:
    """The query parameter for objects of which all these fields have these values, whatever letters they have."""
    return ",".join(f"{key}=" + _SPECIAL.sub(r"\\\g<0>", value) for key, value in fields.items())


def items(
    ask: Callable[[Mapping[str, str]], Manifest], query: Mapping[str, str], *, first: Mapping[str, str] = _NOTHING
) -> Iterator[Manifest]:
    """Every item; `ask` answers a query with a page, and the parameters `first` belong to the first page only."""
    parameters = first
    while True:
        page = ask({**query, **parameters})
        yield from page.get("items") or ()
        following = metadata(page).get("continue")
        if not following:
            return
        parameters = {"continue": following}


def unexpired(read: Callable[[], Iterable[_T]]) -> tuple[_T, ...]:
    """The result of `read`; it is called again when the history was compacted between two pages."""
    try:
        return tuple(read())
    except ApiError as error:
        if not error.is_expired:
            raise
        return tuple(read())
