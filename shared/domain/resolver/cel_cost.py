"""An upper bound of what a rule in CEL can cost, found before it is evaluated.

The library counts iterations, but neither the bytes of strings and lists that double in each of them, nor the copies
that it makes of a growing list, nor comparisons of lists that hold the same list many times. So the checked expression
is walked once with sizes in place of values: each value is replaced by a bound of its size, written out in full.

Costs only add and multiply sizes, so they are convex: of all ways to share some bytes among the elements of a list, the
dearest gives all of them to one element. That is how a loop over a list is bounded of which only the size is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import orjson

from shared.domain.resolver.cel_expression import WORD, Node

LIMIT: Final = 64_000_000
"""Bytes that one evaluation may write or compare."""
_TEXT: Final = 64
"""The longest text of a number or a type."""
_RESULT: Final = frozenset({"_||_", "_&&_", "!_", "@not_strictly_false"})
_SHORT: Final = frozenset({
    "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "@in", "_in_", "in", "matches", "contains", "startsWith", "endsWith",
    "semver_compare", "size", "-_", "_-_", "_*_", "_/_", "_%_", "int", "uint", "double", "bool", "timestamp",
    "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours",
    "getMilliseconds", "getMinutes", "getMonth", "getSeconds", "isURL", "getScheme", "indexOf", "lastIndexOf",
})  # fmt: skip
"""Functions whose result has a fixed size."""
_COMPARED: Final = 4
"""How much longer it takes to compare a byte than to copy it."""
_EQUAL: Final = frozenset({"_==_", "_!=_"})
_KEPT: Final = frozenset({
    "dyn", "bytes", "find", "url", "substring", "charAt", "lowerAscii", "upperAscii", "trim",
})  # fmt: skip
"""Functions whose result is at most as large as what they are given first."""
_TEXTS: Final = frozenset({"string", "type"})


class TooCostly(ValueError):
    """A rule may cost more than is allowed, or does what cannot be bounded."""


@dataclass(frozen=True, slots=True)
class Bound:
    """No value is larger: its size in bytes, and, of a list, how many elements it has and how large one is.

    Without a bound of its elements, a value may hold as many, and as large ones, as fit into its size.
    """

    size: int
    items: int = 0
    element: Bound | None = None

    def elements(self) -> tuple[int, Bound]:
        """How many there are at most, and the bound of each."""
        return (self.items, self.element) if self.element else (self.size // WORD, self)

    def or_(self, other: Bound) -> Bound:
        """The bound of a value that is one of two."""
        (items, element), (more, another) = self.elements(), other.elements()
        larger = element if element.size >= another.size else another
        is_known = self.element is not None and other.element is not None
        return Bound(max(self.size, other.size), max(items, more), Bound(larger.size) if is_known else None)


_SMALL: Final = Bound(WORD)
Scope: TypeAlias = Mapping[str, Bound]
Costed: TypeAlias = tuple[Bound, int]
"""What comes out, and what it cost."""


def cost(node: Node, properties: Bound) -> int:
    """What the evaluation may cost, in bytes. TooCostly when that is more than `LIMIT`."""
    return cost_in(node, {"properties": properties})


def cost_in(node: Node, scope: Scope) -> int:
    """What the evaluation may cost where these variables are known, in bytes. TooCostly as above."""
    return _walk(node, scope)[1]


def size_of(value: object) -> int:
    """The size of a JSON value, in bytes, or somewhat more: found from its text, which is quick."""
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError as error:  # nested too deeply, or not UTF-8
        raise TooCostly(f"a property cannot be measured: {error}") from error
    return len(text) + WORD * (1 + sum(map(text.count, (b",", b":", b"[", b"{"))))


def bound_of_value(value: object) -> Bound:
    """The bound of a JSON value of which nothing but the size counts."""
    return Bound(WORD + size_of(value))


def bound_of(count: int, total: int, largest: int) -> Bound:
    """The bound of a list of so many properties, by their size together and that of the largest."""
    return Bound(WORD + total, count, Bound(largest))


def _walk(node: Node, scope: Scope) -> Costed:
    match node.kind:
        case "const":
            return Bound(node.size), 0
        case "ident":
            return scope.get(node.name, _SMALL), 0
        case "select":
            bound, paid = _walk(node.parts[0], scope)
            return (_SMALL if node.name else Bound(bound.size)), paid + WORD
        case "list":
            return _list(node, scope)
        case "loop":
            return _loop(node, scope)
        case "map":
            found = [_walk(part, scope) for part in node.parts]
            size = WORD + sum(bound.size for bound, _ in found)
            return Bound(size), _within(sum(paid for _, paid in found) + size)
    return _call(node, scope)


def _list(node: Node, scope: Scope) -> Costed:
    found = [_walk(part, scope) for part in node.parts]
    size = WORD + sum(bound.size for bound, _ in found)
    largest = max((bound.size for bound, _ in found), default=0)
    element = found[0][0] if len(found) == 1 else Bound(largest)
    return Bound(size, len(found), element), _within(sum(paid for _, paid in found) + size)


def _call(node: Node, scope: Scope) -> Costed:
    found = [_walk(part, scope) for part in node.parts]
    bounds, paid = [bound for bound, _ in found], sum(each for _, each in found) + WORD
    sizes = [bound.size for bound in bounds]
    match node.name:
        case name if name in _RESULT:
            return _SMALL, _within(paid)
        case "_?_:_":
            return bounds[1].or_(bounds[2]), _within(paid)
        case "_[_]":
            return bounds[0].elements()[1], _within(paid)
        case "_+_":
            return _joined(*bounds), _within(paid + sum(sizes))
        case name if name in _EQUAL and "const" in (node.parts[0].kind, node.parts[1].kind):
            return _SMALL, _within(paid + min(sizes))  # the constant decides how long it takes
        case name if name in _SHORT:
            return _SMALL, _within(paid + sum(sizes) * (_COMPARED if name in _EQUAL else 1))
        case name if name in _KEPT:
            return bounds[0], _within(paid + sum(sizes))
        case name if name in _TEXTS:
            return Bound(sum(sizes) + _TEXT), _within(paid + sum(sizes) + _TEXT)
    raise TooCostly(f"it calls {node.name!r}, of which nothing is known")


def _joined(first: Bound, second: Bound) -> Bound:
    (items, element), (more, another) = first.elements(), second.elements()
    larger = element if element.size >= another.size else another
    is_known = first.element is not None and second.element is not None
    return Bound(first.size + second.size, items + more, Bound(larger.size) if is_known else None)


def _loop(node: Node, scope: Scope) -> Costed:
    """A macro: `all`, `exists`, `exists_one`, `filter` or `map`."""
    range_, start, _, _, result = node.parts
    bound, paid = _walk(range_, scope)
    first, begun = _walk(start, scope)
    grown, copied, added = first, 0, 0
    for count, element in _shares(bound):
        more, each = _turn(node, scope, element)
        _within(count * each)
        paid += count * each
        if more is not None and first.element is not None:  # a list grows; else it is a counter
            grown = _joined(grown, Bound(count * more.size, count * more.items, more.element))
            added += count * more.items
            copied = WORD * added**2
            _within(grown.size)
    final, ended = _walk(result, {**scope, node.variables[-1]: grown})
    return final, _within(paid + begun + ended + copied)


def _shares(bound: Bound) -> tuple[tuple[int, Bound], ...]:
    """The elements of a list in the way that costs most: as many large ones as fit into its size, else small ones."""
    count, element = bound.elements()
    large = min(count, bound.size // max(element.size, 1) + 1)
    return (large, element), (count - large, _SMALL)


def _turn(node: Node, scope: Scope, element: Bound) -> tuple[Bound | None, int]:
    """What one turn of a loop adds, and what it costs."""
    _, _, condition, step, _ = node.parts
    *loops, total = node.variables
    inner = {**scope, **dict.fromkeys(loops, element), total: _SMALL}
    added, each = _added(step, inner, total)
    return added, each + _walk(condition, inner)[1]


def _added(step: Node, scope: Scope, total: str) -> tuple[Bound | None, int]:
    """What one turn of a loop adds to its result, if anything, and what it costs."""
    if step.kind == "ident" and step.name == total:
        return None, 0
    if step.kind == "call" and step.name == "_?_:_":
        condition, *branches = step.parts
        found = [_added(branch, scope, total) for branch in branches]
        paid = _walk(condition, scope)[1] + sum(each for _, each in found)
        return next((bound for bound, _ in found if bound is not None), None), paid
    if step.kind == "call" and step.name == "_+_" and _is(step.parts[0], total):
        return _walk(step.parts[1], scope)
    if step.kind == "call" and step.name in _RESULT:
        return None, _walk(step, scope)[1]
    raise TooCostly("it holds a loop of an unknown kind")


def _is(node: Node, name: str) -> bool:
    return node.kind == "ident" and node.name == name


def _within(paid: int) -> int:
    if paid > LIMIT:
        raise TooCostly(f"it may write or compare more than {LIMIT // 1_000_000} MB")
    return paid
