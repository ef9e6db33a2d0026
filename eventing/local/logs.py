"""Limits the size of the logs of an installation while programs write to them."""

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
    """Shorten the logs in a folder again and again, until cancelled."""
    while True:
        shorten(folder)
        await asyncio.sleep(_LOOK_SECONDS)


def shorten(folder: Path, *, most: int = LOG_BYTES) -> None:
    """Move the content of each long log to `<name>.old`, which is replaced. Lines written during the copy are lost.

    The log stays the same file, because its program has it open for appending.
    """
    for file in folder.glob("*.log"):
        try:
            if file.stat().st_size > most:
                shutil.copyfile(file, file.with_suffix(".old"))
                os.truncate(file, 0)
        except OSError as error:  # e.g. a full disk; tried again at the next check
            log.warning("log_stays", file=str(file), error=str(error))
