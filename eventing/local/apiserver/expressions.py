"""CEL for rules of schemas: what compiles, what it answers, what it may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from shared.domain.resolver import cel_cost
from shared.domain.resolver.cel_expression import Node, parsed


class NoAnswer(Exception):
    """A rule cannot be evaluated on a value; the text says why."""


def is_known(rule: str) -> bool:
    """Whether a rule compiles here: some use functions that only a real server has."""
    return _compiled(rule) is not None


def answer(rule: str, variables: Mapping[str, Any]) -> bool:
    """Whether a known rule is true of `self`, and of `oldSelf` if it names that. NoAnswer."""
    try:
        found = _compiled(rule).eval(data=dict(variables)).value()
    except RuntimeError as error:
        raise NoAnswer(str(error)) from error
    if not isinstance(found, bool):
        raise NoAnswer(str(found))
    return found


def cost(rule: str, variables: Mapping[str, Any]) -> int:
    """What a known rule may write and compare, in bytes. `cel_cost.TooCostly`."""
    scope = {name: cel_cost.bound_of_value(value) for name, value in variables.items()}
    return cel_cost.cost_in(_tree(rule), scope)


@lru_cache(maxsize=4096)
def _tree(rule: str) -> Node:
    """Read once: every write of an object asks what its rules cost."""
    return parsed(_compiled(rule).serialize())


@lru_cache(maxsize=4096)
def _compiled(rule: str) -> Any:
    try:
        return _environment().compile(rule)
    except RuntimeError:
        return None


@cache
def _environment() -> Any:
    from cel_expr_python import cel  # native code: loaded only when a definition has rules
    from cel_expr_python.ext import ext_strings

    text, kind = cel.Type.STRING, cel.Type
    address = kind.Map(text, text)
    functions = [
        cel.FunctionDecl("find", [cel.Overload("string_find", text, [text, text], True, _found)]),
        cel.FunctionDecl("isURL", [cel.Overload("string_is_url", kind.BOOL, [text], False, _is_url)]),
        cel.FunctionDecl("url", [cel.Overload("string_url", address, [text], False, _url)]),
        cel.FunctionDecl("getScheme", [cel.Overload("url_scheme", text, [address], True, _scheme)]),
    ]
    variables = dict.fromkeys(("self", "oldSelf"), kind.DYN)
    return cel.NewEnv(variables=variables, functions=functions, extensions=[ext_strings.ExtStrings()])


def _found(text: str, pattern: str) -> str:
    match = re.search(pattern, text, re.ASCII)
    return match[0] if match else ""


def _is_url(text: str) -> bool:
    return _split(text) is not None


def _url(text: str) -> dict[str, str]:
    found = _split(text)
    if found is None:
        raise ValueError(f"URL parse error during conversion from string: {text}")
    return {"scheme": found.scheme}


def _scheme(url: Mapping[str, str]) -> str:
    return url["scheme"]


def _split(text: str) -> SplitResult | None:
    """What Go reads as the address of a request: absolute, or a path from the root."""
    try:
        found = urlsplit(text)
    except ValueError:
        return None
    return found if found.scheme or text.startswith("/") else None
