"""The parts of one sandbox, as an argument of the functions that serve calls."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from eventing.local.apiserver.resources import Registry
from eventing.local.apiserver.store import Store
from shared.api.manifest import Manifest, timestamp


@dataclass(frozen=True, slots=True)
class World:
    """One sandbox."""

    store: Store
    registry: Registry
    token: str
    """The token of the administrator."""
    secret: bytes
    """The key that signs tokens of service accounts."""
    version: str = "v1.35.4"
    bookmark_seconds: float = 30.0


def now() -> str:
    """The current time as a Kubernetes timestamp."""
    return timestamp(datetime.now(UTC))


def new_object(api_version: str, kind: str, name: str, namespace: str = "") -> Manifest:
    """An object that the sandbox itself creates."""
    meta = {"name": name, "namespace": namespace, "uid": str(uuid.uuid4()), "creationTimestamp": now()}
    if not namespace:
        del meta["namespace"]
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}
