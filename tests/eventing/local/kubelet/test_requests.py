"""Requests of the simulated kubelet that the API server refuses."""

from __future__ import annotations

import asyncio
from typing import cast

from eventing.local.kubelet.requests import record_event
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.kinds import DEPLOYMENT


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
