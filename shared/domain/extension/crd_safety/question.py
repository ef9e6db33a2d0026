"""Two editions of a CustomResourceDefinition as JSON: what `olmf crd diff --batch` is asked and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.domain.extension.crd_safety.upgrade import Problem, message, problems
from shared.domain.extension.shape import InvalidQuestion


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """`{"safe", "checks": [[version, path, check]…], "messages": […]}`. InvalidQuestion."""
    old, new = question.get("old"), question.get("new")
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        raise InvalidQuestion('a question wants CustomResourceDefinitions for "old" and "new"')
    try:
        found = problems(old, new)
    except (AttributeError, TypeError, KeyError) as error:
        raise InvalidQuestion(f"a definition has not the expected shape: {type(error).__name__}: {error}") from error
    except RecursionError as error:
        raise InvalidQuestion(str(error)) from error
    return {
        "safe": not found,
        "checks": list(map(list, dict.fromkeys(map(_place, found)))),
        "messages": [message(new, found)] if found else [],
    }


def _place(problem: Problem) -> tuple[str, str, str]:
    return problem.version, problem.path, problem.finding.check
