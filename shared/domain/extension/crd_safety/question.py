"""Two editions of a CustomResourceDefinition as JSON: what `olmf crd diff --batch` is asked and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.extension.crd_safety.judgement import Waiver, counted, judged
from shared.domain.extension.crd_safety.upgrade import Problem, message
from shared.domain.extension.render.decoding import check_object
from shared.domain.extension.render.goscalars import MisfitError
from shared.domain.extension.shape import InvalidQuestion, Shape, check

_OBJECT: Final[Shape] = {"metadata": {"name": str, "namespace": str}}
_QUESTION: Final[Shape] = {"old": dict, "new": dict, "objects": [_OBJECT], "waive": [str]}


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """`{"safe", "checks": [[version, path, check]…], "messages": […]}`. InvalidQuestion."""
    check(question, _QUESTION)
    old, new = question.get("old"), question.get("new")
    if old is None or new is None:
        raise InvalidQuestion('a question wants CustomResourceDefinitions for "old" and "new"')
    try:
        return _answered(old, new, question)
    except InvalidQuestion:
        raise
    except (ArithmeticError, AttributeError, TypeError, KeyError, ValueError) as error:
        found = [f"{name}: {why}" for name, one in (("old", old), ("new", new)) if (why := _misfit(one))]
        raise InvalidQuestion((found or [f"{type(error).__name__}: {error}"])[0]) from error
    except RecursionError as error:
        raise InvalidQuestion(str(error)) from error


def _answered(old: ReadOnly, new: ReadOnly, question: ReadOnly) -> dict[str, Any]:
    waivers = list(map(Waiver.parse, question.get("waive") or ()))
    problems = counted(judged(old, new, question.get("objects") or (), waivers))
    return {
        "safe": not problems,
        "checks": list(map(list, dict.fromkeys(map(_place, problems)))),
        "messages": [message(new, problems)] if problems else [],
    }


def _misfit(definition: Mapping[str, Any]) -> str:
    """Which field has the wrong type; looked for only when something has gone wrong, because most have none."""
    try:
        check_object(definition, "CustomResourceDefinition")
    except MisfitError as error:
        return str(error)
    return ""


def _place(problem: Problem) -> tuple[str, str, str]:
    return problem.version, problem.path, problem.finding.check
