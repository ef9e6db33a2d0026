"""What an OperatorCondition says (csv.md §11)."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import ABSENT, Object, StoredCondition


class OperatorCondition(Object):
    """What an operator reports of itself, and what an administrator says instead."""

    __slots__ = ()

    reported = field.views(StoredCondition, "spec", "conditions")
    """`spec.conditions`: what the operator says."""

    def override(self, kind: str) -> StoredCondition:
        """What an administrator says instead; `ABSENT` when nothing."""
        overrides = StoredCondition.each(fields.parts(self.raw, "spec", "overrides"))
        return next((one for one in overrides if one.type == kind), ABSENT)
