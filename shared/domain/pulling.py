"""The condition `Pulling` of a CatalogSource: how far a pull is that takes long."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import CatalogSource
from shared.domain.conditions import Condition, put_into
from shared.domain.progress import Progress

PULLING: Final = "Pulling"


def shown(source: CatalogSource, progress: Progress, now: datetime) -> Manifest:
    """The status with the condition."""
    reason = progress.phase.capitalize() or PULLING
    condition = Condition(PULLING, "True", reason, str(progress))
    return {**source.status, "conditions": put_into([one.raw for one in source.conditions], condition, now)}


def without(status: ReadOnly) -> Manifest:
    """The status without it."""
    others = [one for one in fields.parts(status, "conditions") if fields.text(one, "type") != PULLING]
    rest = {key: value for key, value in status.items() if key != "conditions"}
    return {**rest, "conditions": others} if others else rest
