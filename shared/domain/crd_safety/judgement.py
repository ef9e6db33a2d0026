"""The verdict about a new edition of a definition: every finding, and whether it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from shared.api.manifest import ReadOnly
from shared.api.views import CustomResourceDefinition
from shared.domain.crd_safety import removal, stored
from shared.domain.crd_safety.checks import CHECKS
from shared.domain.crd_safety.upgrade import WHOLE, Problem, problems
from shared.domain.go_types.dialects import JSON
from shared.domain.go_types.engine import MisfitError
from shared.domain.shape import InvalidRequest

KNOWN: Final = frozenset({*WHOLE, *CHECKS, "oneOf", "unhandled", stored.CHECK, *removal.CHECKS})
"""The names of all checks."""


class Judged(NamedTuple):
    """A finding; what does not count is told all the same."""

    problem: Problem
    counts: bool


@dataclass(frozen=True, slots=True)
class Waiver:
    """A check that shall not count: everywhere, or in a version, or at a path."""

    check: str
    version: str = ""
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Waiver:
        """As findings are told: `enum`, `v1: enum`, `^.spec.size: enum`, `v1 -> v2: ^.spec.size: enum`."""
        *places, check = text.split(": ")
        if check not in KNOWN:
            raise InvalidRequest(f"waiver {text!r}: there is no check {check!r}; there are {', '.join(sorted(KNOWN))}")
        path = places.pop() if places and places[-1].startswith("^") else ""
        if len(places) > 1:
            raise InvalidRequest(f"waiver {text!r}: wanted VERSION: PATH: CHECK, the first two as needed")
        return cls(check, "".join(places), path)

    def covers(self, problem: Problem) -> bool:
        """Whether a finding is one of those."""
        version, path = problem.place
        is_here = self.version in ("", version) and self.path in ("", path)
        return is_here and self.check == problem.finding.check


def judged(
    old: ReadOnly, new: ReadOnly | None, objects: Sequence[ReadOnly] = (), waivers: Sequence[Waiver] = ()
) -> tuple[Judged, ...]:
    """All findings; without a new edition, that there is none. InvalidRequest.

    Objects count unless a webhook converts them, as in OLM.
    """
    try:
        return tuple(_judged(old, new, objects, waivers))
    except (ArithmeticError, AttributeError, TypeError, KeyError, ValueError) as error:
        found = [f"{name}: {why}" for name, one in (("old", old), ("new", new or {})) if (why := _misfit(one))]
        raise InvalidRequest((found or [f"{type(error).__name__}: {error}"])[0]) from error
    except RecursionError as error:
        raise InvalidRequest(str(error)) from error


def _judged(
    old: ReadOnly, new: ReadOnly | None, objects: Sequence[ReadOnly], waivers: Sequence[Waiver]
) -> Iterator[Judged]:
    if new is None:
        gone = removal.lost_definition(old, objects)
        yield Judged(gone, not is_waived(gone, waivers))
        return
    found = (*problems(old, new), *removal.lost_apis(old, new, objects))
    yield from (Judged(one, not is_waived(one, waivers)) for one in found)
    is_converted = CustomResourceDefinition(new).converts_by_webhook
    for misfit in stored.stored_misfits(old, new, objects):
        yield from (Judged(one, not is_converted and not is_waived(one, waivers)) for one in misfit.problems)


def _misfit(definition: ReadOnly) -> str:
    """Which field has the wrong type; looked for only when something has gone wrong, because most have none."""
    try:
        JSON.read(definition, "CustomResourceDefinition")
    except MisfitError as error:
        return str(error)
    return ""


def counted(found: Iterable[Judged]) -> list[Problem]:
    """The findings that count."""
    return [one.problem for one in found if one.counts]


def is_waived(problem: Problem, waivers: Sequence[Waiver]) -> bool:
    """Whether a finding shall not count."""
    return any(waiver.covers(problem) for waiver in waivers)
