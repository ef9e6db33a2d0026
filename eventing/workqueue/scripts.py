"""The Lua scripts: loaded from the files beside this one, sent once, called by digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from importlib import resources
from typing import Any, Final, TypeAlias

from redis import Redis
from redis.exceptions import NoPermissionError, NoScriptError, ResponseError

from eventing.events.job import INSTALL, RESOLVE, WAITS_FOR
from eventing.workqueue.client import UNREACHABLE, NewerFormat, connect
from shared.config import SettingError

Argument: TypeAlias = str | bytes | int | float

NO_CLUSTER: Final = (
    "OLMF_REDIS_URL or REDIS_URL: a Redis Cluster cannot hold the queue, because the end of a run, the jobs that it "
    "enqueues and the next claim are one change of many keys; name one server, with replicas if it has to survive"
)
NEWER = "NEWERFORMAT "
"""Begins the error of `format.lua`."""
_FILES = resources.files(__package__)
_SHARED = ("format", "dead_letters", "keys", "order", "queue")
"""In front of every script, in this order."""
OBSERVED = (RESOLVE,)
"""Steps whose newest durations are kept."""
RECENT_SECONDS, MOST_RECENT = 600, 1000
"""How old these may be, as in the library of Prometheus that OLM uses, and how many there are of each result."""


_BOTH = """
local function one(ARGV)
%s
end
local function other(ARGV)
%s
end
local function slice(first, last)
  local found = {}
  for i = first, last do found[#found + 1] = ARGV[i] end
  return found
end
local count = tonumber(ARGV[1])
return {one(slice(2, count + 1)), other(slice(count + 2, #ARGV))}
"""
"""Two scripts as one: everything that they do happens, or nothing."""


@cache
def script(name: str) -> tuple[str, str]:
    """The text of a script, or of two, and the digest by which it is called."""
    parts = [_read(part) for part in name.split("+")]
    text = "".join([_constants(), *map(_read, _SHARED), _BOTH % (parts[0], parts[1]) if parts[1:] else parts[0]])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _read(name: str) -> str:
    return (_FILES / f"{name}.lua").read_text()


def _constants() -> str:
    """How far each step of an install is from its end, what steps wait for, and whose durations are kept, as Lua."""
    rows = (f"['{step}'] = {distance}" for distance, step in enumerate(INSTALL))
    waits_for = (f"['{step}'] = {{{', '.join(map(repr, others))}}}" for step, others in WAITS_FOR.items())
    observed = (f"['{step}'] = true" for step in OBSERVED)
    return (
        f"local DISTANCES, FURTHEST = {{{', '.join(rows)}}}, {len(INSTALL)}\n"
        f"local WAITS_FOR = {{{', '.join(waits_for)}}}\n"
        f"local OBSERVED, RECENT_SECONDS, MOST_RECENT = {{{', '.join(observed)}}}, {RECENT_SECONDS}, {MOST_RECENT}\n"
    )


def run(client: Redis, name: str, *arguments: Argument) -> Any:
    """The answer of `<name>.lua`; the script is sent again when the server lost it (restart, FLUSHALL). NewerFormat.

    The name `<one>+<other>` is that of both, one after the other in one call: what they return, in a list. Their
    arguments are joined by `both`.
    """
    text, digest = script(name)
    try:
        try:
            return client.evalsha(digest, 0, *arguments)
        except NoScriptError:
            return client.eval(text, 0, *arguments)
    except ResponseError as error:
        if newer := _newer(error):
            raise newer from error
        raise


def both(one: Sequence[Argument], other: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments of two scripts that are one."""
    return (len(one), *one, *other)


def run_each(client: Redis, name: str, calls: Sequence[Sequence[Argument]]) -> list[Any]:
    """The answers of a script to several calls, which travel together; each is carried out by itself, in order."""
    if len(calls) < 2:
        return [run(client, name, *arguments) for arguments in calls]
    digest = script(name)[1]
    pipe = client.pipeline(transaction=False)
    for arguments in calls:
        pipe.evalsha(digest, 0, *arguments)
    answers = pipe.execute(raise_on_error=False)
    for index, arguments in enumerate(calls):
        if isinstance(answers[index], NoScriptError):
            answers[index] = run(client, name, *arguments)
        elif isinstance(answers[index], Exception):
            raise _newer(answers[index]) or answers[index]
    return answers


def _newer(error: Exception) -> NewerFormat | None:
    """What an error says of the format."""
    _, is_newer, sentence = str(error).partition(NEWER)
    return NewerFormat(sentence) if is_newer else None


def check_format(url: str) -> None:
    """NewerFormat when a newer release wrote what a Redis holds, SettingError for a cluster of them.

    One that does not answer refuses nobody.
    """
    with suppress(*UNREACHABLE), closing(connect(url)) as client:
        with suppress(NoPermissionError):  # why: some let nobody ask that
            if client.info("server").get("redis_mode") == "cluster":
                raise SettingError(NO_CLUSTER)
        run(client, "count")
