"""Names the version that keeps an upgrade from going on, why it does, and what ends that (csv.md §4.2-9).

OLM replaces a version only when it has succeeded, or has failed in a group that fails forward. Upgrades above any other
version wait, maybe for ever, so each says for which version, and how to get past it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from textwrap import shorten

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.csv import chain
from shared.domain.csv.lacking import lacking
from shared.domain.csv.retirement import may_fail_forward
from shared.domain.objects.csv import is_copied, phase_of, reason_of
from shared.domain.operator_groups.upgrade_strategy import FAIL_FORWARD
from shared.domain.resolver.copies import home_of

_GIVES_WAY = ("Succeeded", "Replacing", "Deleting")
"""Phases in which a version lets the next one be installed."""
_HELD = {"RequirementsNotMet", "NeedsReinstall", "InstallWaiting"}
"""Reasons for which a pending version may stay pending for ever; with `InstallWaiting` in a cycle only."""
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Blockage:
    """What stops a chain of upgrades."""

    root: str
    """The oldest version that does not let the next one be installed."""
    says: str
    """One sentence: where that version stands and why, and what helps."""


def blockage(csv: ReadOnly, neighbours: Iterable[ReadOnly]) -> Blockage | None:
    """What an upgrade waits for at the root of its chain; None when its predecessor lets it be installed."""
    present = tuple(neighbours)
    if copies := [one for one in chain.ancestors(csv, present)[:1] if is_copied(one)]:
        return Blockage(name_of(copies[0]), _copy(csv, copies[0]))
    older = chain.ancestors(csv, [one for one in present if not is_copied(one)])
    waiting = tuple(takewhile(lambda one: phase_of(one) not in _GIVES_WAY, older))
    if not waiting:
        return None
    root, left = waiting[-1], older[len(waiting) :]
    why = shorten(lacking(root.get("status") or {}), _LONGEST, placeholder=" …")
    stands = f"{name_of(root)} is {phase_of(root) or 'new'}" + (f" ({why})" if why else "")
    ways = _ways(root, left)
    return Blockage(name_of(root), f"{stands}; the upgrade goes on when that changes{ways}" if ways else stands)


def _copy(csv: ReadOnly, replaced: ReadOnly) -> str:
    """About a predecessor that another namespace installed: only there can it be replaced."""
    home = home_of(replaced)
    return (
        f"{name_of(replaced)} is a copy of what namespace {home} installed, and is replaced only there; delete "
        f"{name_of(csv)}, or leave namespace {namespace_of(csv)} out of the OperatorGroup of {home}"
    )


def _ways(root: ReadOnly, left: Iterable[ReadOnly]) -> str:
    """What a person can do; empty for a version that is on its way, or that its operator holds back."""
    if phase_of(root) != "Failed" and (phase_of(root) != "Pending" or reason_of(root) not in _HELD):
        return ""
    # Versions below the root would lose their successor with it, and keep what they own from the next one.
    doomed = " ".join(map(name_of, (root, *left)))
    deletion = f", or after `kubectl -n {namespace_of(root)} delete csv {doomed}`"
    group = annotations_of(root).get(names.OPERATOR_GROUP)
    if group and may_fail_forward(root):
        return f", or with `upgradeStrategy: {FAIL_FORWARD}` in OperatorGroup {group}{deletion}"
    return deletion
