"""Evaluates label selectors as Kubernetes does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shared.api.manifest import ReadOnly

_HOLDS: Mapping[str, Callable[[str | None, frozenset[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def matches(selector: ReadOnly, labels: Mapping[str, str]) -> bool:
    """Whether the labels satisfy `matchLabels` and all of `matchExpressions`; an unknown operator never matches."""
    return (selector.get("matchLabels") or {}).items() <= labels.items() and all(
        _holds(expression, labels) for expression in selector.get("matchExpressions") or ()
    )


def _holds(expression: ReadOnly, labels: Mapping[str, str]) -> bool:
    rule = _HOLDS.get(str(expression.get("operator")))
    values = frozenset(expression.get("values") or ())
    return rule is not None and rule(labels.get(str(expression.get("key"))), values)
