"""What `olmf extension plan` has found out, as text and as a value of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eventing.cli.output import manifests_as
from shared.api.manifest import name_of
from shared.domain.extension.scopes import scope_of

if TYPE_CHECKING:
    from shared.domain.extension.outlook import Change


@dataclass(frozen=True, slots=True)
class Report:
    """What would happen."""

    reasons: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    permissions: tuple[Mapping[str, Any], ...] = ()
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """What would not stop it, but should be known."""


def as_text(report: Report) -> str:
    """Paragraphs; the verdict is the last, because it is what a terminal still shows."""
    lines = [*report.reasons, ""]
    if report.changes:
        lines += ["Objects:", *(line for one in report.changes for line in _lines(one)), ""]
    if report.permissions:
        lines += ["Permissions needed:", manifests_as(list(report.permissions), "yaml")]
    if report.remarks:
        lines += ["To be known:", *_indented(report.remarks), ""]
    lines += ["Blocked:", *_indented(report.blockers)] if report.blockers else [_outcome(report.changes)]
    return "\n".join(lines) + "\n"


def as_markdown(report: Report) -> str:
    """The same for a pull request; the verdict is the first."""
    heading = "Blocked" if report.blockers else _outcome(report.changes)
    lines = [f"### {heading}", "", *(f"- {one}" for one in (*report.blockers, *report.reasons) if one), ""]
    if report.changes:
        lines += ["| effect | object | fields |", "|---|---|---|"]
        for one in report.changes:
            row = _change(one)
            lines.append(f"| {row['effect']} | `{row['object']}` | {', '.join(map(_code, one.differs))} |")
    return "\n".join([*lines, "", *(f"- {one}" for one in report.remarks)]) + "\n"


def _code(text: str) -> str:
    return f"`{text}`"


def _lines(change: Change) -> list[str]:
    row = _change(change)
    return [f"  {row['effect']:6} {row['object']}", *(f"           {path}" for path in change.differs)]


def _indented(row: Sequence[str]) -> list[str]:
    return [f"  {line}" for one in row for line in one.splitlines()]


def _outcome(changes: Sequence[Change]) -> str:
    """How many objects something would happen to."""
    if not changes:
        return "Nothing would be done."
    counts = Counter(str(change.effect) for change in changes)
    row = ", ".join(f"{effect} {number}" for effect, number in counts.items())
    return f"Would be done: {len(changes)} object{'' if len(changes) == 1 else 's'} ({row})."


def as_value(report: Report) -> dict[str, Any]:
    """The same as JSON."""
    changed = [{**_change(one), "differs": one.differs, "manifest": dict(one.manifest)} for one in report.changes]
    found: dict[str, Any] = json.loads(json.dumps({
        "wouldDo": not report.blockers,
        "blockers": report.blockers,
        "remarks": report.remarks,
        "reasons": [line for line in report.reasons if line],
        "objects": changed,
        "permissions": report.permissions,
    }))  # fmt: skip
    return found


def _change(change: Change) -> dict[str, Any]:
    manifest = change.manifest
    namespace = scope_of(manifest)
    where = f"{namespace}/" if namespace else ""
    return {"effect": str(change.effect), "object": f"{manifest.get('kind')} {where}{name_of(manifest)}"}
