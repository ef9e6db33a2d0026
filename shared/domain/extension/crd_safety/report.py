"""Findings for people, programs and code review: each with what it means and a way out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from shared.domain.extension.crd_safety.upgrade import Problem, message

Found: TypeAlias = Mapping[str, Sequence[Problem]]
"""Definition to its problems."""

_VERSION: Final = "add a new version that has the change, and a conversion between the two"
WAYS_OUT: Final[Mapping[str, str]] = {
    "scope": "give the new kind another name: objects cannot move between scopes",
    "storedVersionRemoval": "migrate the stored objects first, then remove the version from status.storedVersions",
    "existingFieldRemoval": "keep the field and stop using it, or " + _VERSION,
    "required": "make the field optional, or " + _VERSION,
    "type": _VERSION,
    "default": "leave the default as it is and let the operator fill in the new one, or " + _VERSION,
    "enum": "keep the values that were allowed, or " + _VERSION,
    "pattern": "keep the pattern, and let the operator refuse what it cannot use",
    "nullable": "leave nullable as it is, or " + _VERSION,
    "oneOf": "keep the alternatives that were there, or " + _VERSION,
    "unhandled": "nobody has shown this change to be safe: " + _VERSION + ", or waive it when you know that it is",
}
_LIMITS: Final = "keep the old limit, or " + _VERSION


def way_out(check: str) -> str:
    """What an author can do instead."""
    return WAYS_OUT.get(check, _LIMITS)


def as_text(found: Found) -> str:
    """The reference's lines, each definition followed by its ways out."""
    lines = []
    for name, problems in found.items():
        lines.append(message({"metadata": {"name": name}}, problems) or f"{name}: safe")
        checks = dict.fromkeys(problem.finding.check for problem in problems)
        lines += [f"  {check}: {way_out(check)}" for check in checks]
    return "\n".join(lines) + "\n"


def as_json(found: Found) -> str:
    """A list of definitions with their findings."""
    return json.dumps([_definition(name, problems) for name, problems in found.items()], indent=2) + "\n"


def _definition(name: str, problems: Sequence[Problem]) -> dict[str, Any]:
    findings = [
        {
            "version": one.version,
            "path": one.path,
            "check": one.finding.check,
            "message": one.finding.message,
            "old": one.finding.old,
            "new": one.finding.new,
            "wayOut": way_out(one.finding.check),
        }
        for one in problems
    ]
    return {"name": name, "safe": not problems, "findings": findings}


def as_sarif(found: Found) -> str:
    """SARIF 2.1.0, as code review reads it."""
    checks = sorted({one.finding.check for problems in found.values() for one in problems})
    run = {
        "tool": {
            "driver": {
                "name": "olmf crd diff",
                "rules": [{"id": check, "help": {"text": way_out(check)}} for check in checks],
            }
        },
        "results": [
            {
                "ruleId": one.finding.check,
                "level": "error",
                "message": {"text": f"{name}: {one.line}"},
                "locations": [
                    {"logicalLocations": [{"fullyQualifiedName": f"{name} {one.version} {one.path}".strip()}]}
                ],
            }
            for name, problems in found.items()
            for one in problems
        ],
    }
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2) + "\n"
