"""Faults of the API server, and of Redis as a server."""

from __future__ import annotations

from dataclasses import replace

from shared.adapters.kube import KubeClient
from tests.bench.slow_server import slow_server
from tests.conformance.control_plane import running_control_plane
from tests.conformance.faults.worlds import Worlds
from tests.conformance.lifecycle.outages import Fault, World, nothing_happens, seconds_to_converge
from tests.kit.installation import SAMPLES, installed

MILLISECONDS = 200


def result(seconds: float) -> str:
    """What a row says."""
    return f"nothing; {seconds:.1f} s after its end"


def is_survived(worlds: Worlds, *, target: str, fault: Fault) -> str:
    """Three samples are asked for during the fault."""
    return result(seconds_to_converge(worlds.of(target), fault.__name__.replace("_", "-"), fault))


def answers_late(worlds: Worlds) -> str:
    """Every answer of the API server comes later, watches included."""
    folder = worlds.fresh_folder()
    pods = str(folder / "pods.sock")
    with (
        running_control_plane(folder, pod_network=pods) as direct,
        slow_server(direct, MILLISECONDS) as slow,
        installed(
            folder / "olmf", "--bundles", str(SAMPLES), "--kubeconfig", str(slow), environ={"OLMF_POD_NETWORK": pods}
        ) as installation,
    ):
        near = replace(installation, cluster=KubeClient.from_kubeconfig(str(direct)))
        seconds = seconds_to_converge(World(near), "api-is-slow", nothing_happens, seconds=0)
        return f"nothing; {seconds:.1f} s with it"
