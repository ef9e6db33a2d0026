"""Sets and finds conditions in the status of an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.api.manifest import Manifest, ReadOnly, instant, timestamp


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its times."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


def put_into(conditions: Sequence[Manifest], wanted: Condition, now: datetime) -> list[Manifest]:
    """The list with the condition at its old index; unchanged when it has this content already."""
    stated = {"type": wanted.type, "status": wanted.status, "reason": wanted.reason, "message": wanted.message}
    shown = {key: value for key, value in stated.items() if value}
    for index, old in enumerate(conditions):
        if old.get("type") == wanted.type:
            if all((old.get(key) or "") == value for key, value in stated.items()):
                return list(conditions)
            has_flipped = old.get("status") != wanted.status
            since = None if has_flipped else old.get("lastTransitionTime")
            shown["lastTransitionTime"] = since or timestamp(now)
            return [*conditions[:index], shown, *conditions[index + 1 :]]
    return [*conditions, {**shown, "lastTransitionTime": timestamp(now)}]


def find(status: ReadOnly, kind: str) -> ReadOnly | None:
    """The condition of a type, or None."""
    return next((one for one in status.get("conditions") or () if one.get("type") == kind), None)


def since(status: ReadOnly, kind: str, now: datetime) -> datetime:
    """The `lastTransitionTime` of a condition; `now` when the condition does not exist."""
    return instant((find(status, kind) or {}).get("lastTransitionTime")) or now
