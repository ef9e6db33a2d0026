"""Rules in CEL over the properties of one operator (resolver.md §4.4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, TypeAlias

from shared.domain.catalog.model import Property
from shared.domain.go.float import plain_text
from shared.domain.resolver import cel_cost
from shared.domain.resolver.cel_expression import parsed
from shared.domain.semver import parse_tolerant

Rule: TypeAlias = Callable[[Iterable[Property]], bool]
"""Whether properties satisfy a rule."""


class InvalidRule(ValueError):
    """A rule does not compile, does not return a bool, or takes more steps or memory than allowed."""


@lru_cache(maxsize=1024)
def rule(source: str) -> Rule:
    """Compile a rule. InvalidRule.

    An error while the rule is evaluated counts as "no", as in OLM. A rule that takes too many steps, or may take
    too much memory, raises InvalidRule when it is evaluated.
    """
    environment, boolean = _environment()
    try:
        compiled = environment.compile(source)
    except RuntimeError as error:
        raise InvalidRule(str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")) from error
    if compiled.return_type() != boolean:
        raise InvalidRule("cel expressions must have type Bool")
    expression = parsed(compiled.serialize())

    @lru_cache(maxsize=64)
    def why_not(count: int, total: int, largest: int) -> str:
        try:
            cel_cost.cost(expression, cel_cost.bound_of(count, total, largest))
        except cel_cost.TooCostly as error:
            return str(error)
        return ""

    def holds(properties: Iterable[Property]) -> bool:
        try:
            values = [{"type": one.type, "value": _doubled(one.value)} for one in properties]
            sizes = [cel_cost.size_of(one) for one in values]
            if why := why_not(*map(_rounded, (len(sizes), sum(sizes), max(sizes, default=0)))):
                raise InvalidRule(f"rule {source!r} was given up: {why}")
            value = compiled.eval(data={"properties": values})
        except (
            RuntimeError,
            cel_cost.TooCostly,
        ) as error:  # too many steps; a RecursionError is one, too
            raise InvalidRule(f"rule {source!r} was given up: {error}") from error
        return value.type() == boolean and bool(value.value())

    return holds


def _rounded(number: int) -> int:
    """A power of two that is not smaller, so that few bounds are computed for many operators."""
    return 1 << max(number - 1, 0).bit_length()


@cache
def _environment() -> tuple[Any, Any]:
    from cel_expr_python import cel  # native code: loaded only when a catalog has rules

    kind = cel.Type
    types = {
        "string": kind.STRING, "double": kind.DOUBLE, "int": kind.INT, "uint": kind.UINT, "bool": kind.BOOL,
        "null": kind.NULL, "bytes": kind.BYTES, "list": kind.List(kind.DYN), "map": kind.Map(kind.DYN, kind.DYN),
    }  # fmt: skip
    overloads = [
        cel.Overload(f"semver_compare_{left}_{right}", kind.INT, [types[left], types[right]], False, _compare)
        for left, right in itertools.product(types, types)
    ]
    variables = {"properties": kind.List(kind.Map(kind.STRING, kind.DYN))}
    functions = [cel.FunctionDecl("semver_compare", overloads)]
    return cel.NewEnv(variables=variables, functions=functions), kind.BOOL


def _compare(left: object, right: object) -> int:
    """-1, 0 or 1. The library turns ValueError into a CEL error."""
    first, second = parse_tolerant(_as_text(left)), parse_tolerant(_as_text(right))
    return (first > second) - (first < second)


def _as_text(value: object) -> str:
    return plain_text(value) if isinstance(value, float) else str(value)


def _doubled(value: Any) -> Any:
    """JSON as CEL sees it: every number is a double."""
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case dict():
            return {key: _doubled(content) for key, content in value.items()}
        case list():
            return [_doubled(content) for content in value]
    return value
