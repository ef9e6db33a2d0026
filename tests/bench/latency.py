"""What slow answers of the API server cost: ten packages in ten namespaces, with and without 20 ms more for each.

`python -m tests.bench.latency [MS …]` tells the time with so many milliseconds more (0: without the proxy).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from shared.adapters.kube import KubeClient
from shared.kinds import CATALOG_SOURCE
from tests.bench.row import Row
from tests.bench.slow_server import slow_server
from tests.bench.together import watched
from tests.conformance.control_plane import running_control_plane
from tests.conformance.packages.offers import heads, prepare
from tests.kit.installation import installed
from tests.kit.real_bundles import ARCHIVE, extracted

PACKAGES = frozenset({
    "authorino-operator", "dns-operator", "etcd", "grafana-operator", "hive-operator", "keda", "keycloak-operator",
    "limitador-operator", "prometheus", "strimzi-kafka-operator",
})  # fmt: skip
MILLISECONDS = 20
TIMES = 1.6


def rows() -> Iterable[Row]:
    """Every row of this page."""
    if ARCHIVE.exists():
        quick, slow = last(0), last(MILLISECONDS)
        what = f"{len(PACKAGES)} packages in as many namespaces"
        yield Row(f"{what}, each answer {MILLISECONDS} ms later: times as long", slow / quick, TIMES, "times")
        yield Row(f"{what}: the last, without and with", quick, slow, "s")


def last(milliseconds: int) -> float:
    """Seconds until the last of the packages is installed, through a proxy that adds so much to each answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundles = extracted(folder)
        with (
            running_control_plane(folder) as direct,
            slow_server(direct, milliseconds) if milliseconds else nullcontext(direct) as kubeconfig,
            installed(folder / "state", "--kubeconfig", str(kubeconfig), "--bundles", str(bundles)) as through_proxy,
        ):
            installation = replace(through_proxy, cluster=KubeClient.from_kubeconfig(str(direct)))
            installation.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: "READY" in str(each["status"]), "READY")
            found = {name: head for name, head in heads(installation.cluster, bundles).items() if name in PACKAGES}
            for head in found.values():
                prepare(installation, head)
            installation.until_it_rests()
            return max(watched(installation, found).ends.values())


if __name__ == "__main__":
    for number in sys.argv[1:] or ("0", str(MILLISECONDS)):
        print(f"{number} ms: {last(int(number)):.1f} s", flush=True)
