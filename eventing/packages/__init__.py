"""Packages as a person sees them: ask for one, follow it, list them; all of it through the Kubernetes API."""

from eventing.packages.channels import switch_channel
from eventing.packages.follow import NotReadyError, follow, install, narrowing
from eventing.packages.listing import installed, offered
from eventing.packages.removal import remove
from eventing.packages.requests import (
    PackageError,
    Request,
    approve_plan,
    plan_to_approve,
    set_hold,
    subscribe,
    waiting_plan,
)

__all__ = [
    "NotReadyError",
    "PackageError",
    "Request",
    "approve_plan",
    "follow",
    "install",
    "installed",
    "narrowing",
    "offered",
    "plan_to_approve",
    "remove",
    "set_hold",
    "subscribe",
    "switch_channel",
    "waiting_plan",
]
