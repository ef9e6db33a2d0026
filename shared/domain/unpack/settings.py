"""How long a namespace lets its bundles unpack, and how soon a failed Job is repeated (catalog.md §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from shared import names
from shared.api.manifest import ReadOnly, annotations_of
from shared.domain import durations


@dataclass(frozen=True, slots=True)
class Settings:
    """Deadline of a Job (zero: none), and the least interval between Jobs that fail (zero: OLM's own pace)."""

    timeout: timedelta = timedelta()
    retry: timedelta = timedelta()
    problem: str = ""
    """Why it cannot be told what the namespace wants, in OLM's words."""


NO_LIMITS = Settings()
"""No deadline, and OLM's own pace."""


def settings(groups: Sequence[ReadOnly], default_timeout: timedelta) -> Settings:
    """What the one OperatorGroup asks for."""
    if len(groups) != 1:
        return Settings(default_timeout, problem=f"found {len(groups)} operatorGroups, expected 1")
    try:
        timeout = _annotation(groups[0], names.UNPACK_TIMEOUT, "timeout")
        retry = _annotation(groups[0], names.UNPACK_RETRY_INTERVAL, "retry")
    except ValueError as error:
        return Settings(default_timeout, problem=str(error))
    if timeout is None or timeout < timedelta():
        timeout = default_timeout
    return Settings(timeout, max(retry or timedelta(), timedelta()))


def _annotation(group: ReadOnly, key: str, what: str) -> timedelta | None:
    text = annotations_of(group).get(key)
    if text is None:
        return None
    try:
        return durations.parse(text)
    except ValueError as error:
        raise ValueError(f"failed to parse unpack {what} annotation({key}: {text}): {error}") from error
