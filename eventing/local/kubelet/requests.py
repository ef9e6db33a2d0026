"""Requests of the simulated kubelet, repeated until the API server accepts or refuses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import structlog

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.kinds import Ref

FIRST_RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 10.0
REFUSALS = (400, 403, 413, 422)

Answer = TypeVar("Answer")
log = structlog.get_logger()


async def insist(act: Callable[[], Answer], ref: Ref) -> Answer | None:
    """Send a request until it is answered; None when its object is gone, or another of its name, or it is refused."""
    try:
        return await demand(act, ref)
    except ApiError as error:
        log.warning("kubelet_request_refused", object=str(ref), error=str(error))
        return None


async def record_event(cluster: KubeClient, event: Manifest, ref: Ref) -> None:
    """Create an Event, unless one of its name exists."""

    def create() -> Manifest:
        try:
            return cluster.create(event)
        except ApiError as error:
            if error.already_exists:
                return event
            raise

    await insist(create, ref)


async def demand(act: Callable[[], Answer], ref: Ref) -> Answer | None:
    """As `insist`, but a refusal is raised."""
    pause = FIRST_RETRY_SECONDS
    while True:
        try:
            return await asyncio.to_thread(act)
        except ApiError as error:
            if error.is_not_found or error.is_conflict:
                return None  # why: the object was deleted, or replaced by another of its name
            if error.status in REFUSALS or error.is_unanswered:
                raise
            log.warning("kubelet_request_failed", object=str(ref), error=str(error))
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_RETRY_SECONDS)
