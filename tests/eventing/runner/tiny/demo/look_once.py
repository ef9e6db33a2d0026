"""Reads an object and the time, and decides nothing."""

from __future__ import annotations

from shared.ports import Clock, Cluster
from shared.step import NOTHING, Outcome, Ref


def look_once(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    cluster.get(ref)
    clock.now()
    return NOTHING
