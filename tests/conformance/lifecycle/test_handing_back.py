"""After `olmf down` OLM finds what it would have made itself around operators with webhooks and aggregated APIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventing.local.ports import free_port
from shared.adapters.kube import KubeClient
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.lifecycle.lamps import FIRST, SAMPLE, Lamps, installed, is_whole
from tests.conformance.lifecycle.test_webhooks import CSV as GUARD_VERSION
from tests.conformance.lifecycle.test_webhooks import PLACE, LeftByOlm, left
from tests.conformance.targets import REAL, running_cluster
from tests.kit.installation import installed as running_installation
from tests.kit.olm_checks import OlmChecks

__all__ = ["left"]


@pytest.mark.parametrize("target", TARGETS)
def test_what_serves_is_handed_back_to_olm(target: str, tmp_path: Path) -> None:
    """csv.md 7.5 to 7.8: names, labels, Secret, digests of the CA; all of it still answers for who calls it."""
    network = str(tmp_path / "pods.sock") if target == REAL else f"127.0.0.1:{free_port()}"
    with running_cluster(target, tmp_path, pod_network=network) as kubeconfig:
        words = ("--bundles", str(SAMPLE), "--kubeconfig", str(kubeconfig))
        with running_installation(tmp_path / "olmf", *words, environ={"OLMF_POD_NETWORK": network}) as host:
            lamps = installed(host, "lampland")
            host.until_it_rests()
            assert is_whole(lamps)
        cluster = KubeClient.from_kubeconfig(str(kubeconfig))
        assert OlmChecks(cluster, Lamps(host, "lampland").ref(FIRST)).complaints() == []
        cluster.close()


def test_what_came_from_olm_is_handed_back_to_it(left: LeftByOlm, tmp_path: Path) -> None:
    """csv.md 7.6: adopted, and given up again."""
    words = ("--kubeconfig", str(left.kubeconfig), "--take-over")
    with running_installation(tmp_path / "olmf", *words) as host:
        host.until(GUARD_VERSION, lambda found: found["status"].get("certsRotateAt"))
        host.until_phase(GUARD_VERSION.name, PLACE)
        host.until_it_rests()
    assert OlmChecks(left.cluster, GUARD_VERSION).complaints() == []
