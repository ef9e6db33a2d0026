"""Two editions of a CustomResourceDefinition as JSON: requests and responses of `olmf crd diff --batch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.domain.crd_safety import removal
from shared.domain.crd_safety.judgement import Waiver, counted, judged
from shared.domain.crd_safety.report import shown
from shared.domain.crd_safety.upgrade import Problem, message
from shared.domain.shape import InvalidRequest, Shape, check

_OBJECT: Final[Shape] = {"metadata": {"name": str, "namespace": str}}
_REQUEST: Final[Shape] = {"old": dict, "new": dict, "objects": [_OBJECT], "waive": [str]}


def response_to(request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"safe", "checks": [[version, path, check]…], "messages": […], "findings": […]}`. InvalidRequest.

    The first three are the verdict of the reference; findings are all there are, with those that only we have.
    """
    check(request, _REQUEST)
    old, new = request.get("old"), request.get("new")
    if old is None or new is None:
        raise InvalidRequest('a request needs a CustomResourceDefinition in "old" and one in "new"')
    waivers = list(map(Waiver.parse, request.get("waive") or ()))
    found = judged(old, new, request.get("objects") or (), waivers)
    problems = [one for one in counted(found) if one.finding.check not in removal.CHECKS]
    return {
        "safe": not problems,
        "checks": list(map(list, dict.fromkeys(map(_place, problems)))),
        "messages": [message(new, problems)] if problems else [],
        "findings": list(map(shown, found)),
    }


def _place(problem: Problem) -> tuple[str, str, str]:
    """Version, path and check; a removed field has its own place, though the reference tells it of the whole."""
    version, path = problem.place
    return (version, path, problem.finding.check) if path else (problem.version, "", problem.finding.check)
