"""Raises what the name of its object asks for."""

from __future__ import annotations

from datetime import timedelta

from shared.api.manifest import resource_version_of
from shared.errors import RetryLater, Terminal
from shared.ports import Clock, Cluster
from shared.step import Outcome, Ref, SetStatus, Wait


def raise_error(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    writes = (SetStatus(ref, {"state": ref.name}, resource_version_of(cluster.get(ref) or {})),)
    match ref.name:
        case "retry":
            wait = Wait("a catalog", clock.now())
            raise RetryLater("no catalog yet", timedelta(seconds=7), writes=writes, wait=wait)
        case "terminal":
            raise Terminal("InvalidRange", "'>=x' is no range", writes=writes)
    raise KeyError(ref.name)
