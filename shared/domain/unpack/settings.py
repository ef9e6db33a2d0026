"""The unpack timeout of a namespace, and the minimum interval between retries (catalog.md §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from shared import names
from shared.api.views import OperatorGroup
from shared.domain import durations


@dataclass(frozen=True, slots=True)
class Settings:
    """The deadline of a Job (zero: none), and the minimum interval between failed Jobs (zero: OLM's default)."""

    timeout: timedelta = timedelta()
    retry: timedelta = timedelta()
    problem: str = ""
    """Why the settings of the namespace cannot be read; OLM's message."""


NO_LIMITS = Settings()
"""No deadline, and OLM's default interval."""


def settings(groups: Sequence[OperatorGroup], default_timeout: timedelta) -> Settings:
    """The settings from the annotations of the one OperatorGroup."""
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


def _annotation(group: OperatorGroup, key: str, what: str) -> timedelta | None:
    text = group.annotations.get(key)
    if text is None:
        return None
    try:
        return durations.parse(text)
    except ValueError as error:
        raise ValueError(f"failed to parse unpack {what} annotation({key}: {text}): {error}") from error
