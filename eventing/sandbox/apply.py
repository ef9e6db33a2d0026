"""Server-side apply."""

from __future__ import annotations

from typing import Any

from eventing.sandbox.calls import Call
from eventing.sandbox.failures import not_served
from eventing.sandbox.verbs import Answer
from eventing.sandbox.world import World


def apply(call: Call, world: World, body: Any) -> Answer:
    """Make the fields of the body true, and the manager their owner."""
    raise not_served("server-side apply")
