"""What ClusterExtensions ask of a real API server, and how long they take: `python -m tests.bench.rollouts`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from shared.kinds import CATALOG_SOURCE, CLUSTER_EXTENSION, Ref
from tests.bench.audit import AuditLog
from tests.bench.made_bundles import ALWAYS, an_object, write
from tests.bench.requests import STEADY_SECONDS, settle
from tests.bench.row import Row
from tests.conformance.control_plane import running_control_plane
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog, until_served
from tests.conformance.lifecycle.test_extensions import CATALOG, an_extension
from tests.conformance.lifecycle.test_install import _state
from tests.kit.installation import Installation, a_namespace, condition, installed
from tests.kit.waiting import wait_for

MANY = 1000
"""20 phases of 50 objects: the most that a revision can have."""
_SELECTOR = {"matchLabels": {"app": "a"}}
TEN = (
    an_object("ConfigMap", "ten-a", data={"a": "b"}),
    an_object("Secret", "ten-b", stringData={"a": "b"}),
    an_object("Service", "ten-c", spec={"ports": [{"port": 80}], "selector": {"app": "a"}}),
    an_object("ClusterRole", "ten-d", "rbac.authorization.k8s.io/v1", rules=[]),
    an_object("PodDisruptionBudget", "ten-e", "policy/v1", spec={"minAvailable": 1, "selector": _SELECTOR}),
)


def rows() -> Iterable[Row]:
    """Every row of this page, one after the other in one installation."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "bundles", "ten", TEN)
        maps = (an_object("ConfigMap", f"many-{one:04}", data={"a": "x" * 2000}) for one in range(MANY - ALWAYS))
        write(folder / "bundles", "many", tuple(maps))
        audit = AuditLog(folder)
        with (
            running_control_plane(folder, *audit.server_words) as kubeconfig,
            installed(
                folder / "state", "--kubeconfig", str(kubeconfig), "--bundles", str(folder / "bundles")
            ) as installation,
        ):
            _serve(installation)
            settle(audit)
            yield from _one(installation, audit, "ten", seconds=1.5, requests=3 * (ALWAYS + len(TEN)))
            yield from _one(installation, audit, "many", seconds=25, requests=3 * MANY)
            yield Row(f"{MANY} objects: the largest worker until then", _largest(installation), 200, "MiB")
            yield from _steady(audit)


def _serve(installation: Installation) -> None:
    source = CATALOG_SOURCE.ref("local", "olm")
    installation.until(source, lambda each: _state(each) == "READY", "READY")
    found = installation.cluster.get(source) or {}
    installation.apply(a_catalog(CATALOG.name, str(found["spec"]["image"])))
    until_served(installation, CATALOG)


def _one(installation: Installation, audit: AuditLog, package: str, *, seconds: float, requests: int) -> Iterator[Row]:
    installation.apply(a_namespace(package))
    settle(audit)
    asked, started = audit.mark(), time.perf_counter()
    installation.apply(an_extension(package, package, package))
    wait_for(lambda: _is_installed(installation, CLUSTER_EXTENSION.ref(package)), f"{package} to be installed")
    took, found = time.perf_counter() - started, asked()
    end = 1 + max(number for number, one in enumerate(found) if one.resource == "clusterextensions/status")
    yield Row(f"an extension of {requests // 3} objects on a real API server, to Installed", took, seconds, "s")
    yield Row(f"{requests // 3} objects: our requests until then", end, requests, "requests")
    settle(audit)


def _steady(audit: AuditLog) -> Iterator[Row]:
    asked = audit.mark()
    time.sleep(STEADY_SECONDS)
    yield Row(f"steady state, {STEADY_SECONDS} s: our requests", len(asked()), 0, "requests")


def _is_installed(installation: Installation, ref: Ref) -> bool:
    return condition(installation.cluster.get(ref) or {}, "Installed").get("status") == "True"


def _largest(installation: Installation) -> float:
    """The most memory that a process of the workers ever had."""
    found = (one["pid"] for one in installation.status()["processes"] if one["name"].startswith("worker"))
    return max(_peak(each) for pid in found for each in _family(pid))


def _family(pid: int) -> Iterator[int]:
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from _family(int(child))


def _peak(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
