"""Sets and finds conditions in the status of an object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.api.manifest import ReadOnly, timestamp
from shared.api.views import StoredCondition

_CONNECTION: Final = re.compile(r"(?:read|write) (?:tcp|udp) \S+?->\S+?: ")
"""Which ports a connection had: other ones each time, so they would change the status each time."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its times."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


def put_into(conditions: Sequence[ReadOnly], desired: Condition, now: datetime) -> list[ReadOnly]:
    """The list with the condition at its old index; unchanged when it has this content already."""
    condition = {"type": desired.type, "status": desired.status, "reason": desired.reason, "message": desired.message}
    shown = {key: value for key, value in condition.items() if value}
    for index, old in enumerate(map(StoredCondition, conditions)):
        if old.type == desired.type:
            if (old.status, old.reason, old.message) == (desired.status, desired.reason, desired.message):
                return list(conditions)
            since = old.since_text if old.status == desired.status else ""
            shown["lastTransitionTime"] = since or timestamp(now)
            return [*conditions[:index], shown, *conditions[index + 1 :]]
    return [*conditions, {**shown, "lastTransitionTime": timestamp(now)}]


def sanitised(message: str) -> str:
    """A message without what differs each time."""
    return _CONNECTION.sub("", message)
