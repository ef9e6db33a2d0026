"""What `olmf extension plan` has found out, as text and as a value of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from eventing.cli.output import manifests_as
from shared.api.manifest import name_of, without_content
from shared.domain.extension.scopes import scope_of
from shared.kinds import SECRET

if TYPE_CHECKING:
    from shared.domain.extension.outlook import Change, Difference


_LONGEST = 80
"""Characters of a value that is shown in a line."""
_KEPT = 20
"""Of them, those before what differs."""


class Needed(NamedTuple):
    """What an account lacks."""

    grants: tuple[Mapping[str, Any], ...] = ()
    """The roles and bindings that would give it to the account."""
    versions: tuple[str, ...] = ()
    """What they are for: the next versions, and those that come after them."""
    unread: str = ""
    """Why they may not be all."""


@dataclass(frozen=True, slots=True)
class Report:
    """What would happen."""

    reasons: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    permissions: tuple[Mapping[str, Any], ...] = ()
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """What would not stop it, but should be known."""
    unknown: tuple[str, ...] = ()
    """What could not be found out, and may stop it."""
    under_way: tuple[str, ...] = ()
    """What was begun before and does not work yet."""
    needed: Needed = field(default_factory=Needed)
    """What an account would have to be granted."""


def as_text(report: Report) -> str:
    """Paragraphs; the verdict is the last, because it is what a terminal still shows."""
    lines = [*report.reasons, ""] if report.reasons else []
    if report.changes:
        lines += ["Objects:", *(line for one in report.changes for line in _lines(one)), ""]
    if report.permissions:
        lines += ["Permissions needed:", manifests_as(list(report.permissions), "yaml")]
    if report.under_way:
        lines += ["Under way already:", *_indented(report.under_way), ""]
    if report.remarks:
        lines += ["To be known:", *_indented(report.remarks), ""]
    if report.unknown:
        lines += ["Not known:", *_indented(report.unknown), ""]
    lines += ["Blocked:", *_indented(report.blockers)] if report.blockers else [_outcome(report)]
    return "\n".join(lines) + "\n"


def as_markdown(report: Report) -> str:
    """The same for a pull request; the verdict is the first."""
    heading = "Blocked" if report.blockers else _outcome(report)
    unknown = [f"not known: {one}" for one in report.unknown]
    under_way = [f"under way already: {one}" for one in report.under_way]
    lines = [
        f"### {heading}",
        "",
        *(f"- {one}" for one in (*report.blockers, *unknown, *under_way, *report.reasons) if one),
        "",
    ]
    if report.changes:
        lines += ["| effect | object | fields |", "|---|---|---|"]
        for one in report.changes:
            row = _change(one)
            lines.append(f"| {row['effect']} | `{row['object']}` | {', '.join(map(_cell, _shown(one)))} |")
    return "\n".join([*lines, "", *(f"- {one}" for one in report.remarks)]) + "\n"


def _cell(text: str) -> str:
    """A text in a cell of a table, as code."""
    escaped = text.replace("`", "'").replace("|", "\\|")
    return f"`{escaped}`"


def _shown(change: Change) -> list[str]:
    """The fields that differ, each with its values; of a Secret only which."""
    is_secret = change.manifest.get("kind") == SECRET.kind
    return [one.path if is_secret else f"{one.path}: {_both(one)}" for one in change.differs]


def _both(difference: Difference) -> str:
    """Both values in a line; long ones from a little before where they begin to differ."""
    before, after = map(_line, (difference.before, difference.after))
    alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))])
    start = alike - _KEPT if alike > _LONGEST // 2 and max(len(before), len(after)) > _LONGEST else 0
    return f"{_cut(before, start)} -> {_cut(after, start)}"


def _line(value: object) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return " ".join(text.split())


def _cut(line: str, start: int) -> str:
    text = f"…{line[start:]}" if start else line
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _lines(change: Change) -> list[str]:
    row = _change(change)
    return [f"  {row['effect']:6} {row['object']}", *(f"           {line}" for line in _shown(change))]


def _indented(row: Sequence[str]) -> list[str]:
    return [f"  {line}" for one in row for line in one.splitlines()]


def _outcome(report: Report) -> str:
    """How many objects something would happen to."""
    changes = report.changes
    if not changes:
        return "Nothing more would be done." if report.under_way else "Nothing would be done."
    counts = Counter(str(change.effect) for change in changes)
    row = ", ".join(f"{effect} {number}" for effect, number in counts.items())
    return f"Would be done: {len(changes)} object{'' if len(changes) == 1 else 's'} ({row})."


def as_value(report: Report) -> dict[str, Any]:
    """The same as JSON; of Secrets without what they hold."""
    changed = [{**_change(one), **_fields(one), "manifest": without_content(one.manifest)} for one in report.changes]
    found: dict[str, Any] = json.loads(json.dumps({
        "wouldDo": not report.blockers,
        "blockers": report.blockers,
        "remarks": report.remarks,
        "unknown": report.unknown,
        "underWay": report.under_way,
        "grants": report.needed.grants,
        "grantsFor": report.needed.versions if report.needed.grants else (),
        "reasons": [line for line in report.reasons if line],
        "objects": changed,
        "permissions": report.permissions,
    }))  # fmt: skip
    return found


def _fields(change: Change) -> dict[str, Any]:
    """What differs: the paths, and each with both values unless these are secret."""
    values = () if change.manifest.get("kind") == SECRET.kind else change.differs
    return {"differs": change.paths, "fields": [one._asdict() for one in values]}


def _change(change: Change) -> dict[str, Any]:
    manifest = change.manifest
    namespace = scope_of(manifest)
    where = f"{namespace}/" if namespace else ""
    return {"effect": str(change.effect), "object": f"{manifest.get('kind')} {where}{name_of(manifest)}"}
