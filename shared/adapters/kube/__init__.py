"""The Kubernetes API over HTTP, with raw JSON objects; implements `Cluster`, `Discovery` and `Clock`.

Import `copies` and `mirrors` directly: only workers need them, and they take longer to import.
"""

from __future__ import annotations

from shared.adapters.kube.answers import ChangeCounts, Changes
from shared.adapters.kube.cached import CachedClient
from shared.adapters.kube.client import KubeClient
from shared.adapters.kube.clock import SystemClock
from shared.adapters.kube.connection import (
    Connection,
    Context,
    connect,
    context_of,
    is_in_pod,
    pod_namespace,
)
from shared.adapters.kube.credentials import ConnectionSettingError
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.inventory import KubeInventory
from shared.adapters.kube.paths import path_of

__all__ = [
    "ApiError",
    "CachedClient",
    "ChangeCounts",
    "Changes",
    "Connection",
    "ConnectionSettingError",
    "Context",
    "KubeClient",
    "KubeInventory",
    "SystemClock",
    "connect",
    "context_of",
    "is_in_pod",
    "path_of",
    "pod_namespace",
]
