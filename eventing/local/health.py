"""Asks each process of an installation whether it works."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from eventing.local.state import Addresses, Process, is_alive

PROBE_SECONDS = 2.0


def report(addresses: Addresses) -> dict[str, Any]:
    """The addresses, and each process as `{"name", "pid", "healthy"}`."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        healthy = list(pool.map(is_healthy, addresses.processes))
    return {
        "state": addresses.state,
        "kubeconfig": addresses.kubeconfig,
        "endpoint": addresses.endpoint,
        "redis": addresses.redis,
        "registry": addresses.registry,
        "ready": addresses.ready,
        "processes": [
            {"name": process.name, "pid": process.pid, "healthy": ok}
            for process, ok in zip(addresses.processes, healthy, strict=True)
        ],
    }


def is_healthy(process: Process) -> bool:
    """It is alive and, where it has a probe, answers it with 2xx."""
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
