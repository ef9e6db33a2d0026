"""Requests of the simulated kubelet, repeated until the API server accepts or refuses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TypeVar

import structlog

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.kinds import Ref

FIRST_RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 10.0
INVALID = (400, 413, 422)
FORBIDDEN = 403

Answer = TypeVar("Answer")
log = structlog.get_logger()


async def insist(act: Callable[[], Answer], ref: Ref) -> Answer | None:
    """Send a request until it is answered; None when its object is gone, or another of its name, or it is refused.

    A 403 does not count as refused: a node may do all this, but an API server that has just begun does not know it yet.
    """
    try:
        return await _repeated(act, ref, INVALID)
    except ApiError as error:
        log.warning("kubelet_request_refused", object=str(ref), error=str(error))
        return None


async def demand(act: Callable[[], Answer], ref: Ref) -> Answer | None:
    """As `insist`, but a refusal is raised, also a 403: quotas and pod security answer so."""
    return await _repeated(act, ref, (*INVALID, FORBIDDEN))


async def record_event(cluster: KubeClient, event: Manifest, ref: Ref) -> None:
    """Create an Event, unless one of its name exists; one that is refused is not missed."""

    def create() -> Manifest:
        try:
            return cluster.create(event)
        except ApiError as error:
            if error.already_exists:
                return event
            raise

    try:
        await demand(create, ref)
    except ApiError as error:
        log.warning("kubelet_request_refused", object=str(ref), error=str(error))


async def _repeated(act: Callable[[], Answer], ref: Ref, refusals: Collection[int]) -> Answer | None:
    pause = FIRST_RETRY_SECONDS
    while True:
        try:
            return await asyncio.to_thread(act)
        except ApiError as error:
            if error.is_not_found or error.is_conflict:
                return None  # why: the object was deleted, or replaced by another of its name
            if error.status in refusals or error.is_unanswered:
                raise
            log.warning("kubelet_request_failed", object=str(ref), error=str(error))
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_RETRY_SECONDS)
