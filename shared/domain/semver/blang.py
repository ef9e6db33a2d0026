"""The range dialect of `skipRange` and `versionRange` (fbc.md §5.4)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from shared.domain.semver.version import InvalidVersion, Version, parse

_Test: TypeAlias = Callable[[Version, Version], bool]
_Comparator: TypeAlias = tuple[_Test, Version]
_Conjunction: TypeAlias = tuple[_Comparator, ...]

_TESTS: Final[dict[str, _Test]] = {
    "": operator.eq, "=": operator.eq, "==": operator.eq, "!": operator.ne, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_SPACED_OPERATOR: Final = re.compile(r"([<>=!]) +")
_WILDCARD: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?(?:\.x)+")
_OR: Final = "||"


class InvalidRange(ValueError):
    """A text is not a version range; the message says which part is wrong."""


@dataclass(frozen=True, slots=True)
class Range:
    """A set of versions: alternatives, each a list of comparisons that must all hold."""

    text: str
    alternatives: tuple[_Conjunction, ...]

    def __contains__(self, version: Version) -> bool:
        return any(all(test(version, bound) for test, bound in tests) for tests in self.alternatives)


def in_range(version: Version | str, range_text: str) -> bool:
    """Whether the range holds the version. InvalidVersion or InvalidRange when one of the two cannot be read."""
    return (parse(version) if isinstance(version, str) else version) in parse_range(range_text)


@lru_cache(maxsize=16384)
def parse_range(text: str) -> Range:
    """The range that a text states, e.g. `>=1.0.0 <1.2.0 || 2.x`. InvalidRange otherwise."""
    # A token of one character is dropped, as published catalogs expect (`1.0.0 - 2.0.0` then holds nothing).
    tokens = [token for token in _SPACED_OPERATOR.sub(r"\1", text).split(" ") if len(token) > 1]
    if tokens and tokens[0] == _OR:
        raise InvalidRange("First element in range is '||'")
    if not tokens or tokens[-1] == _OR:
        raise InvalidRange("Last element in range is '||'")
    alternatives: list[_Conjunction] = []
    for part in _split(tokens):
        if not part:
            raise InvalidRange(f"Could not parse Range \"{text}\": an alternative between two '||' is empty")
        alternatives.extend(_alternatives(part))
    return Range(text, tuple(alternatives))


def _split(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == _OR:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _alternatives(tokens: list[str]) -> list[_Conjunction]:
    """One conjunction, or several where a token such as `!=1.x` is itself a choice."""
    product: list[_Conjunction] = [()]
    for token in tokens:
        product = [tests + choice for tests in product for choice in _choices(token)]
    return product


def _choices(token: str) -> tuple[_Conjunction, ...]:
    digit = re.search(r"[0-9]", token)
    if digit is None:
        raise InvalidRange(f'Could not get version from string: "{token}"')
    sign, version = token[: digit.start()], token[digit.start() :]
    if sign not in _TESTS:
        raise InvalidRange(f'Could not parse Range "{token}": Could not parse comparator "{sign}" in "{token}"')
    try:
        if wildcard := _WILDCARD.fullmatch(version):
            return _wildcard(_TESTS[sign], *_bounds(wildcard))
        return (((_TESTS[sign], parse(version)),),)
    except InvalidVersion as error:
        raise InvalidRange(
            f'Could not parse Range "{token}": Could not parse version "{version}" in "{token}": {error}'
        ) from error


def _bounds(wildcard: re.Match[str]) -> tuple[Version, Version]:
    major, minor = wildcard.groups()
    if minor is None:
        return parse(f"{major}.0.0"), parse(f"{int(major) + 1}.0.0")
    return parse(f"{major}.{minor}.0"), parse(f"{major}.{int(minor) + 1}.0")


def _wildcard(test: _Test, low: Version, high: Version) -> tuple[_Conjunction, ...]:
    below, above = (operator.lt, low), (operator.ge, high)
    choices: dict[_Test, tuple[_Conjunction, ...]] = {
        operator.eq: (((operator.ge, low), (operator.lt, high)),),
        operator.ne: ((below,), (above,)),
        operator.lt: ((below,),),
        operator.le: (((operator.lt, high),),),
        operator.gt: ((above,),),
        operator.ge: (((operator.ge, low),),),
    }
    return choices[test]
