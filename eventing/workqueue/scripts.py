"""The Lua scripts: loaded from the files beside this one, sent once, called by digest."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError

_FILES = resources.files(__package__)


@cache
def _script(name: str) -> tuple[str, str]:
    text = (_FILES / "queue.lua").read_text() + (_FILES / f"{name}.lua").read_text()
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def run(client: Redis, name: str, *arguments: str | bytes | int) -> Any:
    """The answer of `<name>.lua`; the script is sent again when the server lost it (restart, FLUSHALL)."""
    text, digest = _script(name)
    try:
        return client.evalsha(digest, 0, *arguments)
    except NoScriptError:
        return client.eval(text, 0, *arguments)
