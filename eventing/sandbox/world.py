"""Everything one sandbox is made of, handed to whoever serves a call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from eventing.sandbox.resources import Registry
from eventing.sandbox.store import Store
from shared.api.manifest import timestamp


@dataclass(frozen=True, slots=True)
class World:
    """One sandbox."""

    store: Store
    registry: Registry
    token: str
    """What the administrator shows."""
    secret: bytes
    """What tokens of service accounts are signed with."""
    version: str = "v1.35.4"
    bookmark_seconds: float = 30.0


def now() -> str:
    """The present instant as Kubernetes writes it."""
    return timestamp(datetime.now(UTC))
