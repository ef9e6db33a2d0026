"""What the endpoint says while the queue is away."""

from __future__ import annotations


class QueueUnavailable(Exception):
    """The event could not be queued; the sender should retry."""
