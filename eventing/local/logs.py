"""Keeps the logs of an installation within a bound, while programs write to them."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Never

import structlog

LOG_BYTES = 16 * 1024 * 1024
_LOOK_SECONDS = 10
log = structlog.get_logger()


async def keep_short(folder: Path) -> Never:
    """Look after the logs in a folder until this is cancelled."""
    while True:
        shorten(folder)
        await asyncio.sleep(_LOOK_SECONDS)


def shorten(folder: Path, *, most: int = LOG_BYTES) -> None:
    """Move what a long log says to `<name>.old`, in place of what is there; what is written meanwhile is lost.

    The log stays the same file, because its program goes on writing to it (at its end: it is opened to append).
    """
    for file in folder.glob("*.log"):
        try:
            if file.stat().st_size > most:
                shutil.copyfile(file, file.with_suffix(".old"))
                os.truncate(file, 0)
        except OSError as error:  # a full disk, say: it may have room the next time
            log.warning("log_stays", file=str(file), error=str(error))
