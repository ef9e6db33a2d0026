"""The parts of one sandbox, as an argument of the functions that serve calls."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from eventing.local.apiserver.front_proxy import FrontProxy
from eventing.local.apiserver.resources import Registry
from eventing.local.apiserver.store import Store
from shared.api.manifest import Manifest, timestamp


def _utc_now() -> datetime:
    return datetime.now(UTC)


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
    clock: Callable[[], datetime] = _utc_now
    pod_network: str = ""
    """`host:port` of the HTTP proxy through which Pods are reached; empty: directly."""
    front_proxy: FrontProxy | None = None
    """How aggregated APIs know it; None: not at all."""
    asks_others: bool = True
    """Whether webhooks are called; in a replay nobody would answer."""

    def now(self) -> str:
        """The current time as a Kubernetes timestamp."""
        return timestamp(self.clock())

    def new_object(self, api_version: str, kind: str, name: str, namespace: str = "") -> Manifest:
        """An object that the sandbox itself creates."""
        place = {"namespace": namespace} if namespace else {}
        meta = {"name": name, **place, "uid": str(uuid.uuid4()), "creationTimestamp": self.now()}
        return {"apiVersion": api_version, "kind": kind, "metadata": meta}
