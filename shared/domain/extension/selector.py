"""Label selectors, refused in the words of Kubernetes when they are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.go.text import quoted
from shared.domain.selectors import matches
from shared.domain.syntax import LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN


class InvalidSelector(ValueError):
    """A selector that the API server would refuse."""


def check(selector: ReadOnly) -> None:
    """Nothing, or InvalidSelector."""
    labels = selector.get("matchLabels") or {}
    for key in sorted(labels):
        _check(key, "In", [labels[key]])
    for expression in selector.get("matchExpressions") or ():
        operator = str(expression.get("operator") or "")
        if operator not in _COUNTS:
            raise InvalidSelector(f"{quoted(operator)} is not a valid label selector operator")
        _check(str(expression.get("key") or ""), operator, expression.get("values") or [])


def selects(selector: ReadOnly | None, labels: Mapping[str, str]) -> bool:
    """No selector, and an empty one, select everything."""
    return not selector or matches(selector, labels)


_COUNTS: Final[Mapping[str, bool]] = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
"""Whether the operator wants values."""


def _check(key: str, operator: str, values: Sequence[Any]) -> None:
    """All that is wrong with one requirement, as the API server lists it."""
    problems = [f"key: Invalid value: {quoted(key)}: {'; '.join(wrong)}"] if (wrong := _wrong_key(key)) else []
    if _COUNTS[operator] and not values:
        problems.append("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
    if not _COUNTS[operator] and values:
        shown = ",".join(quoted(str(value)) for value in values)
        problems.append(f"values: Invalid value: [{shown}]: values set must be empty for exists and does not exist")
    for index, value in enumerate(map(str, values)):
        if wrong := LABEL_VALUE.problems(value):
            problems.append(f"values[{index}][{key}]: Invalid value: {quoted(value)}: {'; '.join(wrong)}")
    if problems:
        raise InvalidSelector(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _wrong_key(key: str) -> list[str]:
    *prefixes, name = key.split("/")
    if len(prefixes) > 1:
        with_prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {QUALIFIED_NAME.rule} {with_prefix}"]
    found: list[str] = []
    for prefix in prefixes:
        wrong = SUBDOMAIN.problems(prefix) if prefix else ["must be non-empty"]
        found += (f"prefix part {why}" for why in wrong)
    if not name:
        found.append("name part must be non-empty")
    return [*found, *(f"name part {why}" for why in QUALIFIED_NAME.problems(name))]
