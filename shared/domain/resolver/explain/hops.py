"""The upgrade path of one package from an installed version, update by update, as the resolver will choose it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.domain.resolver.explain.choices import Choice, choices, operator_of
from shared.domain.resolver.explain.findings import Finding
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.explain.later import later
from shared.domain.resolver.model import Inputs, Resolution
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.request import cache_of, memoized
from shared.domain.resolver.resolve import resolve

MAX_HOPS: Final = 200
"""The limit of a path: skip ranges can lead back to a version that was visited."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One update."""

    origin: str
    to: str
    channel: str
    why: str
    also: tuple[str, ...]
    """The dependencies that are installed or updated with it."""


@dataclass(frozen=True, slots=True)
class UpgradePath:
    """All updates, and why the path ends."""

    channel: str
    """The channel that is followed."""
    hops: tuple[Hop, ...]
    end: Choice | None
    """The decision for the last version, with the newer versions that are not reached and why."""
    findings: tuple[Finding, ...] = ()
    """The conflict at the end of the path, if there is one."""


def upgrade_path(inputs: Inputs) -> UpgradePath:
    """The upgrade path of the only Subscription of the inputs, which has an installed version. GaveUp."""
    inputs = memoized(inputs)
    hops: list[Hop] = []
    resolution = resolve(inputs)
    while len(hops) < MAX_HOPS and (step := _step(inputs, resolution)) is not None:
        hop, inputs = step
        hops.append(hop)
        resolution = resolve(inputs)
    end = next(iter(choices(inputs, resolution)), None)
    return UpgradePath(inputs.subscribers[0].channel, tuple(hops), end, explain(inputs, resolution))


def _step(inputs: Inputs, resolution: Resolution) -> tuple[Hop, Inputs] | None:
    [subscriber] = inputs.subscribers
    mine = next((one for one in resolution.chosen if one.subscribers), None)
    if mine is None:
        return None
    origin, also = subscriber.installed_csv, tuple(one.bundle.name for one in resolution.chosen if one is not mine)
    why = _why(operator_of(mine, cache_of(inputs)), origin)
    return Hop(origin, mine.bundle.name, mine.channel, why, also), later(inputs, resolution.chosen)


def _why(one: Operator, origin: str) -> str:
    if one.replaces == origin:
        return f"replaces {origin}"
    return (
        f"skips {origin}" if origin in one.skips else f"skips versions {one.skip_range.text if one.skip_range else ''}"
    )
