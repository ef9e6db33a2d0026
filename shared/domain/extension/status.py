"""Conditions of extensions and their revisions: which generation they are about, and since when they hold."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from shared.api.manifest import Manifest, timestamp
from shared.api.views import Object
from shared.domain.conditions import Condition

LONGEST: Final = 32768
"""Bytes of a message (v1.md §11)."""
_CUT: Final = "\n\n... [message truncated]"


def cut(message: str) -> str:
    """A message that a condition takes."""
    encoded = message.encode()
    if len(encoded) <= LONGEST:
        return message
    return encoded[: LONGEST - len(_CUT)].decode(errors="ignore") + _CUT


def with_conditions(obj: Object, desired: Iterable[Condition], now: datetime) -> list[Manifest]:
    """The conditions of an object after these were stated: in their old places, the others as they were."""
    found = {one.type: dict(one.raw) for one in obj.conditions}
    for condition in desired:
        old = obj.condition(condition.type)
        since = old.since_text if old.status == condition.status else ""
        found[condition.type] = {
            "type": condition.type, "status": condition.status, "reason": condition.reason,
            "message": cut(condition.message), "observedGeneration": obj.generation,
            "lastTransitionTime": since or timestamp(now),
        }  # fmt: skip
    return list(found.values())
