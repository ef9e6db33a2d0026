"""Dead letters as failed jobs of RQ, so that `rq info` and its dashboards show them."""

from __future__ import annotations

from redis import Redis


def show(client: Redis, entry: str, message: str) -> None:
    """List a dead letter among RQ's failed jobs."""


def hide(client: Redis, entry: str) -> None:
    """Take a released letter off RQ's failed jobs."""
