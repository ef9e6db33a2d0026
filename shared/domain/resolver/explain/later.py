"""The inputs of a namespace once what was chosen is installed: what the resolver chooses from after that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from shared.domain.resolver.model import Chosen, Inputs
from shared.domain.resolver.operators import bundle_as_installed

_DEPENDENCY: Final = "~"
"""The owner of installed dependencies, so that they count as claimed and may be updated."""


def later(inputs: Inputs, chosen: Sequence[Chosen]) -> Inputs:
    """The same namespace with these versions in place of those that they replace."""
    gets = {name: one.bundle.name for one in chosen for name in one.subscribers}
    former = {one.installed_csv for one in inputs.subscribers if one.name in gets}
    gone = former.union(*({one.replaces, one.bundle.name} for one in chosen))
    kept = (one for one in inputs.installed if one.name not in gone)
    new = (bundle_as_installed(one.bundle, one.package, next(iter(one.subscribers), _DEPENDENCY)) for one in chosen)
    moved = (
        replace(one, installed_csv=gets[one.name], waits="", planned_csv="") if one.name in gets else one
        for one in inputs.subscribers
    )
    return replace(inputs, subscribers=tuple(moved), installed=(*kept, *new))
