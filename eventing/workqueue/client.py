"""Connections to Redis that retry through a short outage of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import (
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from shared.config import SettingError

Client: TypeAlias = Redis
"""The type that `connect` returns, for annotations outside this package."""
UNREACHABLE = (RedisConnectionError, RedisTimeoutError)
"""The exceptions that any call raises when Redis stays unavailable after the retries."""
REFUSED = RedisError
"""The exception of any call that Redis does not carry out: it is unavailable, or full, for example."""


class NewerFormat(ResponseError):
    """A newer release wrote what is stored; the message is for people. Nothing was read or changed."""


class QueueFull(Exception):
    """So many jobs wait that this one is not taken; the sender of its event should come again later."""


_PAUSED = (OutOfMemoryError, ReadOnlyError, MasterDownError, ClusterDownError, TryAgainError, NewerFormat)
_PAUSED_WORDS = frozenset({"NOREPLICAS", "MISCONF", "MASTERDOWN", "BUSY", "UNKILLABLE", "OOM", "READONLY"})
_IN_PIPELINE = "caused error: "
"""What the client puts in front of the error of a command of a pipeline."""
LONGEST_BLOCK_SECONDS = 10
"""Maximum time for which a command may block; the timeout of the socket is longer."""
_PROBE_SECONDS = 2
BLOCK_OVERRUN_SECONDS = 0.1
"""How much later than its timeout a blocked command may end: an idle Redis looks at its clock ten times a second."""


def is_paused(error: BaseException) -> bool:
    """Whether Redis accepts no change from us at present: it is full, a replica, or of a newer release, for example.

    Only the state of the server is the reason, not what was asked of it, so the same call may succeed later.
    """
    word = str(error).rpartition(_IN_PIPELINE)[2].split(" ")[0]
    return isinstance(error, _PAUSED) or (isinstance(error, RedisError) and word in _PAUSED_WORDS)


def is_temporary(error: BaseException) -> bool:
    """Whether a call failed for a reason that passes by itself: Redis is unavailable, or accepts no changes."""
    return isinstance(error, UNREACHABLE) or is_paused(error)


def connect(url: str) -> Redis:
    """A client for `redis://…`, `rediss://…` or `unix://…` that returns bytes and retries for about a second."""
    if not url:
        raise SettingError("no Redis: set OLMF_REDIS_URL or REDIS_URL, or start everything with `olmf up`")
    try:
        return Redis.from_url(
            url,
            socket_timeout=2 * LONGEST_BLOCK_SECONDS,
            socket_connect_timeout=2,
            retry=Retry(ExponentialBackoff(cap=0.3, base=0.01), 7),
            retry_on_error=[RedisConnectionError, RedisTimeoutError],
        )
    except ValueError as error:
        raise SettingError(f"OLMF_REDIS_URL or REDIS_URL: {error}") from error  # a URL may hold a password


def answering(url: str) -> Callable[[], bool]:
    """A function that tells soon whether Redis answers now; for probes."""
    if not url:
        return lambda: False
    limits = {"socket_timeout": _PROBE_SECONDS, "socket_connect_timeout": _PROBE_SECONDS}
    client = Redis.from_url(url, **limits, retry=Retry(NoBackoff(), 0))

    def answers() -> bool:
        try:
            return bool(client.ping())
        except RedisError:
            return False

    return answers
