"""From Installing to Succeeded, and the phases of an unhealthy operator (csv.md §4.4–4.6, §4.9)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from shared.api.views import Csv
from shared.domain.csv.health import Problem
from shared.domain.csv.phases import CALM, Phase, Status, pause_left
from shared.domain.csv.preparation import HEALTH_REASONS
from shared.domain.csv.requirements import are_checked
from shared.domain.csv.transition import Transition

_UNWELL: Final[dict[str, tuple[Phase, str]]] = {
    "Installing": ("Installing", "InstallWaiting"),
    "Succeeded": ("Failed", "ComponentUnhealthy"),
    "Failed": ("Pending", "NeedsReinstall"),
}
"""The phase and reason after a Deployment was found missing or not ready, by the phase before."""
_WHOLE: Final = ("unserved", "unconverted")
"""Problems whose message says all."""


def is_observed(status: Status) -> bool:
    """Whether the Deployments decide this phase; for Failed only if they caused the failure."""
    return status.phase in ("Installing", "Succeeded") or (status.phase == "Failed" and status.reason in HEALTH_REASONS)


def unchecked_requirements(csv: Csv, status: Status) -> Transition | None:
    """Pending, when the spec was edited and has requirements that were not checked; else None."""
    if status.phase != "Succeeded" or are_checked(csv):
        return None
    message = "requirements not yet checked"
    return Transition(status.to("Pending", "RequirementsUnknown", message), "the spec requires more than was checked")


def is_outdated(status: Status, problem: Problem | None) -> bool:
    """Whether the operator works, but a Deployment differs from the wanted one."""
    return status.phase == "Succeeded" and problem is not None and problem.kind == "outdated"


def decide(status: Status, problem: Problem | None, timeout: timedelta) -> Transition:
    """The phase that follows from the first problem of the Deployments."""
    if problem is None:
        message = "install strategy completed with no errors"
        return Transition(status.to("Succeeded", "InstallSucceeded", message), message)
    if problem.kind == "stuck":
        message = f"install failed: {problem.message}"
        return Transition(status.to("Failed", "InstallCheckFailed", message), message, waits_for=problem.message)
    if problem.kind == "rolling" and status.phase == "Succeeded":
        # A change of annotations is written in place (README): the operator works, and nothing was installed anew.
        return Transition(status, problem.message, waits_for=problem.message)
    if status.phase == "Failed" and (rest := pause_left(status, free=1)):
        # Two versions that name the same Deployment would take it from each other without end.
        return Transition(status, "waits before it installs again", waits_for=problem.message, again_in=rest)
    phase, reason = _UNWELL[status.phase]
    message = problem.message if problem.kind in _WHOLE else f"installing: {problem.message}"
    is_calm = status.phase != "Installing" and status.now - status.since >= CALM
    if problem.kind == "outdated" or (problem.kind == "unconverted" and is_calm):
        # Whoever ends the conversion again and again meets the pauses of Failed, and while it is installed its timeout.
        return Transition(status.to("InstallReady", reason, message), message)
    if status.phase == "Installing":
        return _waiting(status, problem, message, timeout)
    return Transition(status.to(phase, reason, message), message)


def _waiting(status: Status, problem: Problem, message: str, timeout: timedelta) -> Transition:
    rest = status.since + timeout - status.now
    if rest <= timedelta():
        return Transition(status.to("Failed", "InstallCheckFailed", "install timeout"), "install timeout")
    waiting = status.to("Installing", "InstallWaiting", message)
    return Transition(waiting, message, waits_for=problem.message, again_in=rest)
