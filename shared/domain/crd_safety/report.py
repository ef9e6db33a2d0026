"""Findings for people, programs and code review: each with what it means and a way out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from shared.domain.crd_safety import removal
from shared.domain.crd_safety.judgement import Judged, counted
from shared.domain.crd_safety.stored import CHECK
from shared.domain.crd_safety.upgrade import FIELD, Problem


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition, and what was found."""

    name: str
    uri: str
    """Of the file that its new edition is in, or its old one when there is no new one."""
    found: Sequence[Judged]

    @property
    def is_safe(self) -> bool:
        """Whether nothing counts."""
        return not counted(self.found)


class Explanation(NamedTuple):
    """What a kind of finding means for people, and what an author can do instead."""

    meaning: str
    fix: str


_VERSION: Final = "add a new version that has the change, and a conversion between the two"
_EXPLANATIONS: Final[Mapping[str, Explanation]] = {
    "scope": Explanation("objects cannot move between scopes", "give the new kind another name"),
    "storedVersionRemoval": Explanation(
        "objects that are stored in this version can no longer be read",
        "migrate the stored objects first, then remove the version from status.storedVersions",
    ),
    "existingFieldRemoval": Explanation(
        "what objects say in this field will be dropped", f"keep the field and stop using it, or {_VERSION}"
    ),
    "required": Explanation("objects without the field will be refused", f"make the field optional, or {_VERSION}"),
    "type": Explanation("values of the old type will be refused", _VERSION),
    "default": Explanation(
        "objects that leave the field out will mean something else",
        f"leave the default as it is and let the operator fill in the new one, or {_VERSION}",
    ),
    "enum": Explanation(
        "objects with a value that is no longer listed will be refused",
        f"keep the values that were allowed, or {_VERSION}",
    ),
    "pattern": Explanation(
        "texts that fitted may be refused, or such that never fitted appear",
        "keep the pattern, and let the operator refuse what it cannot use",
    ),
    "nullable": Explanation(
        "a null will be refused, or appear where no client expects one", f"leave nullable as it is, or {_VERSION}"
    ),
    "oneOf": Explanation(
        "objects of an alternative that is gone will be refused, or of an unknown one appear",
        f"keep the alternatives that were there, or {_VERSION}",
    ),
    CHECK: Explanation(
        "this object could not be written any more",
        f"change the stored objects first, so that both editions take them, or {_VERSION}",
    ),
    removal.SERVED: Explanation(
        "clients and manifests that name this version will find nothing",
        "serve it, marked as deprecated, until nobody asks for it any more",
    ),
    removal.DEFINITION: Explanation(
        "OLM v1 deletes it once the new bundle is rolled out, and Kubernetes every object of it; OLM classic leaves it",
        "keep the definition until no object of it is needed any more",
    ),
    "unhandled": Explanation(
        "nobody has shown this change to be safe", f"{_VERSION}, or waive it when you know that it is safe"
    ),
}
_LIMIT: Final = Explanation("objects beyond the new limit will be refused", f"keep the old limit, or {_VERSION}")


def explanation(check: str) -> Explanation:
    """About a kind of finding."""
    return _EXPLANATIONS.get(check, _LIMIT)


def explained(checks: Iterable[str]) -> list[str]:
    """A line for each kind of finding."""
    return [f"  {check}: {explanation(check).meaning}; {explanation(check).fix}" for check in dict.fromkeys(checks)]


def as_text(definitions: Iterable[Definition]) -> str:
    """A paragraph for each definition: a line for each finding, then what they mean."""
    return "".join(f"{line}\n" for one in definitions for line in _paragraph(one))


def _paragraph(definition: Definition) -> Iterator[str]:
    problems = counted(definition.found)
    yield f"{definition.name}: {'safe' if definition.is_safe else 'unsafe'}"
    yield from (f"  {_plain(problem)}" for problem in _causes(problems))
    yield from (f"  does not count: {_plain(problem)}" for problem, counts in definition.found if not counts)
    if problems:
        yield "  What it means:"
        yield from (f"  {line}" for line in explained(problem.finding.check for problem in _causes(problems)))


def _causes(problems: Sequence[Problem]) -> list[Problem]:
    """Without what only says that a removed field has no schema any more, which the reference tells, too."""
    removed = {one.place for one in problems if one.finding.check == FIELD}
    return [one for one in problems if one.finding.check == FIELD or one.place not in removed]


def _plain(problem: Problem) -> str:
    """Place, check and sentence; in the form in which a waiver names it."""
    place = [part for part in problem.place if part]
    words = problem.finding.message.removesuffix(f" : {'.'.join(place)}")
    return ": ".join((*place, problem.finding.check, words))


def as_values(definitions: Iterable[Definition]) -> list[dict[str, Any]]:
    """The definitions with their findings, as JSON and YAML have them."""
    return [{"name": one.name, "safe": one.is_safe, "findings": list(map(shown, one.found))} for one in definitions]


def shown(judged: Judged) -> dict[str, Any]:
    """A finding as a value of JSON."""
    problem = judged.problem
    version, path = problem.place
    return {
        "version": version,
        "path": path,
        "check": problem.finding.check,
        "message": problem.finding.message,
        "old": problem.finding.old,
        "new": problem.finding.new,
        "meaning": explanation(problem.finding.check).meaning,
        "fix": explanation(problem.finding.check).fix,
        "counts": judged.counts,
    }


def as_sarif(definitions: Iterable[Definition]) -> str:
    """SARIF 2.1.0, as code review reads it; what does not count is suppressed there."""
    listed = list(definitions)
    checks = sorted({judged.problem.finding.check for one in listed for judged in one.found})
    rules = [
        {
            "id": check,
            "shortDescription": {"text": explanation(check).meaning},
            "help": {"text": explanation(check).fix},
        }
        for check in checks
    ]
    driver = {"name": "olmf crd diff", "rules": rules}
    results = [_result(one, judged) for one in listed for judged in one.found]
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def _result(definition: Definition, judged: Judged) -> dict[str, Any]:
    version, path = judged.problem.place
    place = {
        "physicalLocation": {"artifactLocation": {"uri": definition.uri}, "region": {"startLine": 1}},
        "logicalLocations": [{"fullyQualifiedName": " ".join(filter(None, (definition.name, version, path)))}],
    }
    result = {
        "ruleId": judged.problem.finding.check,
        "level": "error",
        "message": {"text": f"{definition.name}: {_plain(judged.problem)}"},
        "locations": [place],
    }
    return result if judged.counts else {**result, "suppressions": [{"kind": "external"}]}
