"""The Lua scripts: loaded from the files beside this one, sent once, called by digest."""

from __future__ import annotations

import hashlib
from contextlib import closing, suppress
from functools import cache
from importlib import resources
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError, ResponseError

from eventing.events.job import INSTALL, RESOLVE
from eventing.workqueue.client import UNREACHABLE, NewerFormat, connect

NEWER = "NEWERFORMAT "
"""Begins the error of `format.lua`."""
_FILES = resources.files(__package__)
_SHARED = ("format", "dead_letters", "keys", "order", "queue")
"""In front of every script, in this order."""
OBSERVED = (RESOLVE,)
"""Steps whose newest durations are kept."""
RECENT_SECONDS, MOST_RECENT = 600, 1000
"""How old these may be, as in the library of Prometheus that OLM uses, and how many there are of each result."""


@cache
def _script(name: str) -> tuple[str, str]:
    text = "".join([_constants(), *((_FILES / f"{part}.lua").read_text() for part in (*_SHARED, name))])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _constants() -> str:
    """How far each step of an install is from its end, and whose durations are kept, as Lua."""
    rows = (f"['{step}'] = {distance}" for distance, step in enumerate(INSTALL))
    observed = (f"['{step}'] = true" for step in OBSERVED)
    return (
        f"local DISTANCES, FURTHEST = {{{', '.join(rows)}}}, {len(INSTALL)}\n"
        f"local OBSERVED, RECENT_SECONDS, MOST_RECENT = {{{', '.join(observed)}}}, {RECENT_SECONDS}, {MOST_RECENT}\n"
    )


def run(client: Redis, name: str, *arguments: str | bytes | int) -> Any:
    """The answer of `<name>.lua`; the script is sent again when the server lost it (restart, FLUSHALL). NewerFormat."""
    text, digest = _script(name)
    try:
        try:
            return client.evalsha(digest, 0, *arguments)
        except NoScriptError:
            return client.eval(text, 0, *arguments)
    except ResponseError as error:
        if (sentence := str(error).removeprefix(NEWER)) != str(error):
            raise NewerFormat(sentence) from error
        raise


def check_format(url: str) -> None:
    """NewerFormat when a newer release wrote what a Redis holds; one that does not answer refuses nobody."""
    with suppress(*UNREACHABLE), closing(connect(url)) as client:
        run(client, "count")
