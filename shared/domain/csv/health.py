"""Checks that the Deployments of a ClusterServiceVersion are as wanted and available (csv.md §6.4, §6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ABSENT, Csv, Deployment
from shared.domain.csv.deployments import hash_label


@dataclass(frozen=True, slots=True)
class Problem:
    """The first problem of the Deployments.

    `stuck`: the progress deadline passed; `outdated`: the Deployment differs from the wanted one; `rolling`: it
    replaces its pods and stays available meanwhile; `unserved`: the API server does not call it yet; `unconverted`:
    nor does it convert objects, because somebody has ended that.
    """

    kind: Literal["missing", "stuck", "waiting", "outdated", "rolling", "unserved", "unconverted"]
    message: str
    is_refused: bool = False
    """The API server takes none of its Pods, perhaps for a webhook of the version itself."""
    missing: str = ""
    """The name of a Deployment that is not there, or has not the labels of the version."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """The rollout state of one Deployment."""

    is_ready: bool
    message: str
    is_overdue: bool = False
    """The progress deadline passed: waiting does not help."""


def rollout(deployment: Deployment) -> Rollout:
    """The rollout state of a Deployment: whether its pods run as its spec says."""
    name, available = deployment.name, deployment.condition("Available")
    if deployment.generation > deployment.observed_generation:
        return Rollout(False, f'waiting for spec update of deployment "{name}" to be observed...')
    if deployment.condition("Progressing").reason == "ProgressDeadlineExceeded":
        return Rollout(False, f'deployment "{name}" exceeded its progress deadline', is_overdue=True)
    outdated = deployment.replicas - deployment.updated_replicas
    if outdated > 0:
        what = f'deployment "{name}" waiting for {outdated} outdated replica(s) to be terminated'
        return Rollout(False, _with_refusal(what, deployment))
    if available == ABSENT:
        return Rollout(False, f'deployment "{name}" not available: missing condition "Available"')
    if not available.is_true:
        return Rollout(False, _with_refusal(f'deployment "{name}" not available: {available.message}', deployment))
    return Rollout(True, f'deployment "{name}" is up-to-date and available')


def _with_refusal(what: str, deployment: Deployment) -> str:
    """Beside what OLM says, why the API server takes no Pod: by a quota, or a webhook that does not answer."""
    refused = deployment.condition("ReplicaFailure")
    if not refused.is_true or refused.message in what:
        return what
    return f"{what} (its pods are refused: {refused.message})"


def first_problem(csv: Csv, desired: Sequence[Manifest], labelled: Iterable[Deployment]) -> Problem | None:
    """The first problem in the order of the strategy, or None.

    `labelled` are the Deployments with the owner labels of this version: one without them counts as missing.
    """
    present = {one.name: one for one in labelled}
    problems = (
        _problem(csv, item, present[item.name]) if item.name in present else _missing(item.name)
        for item in Deployment.each(desired)
    )
    return next((problem for problem in problems if problem), None)


def _missing(name: str) -> Problem:
    return Problem("missing", f"missing deployment with name={name}", missing=name)


def with_owner(problem: Problem, found: Deployment | None) -> Problem:
    """The problem of a missing Deployment, with the version whose Deployment has that name."""
    holder = found.labels.get(names.OWNER) if found else None
    if not holder:
        return problem
    why = f"{holder} installs one of that name, too, so each takes it from the other; uninstall one of them"
    return replace(problem, message=f"{problem.message}: {why}")


def _problem(csv: Csv, desired: Deployment, live: Deployment) -> Problem | None:
    name = desired.name
    # Checked first, so that an edit of the version also replaces a Deployment that exceeded its deadline.
    if message := _difference(csv, desired, live):
        return Problem("outdated", message)
    progress = rollout(live)
    if progress.is_overdue:
        return Problem("stuck", f"deployment {name} not ready before timeout: {progress.message}")
    if not progress.is_ready:
        return Problem(
            "rolling" if live.condition("Available").is_true else "waiting",
            f"waiting for deployment {name} to become ready: {progress.message}",
            is_refused=live.condition("ReplicaFailure").is_true,
        )
    return None


def _difference(csv: Csv, desired: Deployment, live: Deployment) -> str:
    found = live.template.annotations
    expected = csv.annotations
    if expected and not found:
        return "no annotations found on deployment"
    for key, value in sorted(expected.items()):
        if key not in found:
            return f"annotations on deployment does not contain expected key: {key}"
        if found[key] != value:
            return f"unexpected annotation on deployment. Expected {key}:{value}, found {key}:{found[key]}"
    old, new = hash_label(live), hash_label(desired)
    if not old:
        return f"deployment {desired.name} doesn't have a spec hash, update it"
    return "" if old == new else f"deployment changed old hash={old}, new hash={new}"
