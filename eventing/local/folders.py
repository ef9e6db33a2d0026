"""Notices that a served folder changed and asks for its catalog to be looked up again."""

from __future__ import annotations

import asyncio
import os
import stat
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import structlog

from eventing.events import Event
from shared import names
from shared.kinds import Ref

log = structlog.get_logger()

LOOK_SECONDS = 1.0
"""How often the folders are looked at; files are not read."""

Print: TypeAlias = frozenset[tuple[str, int, int]]


async def ring_on_change(
    folders: Mapping[Ref, tuple[Path, ...]], endpoint: str, *, look_seconds: float = LOOK_SECONDS
) -> None:
    """Send `io.olmf.poke` about a CatalogSource whenever one of its folders changed; until cancelled."""
    from eventing.endpoint import send

    seen = {ref: await asyncio.to_thread(fingerprint, paths) for ref, paths in folders.items()}
    while folders:
        await asyncio.sleep(look_seconds)
        for ref, paths in folders.items():
            now = await asyncio.to_thread(fingerprint, paths)
            if now != seen[ref]:
                poke = Event(id=f"folder-{uuid.uuid4()}", type=names.POKE, source="/olmf/up", ref=ref)
                try:
                    await asyncio.to_thread(send, endpoint, poke)
                    seen[ref] = now
                except OSError as error:  # the endpoint is being started again: next time
                    log.warning("poke_failed", ref=str(ref), error=str(error))


def fingerprint(folders: tuple[Path, ...]) -> Print:
    """Name, size and modification time of every file below the folders."""
    return frozenset(
        (str(path), status.st_size, status.st_mtime_ns)
        for folder in folders
        for path in folder.rglob("*")
        if (status := _status(path)) and stat.S_ISREG(status.st_mode)
    )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # it went while we looked: the next look sees the folder without it
        return None
