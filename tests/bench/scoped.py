"""What the rights of an account cost: an install with one, against the same without: `python -m tests.bench.scoped`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.api.manifest import Manifest
from tests.bench.audit import AuditLog
from tests.bench.requests import settle
from tests.bench.row import Row
from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import (
    SAMPLES,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    installed,
)

RBAC = "rbac.authorization.k8s.io"
PACKAGE, VERSION, INSTALLS = "beacon", "beacon.v1.0.0", 3
ALLOWED = 1.3


def rows() -> Iterable[Row]:
    """The requests of a few installs of each kind; the first of all, which brings the definition, is not counted."""
    with tempfile.TemporaryDirectory() as folder, a_server(Path(folder)) as (installation, audit):
        install(installation, audit, "first")
        without = sum(install(installation, audit, f"free-{number}") for number in range(INSTALLS))
        with_one = sum(install(installation, audit, f"bound-{number}", "installer") for number in range(INSTALLS))
        name = f"{INSTALLS} installs with an account: {with_one} requests; without: {without}"
        yield Row(name, with_one / without, ALLOWED, "times")


@contextmanager
def a_server(folder: Path) -> Iterator[tuple[Installation, AuditLog]]:
    """An installation with the sample bundles on a real API server, and its audit log."""
    audit = AuditLog(folder)
    with (
        running_control_plane(folder, *audit.server_words) as kubeconfig,
        installed(folder / "state", "--kubeconfig", str(kubeconfig), "--bundles", str(SAMPLES)) as installation,
    ):
        yield installation, audit


def install(installation: Installation, audit: AuditLog, namespace: str, account: str = "") -> int:
    """Our requests from the Subscription on until nothing is asked any more."""
    named = {"serviceAccountName": account} if account else {}
    installation.apply(a_namespace(namespace), *(permissions(namespace, account) if account else ()))
    installation.apply(an_operator_group(namespace, targets=(namespace,), **named))
    settle(audit)
    asked = audit.mark()
    installation.apply(a_subscription(PACKAGE, namespace, channel="stable"))
    installation.until_phase(VERSION, namespace)
    settle(audit)
    return len(asked())


def permissions(namespace: str, account: str) -> list[Manifest]:
    """An account that may do anything in its namespace."""
    meta = {"name": account, "namespace": namespace}
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]
    role = {"apiGroup": RBAC, "kind": "Role", "name": account}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": rules},
        {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": meta, "roleRef": role, "subjects": subjects},
    ]


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
