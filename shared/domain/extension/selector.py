"""Label selectors, refused in the words of Kubernetes when they are none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.gotext import quoted
from shared.domain.groups.selectors import matches

_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SYMBOLS: Final = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_LABEL: Final = (
    f"a valid label must be an empty string or consist of {_SYMBOLS} (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_PART: Final = (
    f"name part must consist of {_SYMBOLS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LONGEST: Final = 63
_LONGEST_PREFIX: Final = 253


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
    problems = _wrong_key(key)
    if problems:
        raise InvalidSelector(f"key: Invalid value: {quoted(key)}: {'; '.join(problems)}")
    if _COUNTS[operator] and not values:
        raise InvalidSelector("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
    if not _COUNTS[operator] and values:
        shown = ",".join(quoted(str(value)) for value in values)
        raise InvalidSelector(
            f"values: Invalid value: [{shown}]: values set must be empty for exists and does not exist"
        )
    for index, value in enumerate(map(str, values)):
        if problems := _wrong_value(value):
            raise InvalidSelector(f"values[{index}][{key}]: Invalid value: {quoted(value)}: {'; '.join(problems)}")


def _wrong_key(key: str) -> list[str]:
    prefix, slash, name = key.rpartition("/")
    found = []
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash and (len(prefix) > _LONGEST_PREFIX or not _SUBDOMAIN.fullmatch(prefix)):
        found.append("prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters")
    if not name:
        found.append("name part must be non-empty")
    if len(name) > _LONGEST:
        found.append(f"name part must be no more than {_LONGEST} bytes")
    if not _NAME.fullmatch(name):
        found.append(_PART)
    return found


def _wrong_value(value: str) -> list[str]:
    found = [f"must be no more than {_LONGEST} bytes"] if len(value) > _LONGEST else []
    return found if not value or _NAME.fullmatch(value) else [*found, _LABEL]
