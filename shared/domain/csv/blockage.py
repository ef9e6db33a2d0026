"""Names the version that keeps an upgrade from going on, why it does, and what ends that (csv.md §4.2-9).

OLM replaces a version only when it has succeeded, or has failed in a group that fails forward. Upgrades above any other
version wait, maybe for ever, so each says for which version, and how to get past it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from textwrap import shorten

from shared.api.views import FAIL_FORWARD, Csv
from shared.domain.command import Fix, kubectl
from shared.domain.csv import chain
from shared.domain.csv.lacking import lacking
from shared.domain.csv.retirement import may_fail_forward

_GIVES_WAY = ("Succeeded", "Replacing", "Deleting")
"""Phases in which a version lets the next one be installed."""
_WAITING = {"RequirementsNotMet", "NeedsReinstall", "InstallWaiting"}
"""Reasons for which a pending version may stay pending for ever; with `InstallWaiting` in a cycle only."""
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Blockage:
    """What stops a chain of upgrades."""

    root: str
    """The oldest version that does not let the next one be installed."""
    state: str
    """One sentence: where that version stands and why."""
    fixes: tuple[Fix, ...] = ()
    """What a person can do instead of waiting; each one alone helps."""

    @property
    def message(self) -> str:
        """The state and what helps in one sentence."""
        if not self.fixes:
            return self.state
        ways = ", or ".join((one.what if one.command is None else f"after `{one.command}`") for one in self.fixes)
        return f"{self.state}; the upgrade goes on when that changes, or {ways}"


def blockage(csv: Csv, namespace_csvs: Iterable[Csv]) -> Blockage | None:
    """What an upgrade waits for at the root of its chain; None when its predecessor lets it be installed."""
    present = tuple(namespace_csvs)
    if copies := [one for one in chain.ancestors(csv, present)[:1] if one.is_copy]:
        return Blockage(copies[0].name, _copy(csv, copies[0]))
    older = chain.ancestors(csv, [one for one in present if not one.is_copy])
    waiting = tuple(takewhile(lambda one: one.phase not in _GIVES_WAY, older))
    if not waiting:
        return None
    root, left = waiting[-1], older[len(waiting) :]
    why = shorten(lacking(root), _LONGEST, placeholder=" …")
    state = f"{root.name} is {root.phase or 'new'}" + (f" ({why})" if why else "")
    return Blockage(root.name, state, tuple(_fixes(root, left)))


def _copy(csv: Csv, replaced: Csv) -> str:
    """About a predecessor that another namespace installed: only there can it be replaced."""
    origin = replaced.origin
    return (
        f"{replaced.name} is a copy of what namespace {origin} installed, and is replaced only there; delete "
        f"{csv.name}, or leave namespace {csv.namespace} out of the OperatorGroup of {origin}"
    )


def _fixes(root: Csv, left: Iterable[Csv]) -> Iterator[Fix]:
    """What a person can do; nothing for a version that is on its way, or that its operator holds back."""
    if root.phase != "Failed" and (root.phase != "Pending" or root.reason not in _WAITING):
        return
    # Versions below the root would lose their successor with it, and keep what they own from the next one.
    if root.operator_group and may_fail_forward(root):
        yield Fix(f"with `upgradeStrategy: {FAIL_FORWARD}` in OperatorGroup {root.operator_group}")
    to_delete = [one.name for one in (root, *left)]
    yield Fix(f"delete {', '.join(to_delete)}", kubectl("delete", "csv", *to_delete, namespace=root.namespace))
