"""From InstallReady to Installing, or to Failed when the API server refuses a Deployment (csv.md §4.3)."""

from __future__ import annotations

from shared.domain.csv.phases import Status
from shared.domain.csv.transition import Transition
from shared.domain.objects.csv import NO_RETRY

_FAILED = "install strategy failed: "


def started(status: Status) -> Transition:
    """Installing, after all Deployments were written."""
    message = "waiting for install components to report healthy"
    return Transition(status.to("Installing", "InstallSucceeded", message), message, waits_for="its Deployments")


def refused(status: Status, message: str, *, is_forbidden: bool) -> Transition:
    """Failed, because a write was refused: a forbidden one waits for changed permissions, others are retried later."""
    if is_forbidden:
        text = f"{_FAILED}{_FAILED}{message}"
        return Transition(status.to("Failed", NO_RETRY, text), text, waits_for="permissions")
    text = f"{_FAILED}{message}"
    return Transition(status.to("Failed", "InstallComponentFailed", text), text, waits_for="the next try")
