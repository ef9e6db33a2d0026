"""What OLM's own operator asks of a real API server for a version with webhooks: `python -m tests.bench.olm_beside`.

`OLMF_OLM_PROGRAM` is that program, made of its source (`go build ./cmd/olm`). It is given the version, its definition,
account and rights as a plan would have made them. What OLM's catalog operator asks for before (resolving, unpacking,
carrying out the plan) is not counted, because its unpack Jobs want images; ours count from the Subscription on
(page `requests`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, name_of
from shared.kinds import CLUSTER_ROLE_BINDING, CLUSTER_SERVICE_VERSION, SERVICE_ACCOUNT
from tests.bench.audit import AuditLog, Line
from tests.bench.requests import ARCHIVE, RABBITMQ, REAL_PACKAGES
from tests.conformance.control_plane import program, running_control_plane
from tests.kit.installation import Installation, a_namespace, an_operator_group
from tests.kit.olm_program import PLACE, running_olm
from tests.kit.served_pods import a_node

VERSION, HOME = REAL_PACKAGES[RABBITMQ], "olm"
DEFINITIONS = Path(__file__).parents[2] / "k8s" / "crds"
SETTLED_SECONDS, AFTER_SECONDS = 15.0, 30.0


def main() -> None:
    """Print how many requests OLM makes until the version is Succeeded, and in half a minute after that."""
    with tempfile.TemporaryDirectory() as place:
        folder, network = Path(place), f"{place}/pods.sock"
        audit, plane = AuditLog(folder), folder / "plane"
        plane.mkdir()
        words = ["tar", "--zstd", "-xf", str(ARCHIVE), "-C", place, f"bundles/{RABBITMQ}"]
        subprocess.run(words, check=True)
        with (
            running_control_plane(plane, *audit.server_words, pod_network=network) as kubeconfig,
            a_node(kubeconfig, network),
        ):
            words = [str(program("kubectl")), f"--kubeconfig={kubeconfig}", "apply", "--server-side", "-k"]
            subprocess.run([*words, str(DEFINITIONS)], check=True, stdout=subprocess.DEVNULL)
            host = Installation(folder, KubeClient.from_kubeconfig(str(kubeconfig)))
            host.apply(a_namespace(HOME), a_namespace(RABBITMQ))
            with running_olm(os.environ[PLACE], kubeconfig, HOME, folder / "olm.log"):
                host.apply(an_operator_group(RABBITMQ, targets=(RABBITMQ,)))
                time.sleep(SETTLED_SECONDS)
                measure(host, audit, folder / "bundles" / RABBITMQ)


def measure(host: Installation, audit: AuditLog, bundles: Path) -> None:
    """Give OLM the version, and print what it asked for."""
    files = sorted((bundles / VERSION.partition(".v")[2] / "manifests").iterdir())
    objects = [without_nulls(yaml.safe_load(file.read_text())) for file in files]
    (csv,) = (one for one in objects if one["kind"] == CLUSTER_SERVICE_VERSION.kind)
    lines, ref = audit.lines(), CLUSTER_SERVICE_VERSION.ref(VERSION, RABBITMQ)
    host.apply(*(one for one in objects if one is not csv), *granted(csv))
    started = time.perf_counter()
    host.apply({**csv, "metadata": {**csv["metadata"], "namespace": RABBITMQ}})
    host.until_phase(ref.name, RABBITMQ)
    took, end = time.perf_counter() - started, time.time()
    time.sleep(AFTER_SECONDS)
    asked = [one for one in lines() if one.agent.startswith("olm-operator/") and one.verb != "watch"]
    before = [one for one in asked if one.at <= end]
    writes = sum(not one.is_read for one in before)
    sys.stdout.write(
        f"{name_of(csv)}: Succeeded after {took:.1f} s with {len(before)} requests, {writes} of them writes; "
        f"{len(asked) - len(before)} in the {AFTER_SECONDS:.0f} s after that\n{by_verb(before)}\n"
    )


def without_nulls(value: Any) -> Any:
    """What Go's structs leave out of what a catalog operator writes."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def granted(csv: Mapping[str, Any]) -> Iterator[Manifest]:
    """The accounts of a version, which may do everything."""
    spec = csv["spec"]["install"]["spec"]
    for name in sorted(
        {one["serviceAccountName"] for key in ("permissions", "clusterPermissions") for one in spec.get(key, ())}
    ):
        account, binding = SERVICE_ACCOUNT.ref(name, RABBITMQ), CLUSTER_ROLE_BINDING.ref(f"by-hand-{name}")
        yield {
            "apiVersion": account.api_version, "kind": account.kind,
            "metadata": {"name": name, "namespace": RABBITMQ},
        }  # fmt: skip
        yield {
            "apiVersion": binding.api_version, "kind": binding.kind, "metadata": {"name": binding.name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": account.kind, "name": name, "namespace": RABBITMQ}],
        }  # fmt: skip


def by_verb(asked: list[Line]) -> str:
    """How often which verb was asked for."""
    return ", ".join(f"{verb} {count}" for verb, count in Counter(one.verb for one in asked).most_common())


if __name__ == "__main__":
    main()
