"""Requests of the simulated kubelet that the API server refuses."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from eventing.local.kubelet.program import is_final
from eventing.local.kubelet.requests import demand, insist, record_event
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.kinds import DEPLOYMENT, POD


class Received:
    """A cluster that has the Event already."""

    def __init__(self) -> None:
        self.asked = 0

    def create(self, _: Manifest) -> Manifest:
        self.asked += 1
        raise ApiError(409, "AlreadyExists", "there")


def test_an_event_that_is_there_already_holds_nothing_up() -> None:
    """Whoever waited for it for ever never tried again to create the Pods that it is about."""
    cluster = Received()
    asyncio.run(asyncio.wait_for(record_event(cast("KubeClient", cluster), {}, DEPLOYMENT.ref("d", "ns")), 60))
    assert cluster.asked == 1


class JustBegun:
    """An API server that does not know yet who may do what."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise ApiError(403, "Forbidden", "cannot patch resource pods/status")
        return "written"


def test_what_an_api_server_forbids_that_has_just_begun_is_written_later() -> None:
    """The end of a program was not written: its Job never ended, and nobody unpacked the bundle again."""
    server = JustBegun()
    assert asyncio.run(asyncio.wait_for(insist(server, POD.ref("p", "ns")), 60)) == "written"
    assert server.asked == 2


@pytest.mark.parametrize(
    ("status", "forbidden", "want"),
    [
        pytest.param(0, 0, False, id="no answer"),
        pytest.param(403, 1, False, id="forbidden by one that has just begun"),
        pytest.param(0, 1, False, id="no answer after that"),
        pytest.param(403, 11, True, id="forbidden again and again"),
        pytest.param(401, 0, True, id="an unknown user"),
        pytest.param(401, 1, True, id="an unknown user, by one that has just begun"),
    ],
)
def test_a_kubelet_waits_for_an_api_server_that_begins(status: int, forbidden: int, want: bool) -> None:
    """It ended with a sentence, which is right only where it is forbidden for good."""
    assert is_final(ApiError(status, "R", "m"), forbidden) == want


def test_a_pod_that_is_forbidden_is_reported() -> None:
    with pytest.raises(ApiError):
        asyncio.run(asyncio.wait_for(demand(JustBegun(), DEPLOYMENT.ref("d", "ns")), 60))
