"""Checks that the Deployments of a ClusterServiceVersion are as wanted and available (csv.md §6.4, §6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata, name_of
from shared.domain.csv.deployments import hash_label


@dataclass(frozen=True, slots=True)
class Problem:
    """The first problem of the Deployments.

    `stuck`: the progress deadline passed; `outdated`: the Deployment differs from the wanted one; `rolling`: it
    replaces its pods and stays available meanwhile.
    """

    kind: Literal["missing", "stuck", "waiting", "outdated", "rolling"]
    message: str


@dataclass(frozen=True, slots=True)
class Rollout:
    """The rollout state of one Deployment."""

    is_ready: bool
    message: str
    is_overdue: bool = False
    """The progress deadline passed: waiting does not help."""


def rollout(deployment: ReadOnly) -> Rollout:
    """The rollout state of a Deployment: whether its pods run as its spec says."""
    name, status = name_of(deployment), deployment.get("status") or {}
    conditions = {str(item.get("type")): item for item in status.get("conditions") or ()}
    if (metadata(deployment).get("generation") or 0) > (status.get("observedGeneration") or 0):
        return Rollout(False, f'waiting for spec update of deployment "{name}" to be observed...')
    if conditions.get("Progressing", {}).get("reason") == "ProgressDeadlineExceeded":
        return Rollout(False, f'deployment "{name}" exceeded its progress deadline', is_overdue=True)
    outdated = (status.get("replicas") or 0) - (status.get("updatedReplicas") or 0)
    if outdated > 0:
        return Rollout(False, f'deployment "{name}" waiting for {outdated} outdated replica(s) to be terminated')
    available = conditions.get("Available")
    if available is None:
        return Rollout(False, f'deployment "{name}" not available: missing condition "Available"')
    if available.get("status") != "True":
        return Rollout(False, f'deployment "{name}" not available: {available.get("message") or ""}')
    return Rollout(True, f'deployment "{name}" is up-to-date and available')


def first_problem(
    csv: ReadOnly, desired: Sequence[Manifest], labelled: Iterable[Manifest], find: Callable[[str], ReadOnly | None]
) -> Problem | None:
    """The first problem in the order of the strategy, or None.

    `labelled` are the Deployments with the owner labels of this version; `find` reads any Deployment, by name.
    """
    present = {name_of(item): item for item in labelled}
    problems = (
        _problem(csv, item, present[name_of(item)]) if name_of(item) in present else _missing(name_of(item), find)
        for item in desired
    )
    return next((problem for problem in problems if problem), None)


def _missing(name: str, find: Callable[[str], ReadOnly | None]) -> Problem:
    """A Deployment without our labels counts as missing; another version may have taken it."""
    message, holder = f"missing deployment with name={name}", labels_of(find(name) or {}).get(names.OWNER)
    if holder:
        message += f": {holder} installs one of that name, too, so each takes it from the other; uninstall one of them"
    return Problem("missing", message)


def _problem(csv: ReadOnly, wanted: ReadOnly, live: ReadOnly) -> Problem | None:
    name = name_of(wanted)
    # Checked first, so that an edit of the version also replaces a Deployment that exceeded its deadline.
    if message := _difference(csv, wanted, live):
        return Problem("outdated", message)
    progress = rollout(live)
    if progress.is_overdue:
        return Problem("stuck", f"deployment {name} not ready before timeout: {progress.message}")
    if not progress.is_ready:
        return Problem(
            "rolling" if _is_available(live) else "waiting",
            f"waiting for deployment {name} to become ready: {progress.message}",
        )
    return None


def _is_available(deployment: ReadOnly) -> bool:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Available" and item.get("status") == "True" for item in conditions)


def _difference(csv: ReadOnly, wanted: ReadOnly, live: ReadOnly) -> str:
    found = annotations_of((live.get("spec") or {}).get("template") or {})
    expected = annotations_of(csv)
    if expected and not found:
        return "no annotations found on deployment"
    for key, value in sorted(expected.items()):
        if key not in found:
            return f"annotations on deployment does not contain expected key: {key}"
        if found[key] != value:
            return f"unexpected annotation on deployment. Expected {key}:{value}, found {key}:{found[key]}"
    old, new = hash_label(live), hash_label(wanted)
    if not old:
        return f"deployment {name_of(wanted)} doesn't have a spec hash, update it"
    return "" if old == new else f"deployment changed old hash={old}, new hash={new}"
