"""Sends an event when a served folder has changed, so that its catalog is read again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from pathlib import Path

import structlog

from eventing.events.event import Event
from eventing.local.image_registry.folder import State, state_of
from shared import names
from shared.kinds import Ref

log = structlog.get_logger()

LOOK_SECONDS = 1.0
"""Interval of the checks; they read no files."""


async def ring_on_change(
    folders: Mapping[Ref, tuple[Path, ...]], endpoint: str, token: str = "", *, look_seconds: float = LOOK_SECONDS
) -> None:
    """Send `io.olmf.poke` about a CatalogSource whenever one of its folders changed; until cancelled."""
    from eventing.endpoint.sender import send

    seen = {ref: await asyncio.to_thread(_state, paths) for ref, paths in folders.items()}
    while folders:
        await asyncio.sleep(look_seconds)
        for ref, paths in folders.items():
            now = await asyncio.to_thread(_state, paths)
            if now != seen[ref]:
                poke = Event(id=f"folder-{uuid.uuid4()}", type=names.POKE, source="/olmf/up", ref=ref)
                try:
                    await asyncio.to_thread(send, endpoint, poke, token=token)
                    seen[ref] = now
                except OSError as error:  # the endpoint is being restarted: sent at the next check
                    log.warning("poke_failed", ref=str(ref), error=str(error))


def _state(folders: tuple[Path, ...]) -> State:
    return tuple(map(state_of, folders))
