"""Checks the processes and catalogs of an installation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from eventing.local.state import Addresses, Process, is_alive
from shared.api.manifest import Manifest, name_of, namespace_of
from shared.kinds import CATALOG_SOURCE

PROBE_SECONDS = 2.0


def report(addresses: Addresses) -> dict[str, Any]:
    """The addresses, each process as `{"name", "pid", "healthy"}`, each catalog as `{"name", "state", "message"}`."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        healthy = list(pool.map(is_healthy, addresses.processes))
    return {
        "state": addresses.state,
        "kubeconfig": addresses.kubeconfig,
        "endpoint": addresses.endpoint,
        "redis": addresses.redis,
        "registry": addresses.registry,
        "ready": addresses.ready,
        "catalogs": catalogs(addresses.kubeconfig) if addresses.ready else [],
        "processes": [
            {"name": process.name, "pid": process.pid, "healthy": ok}
            for process, ok in zip(addresses.processes, healthy, strict=True)
        ],
    }


def is_healthy(process: Process) -> bool:
    """Whether a process runs and, if it has a probe, answers it with 2xx."""
    if not is_alive(process.pid):
        return False
    if not process.probe:
        return True
    import urllib3

    try:
        response = urllib3.request("GET", process.probe, timeout=PROBE_SECONDS, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return response.status < 300


def catalogs(kubeconfig: str) -> list[dict[str, str]]:
    """Name, state and message of each CatalogSource; empty when the API server does not answer."""
    from shared.adapters.kube import ApiError, ConnectionSettingError, KubeClient

    try:
        found = KubeClient.from_kubeconfig(kubeconfig).list(CATALOG_SOURCE)
    except (ApiError, ConnectionSettingError):  # `olmf status` reports the unhealthy process, or the kubeconfig
        return []
    return [_catalog(source) for source in found]


def _catalog(source: Manifest) -> dict[str, str]:
    status = source.get("status") or {}
    state = (status.get("connectionState") or {}).get("lastObservedState")
    return {
        "name": f"{namespace_of(source)}/{name_of(source)}",
        "state": str(state or status.get("reason") or "not read yet"),
        "message": str(status.get("message") or ""),
    }
