"""The Lua scripts: loaded from the files beside this one, sent once, called by digest."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError

from eventing.events.job import INSTALL

_FILES = resources.files(__package__)
_SHARED = ("dead_letters", "keys", "order", "queue")
"""In front of every script, in this order."""


@cache
def _script(name: str) -> tuple[str, str]:
    text = "".join([_distances(), *((_FILES / f"{part}.lua").read_text() for part in (*_SHARED, name))])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _distances() -> str:
    """How far each step of an install is from its end, as Lua."""
    rows = (f"['{step}'] = {distance}" for distance, step in enumerate(INSTALL))
    return f"local DISTANCES, FURTHEST = {{{', '.join(rows)}}}, {len(INSTALL)}\n"


def run(client: Redis, name: str, *arguments: str | bytes | int) -> Any:
    """The answer of `<name>.lua`; the script is sent again when the server lost it (restart, FLUSHALL)."""
    text, digest = _script(name)
    try:
        return client.evalsha(digest, 0, *arguments)
    except NoScriptError:
        return client.eval(text, 0, *arguments)
