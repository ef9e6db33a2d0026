"""`olmf run packages`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eventing.packages.program import Serving, run
from eventing.wiring.content import content
from shared.adapters.kube import KubeClient
from shared.config import Settings


def main(values: Settings, announce: Callable[[str], None], certificate: Path, key: Path) -> None:
    """Serve PackageManifests until SIGTERM."""
    client = KubeClient.from_kubeconfig(values.kubeconfig, agent="olmf/packages")
    host = "127.0.0.1" if values.kubeconfig else ""
    serving = Serving(host, values.port, certificate, key, values.policy.global_namespace)
    run(serving, client, content(values, client)[0].snapshot, announce)
