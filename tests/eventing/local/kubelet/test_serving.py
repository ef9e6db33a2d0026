"""The server of a simulated Pod: which certificate it proves itself with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eventing.local.ports import free_port
from tests.conformance.api.objects import core
from tests.conformance.http import Api
from tests.kit.lamps import Lamps
from tests.kit.sandbox import running_sandbox
from tests.kit.served_pods import a_node, a_secret, install
from tests.kit.waiting import wait_for


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Api]:
    network = f"127.0.0.1:{free_port()}"
    with running_sandbox(tmp_path / "sandbox", pod_network=network) as kubeconfig, a_node(kubeconfig, network):
        yield Api.of(kubeconfig)


def test_a_new_certificate_is_served_without_a_restart(http: Api, tmp_path: Path) -> None:
    sample = install(http, "default", tmp_path / "pki")
    secret, authority = a_secret(tmp_path / "next", "default")
    lamps = Lamps(sample, "renewed")
    lamps.sample = replace(sample, authority=authority)
    with lamps.configured("validating", "/validate"):
        refused = lamps.create("a", lumens=1)
        assert "certificate signed by unknown authority" in refused.body["message"]
        http.patch(core("default", "secrets", "cert"), {"data": secret["data"]})
        wait_for(lambda: lamps.create("a", lumens=1).status == 201)
