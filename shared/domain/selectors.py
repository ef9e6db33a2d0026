"""Evaluates label selectors as Kubernetes does: those of objects, and those of requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.domain.syntax import LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN

Labels: TypeAlias = Mapping[str, str]

_HOLDS: Mapping[str, Callable[[str | None, frozenset[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def matches(selector: ReadOnly, labels: Mapping[str, str]) -> bool:
    """Whether the labels satisfy `matchLabels` and all of `matchExpressions`; an unknown operator never matches."""
    return fields.part(selector, "matchLabels").items() <= labels.items() and all(
        _holds(expression, labels) for expression in fields.parts(selector, "matchExpressions")
    )


def satisfying(selector: ReadOnly) -> dict[str, str]:
    """Valid labels that satisfy it, in place of others of the same keys; none where there are none.

    Nor where an object may have to lose a label.
    """
    expressions = fields.parts(selector, "matchExpressions")
    if any(fields.text(one, "operator") not in {"In", "Exists"} for one in expressions):
        return {}
    named = {fields.text(one, "key"): next(iter(fields.texts(one, "values")), "") for one in expressions}
    labels = named | {key: str(value) for key, value in fields.part(selector, "matchLabels").items()}
    are_valid = all(_is_key(key) and LABEL_VALUE.fits(value) for key, value in labels.items())
    return labels if are_valid and matches(selector, labels) else {}


def _is_key(text: str) -> bool:
    *prefix, name = text.split("/", 1)
    return QUALIFIED_NAME.fits(name) and all(map(SUBDOMAIN.fits, prefix))


def _holds(expression: ReadOnly, labels: Mapping[str, str]) -> bool:
    rule = _HOLDS.get(fields.text(expression, "operator"))
    values = frozenset(fields.texts(expression, "values"))
    return rule is not None and rule(labels.get(fields.text(expression, "key")), values)


class SelectorError(ValueError):
    """A text is no selector; the message is that of the API server."""


_REQUIREMENT = re.compile(r"\s*(?:(?P<key>[^\s=!,()]+)\s+(?P<set>in|notin)\s*\((?P<values>[^)]*)\)"
                          r"|(?P<name>[^\s=!,()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s=!,()]*)"
                          r"|(?P<absent>!\s*)?(?P<exists>[^\s=!,()]+))\s*(?:,|$)")  # fmt: skip


def parsed(text: str) -> Callable[[Labels], bool]:
    """The predicate of a selector such as `a=b,c!=d,e in (f,g),h,!i`. SelectorError for any other text."""
    tests: list[Callable[[Labels], bool]] = []
    position = 0
    if text.rstrip().endswith(","):
        raise SelectorError("found '', expected: identifier after ','")
    while position < len(text):
        found = _REQUIREMENT.match(text, position)
        if not found:
            raise SelectorError(f"unable to parse requirement: {text[position:]!r}")
        tests.append(_test_of(found))
        position = found.end()
    return lambda labels: all(test(labels) for test in tests)


def _test_of(found: re.Match[str]) -> Callable[[Labels], bool]:
    if key := found["key"]:
        values = {value.strip() for value in found["values"].split(",")}
        _check(key, sorted(values))
        if found["set"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if name := found["name"]:
        value = found["value"]
        _check(name, [value])
        if found["op"] == "!=":
            return lambda labels: labels.get(name) != value
        return lambda labels: labels.get(name) == value
    exists, desired = found["exists"], not found["absent"]
    return lambda labels: (exists in labels) is desired


def _check(key: str, values: Sequence[str]) -> None:
    """SelectorError for a value that no label can have."""
    for index, value in enumerate(values):
        for problem in LABEL_VALUE.problems(value):
            where = f'values[{index}][{key}]: Invalid value: "{value}"'
            raise SelectorError(f"unable to parse requirement: {where}: {problem}")
