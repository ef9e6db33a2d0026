"""One thing that will hurt, with what it leads to and what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from shared.domain.command import Fix
from shared.kinds import Ref
from shared.ports import Cluster


@dataclass(frozen=True, slots=True)
class Finding:
    """A state of an object that will hurt."""

    ref: Ref
    """The object."""
    state: str
    """What is wrong with it, as a sentence without a full stop."""
    effect: str
    """What that leads to."""
    fix: Fix
    more_fixes: tuple[Fix, ...] = ()
    """What else helps."""
    reason: str = ""
    """The code or reason that a status states, for programs."""
    evidence: tuple[Ref, ...] = ()
    """Other objects that show it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A check that could not be made."""

    title: str
    message: str


Check: TypeAlias = Callable[[Cluster, datetime], Iterator[Finding | Unknown]]
"""Looks at one side of a cluster at an instant, and says what of it may not be looked at."""
