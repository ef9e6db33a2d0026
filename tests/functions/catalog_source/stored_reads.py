"""What decisions read, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from shared.api.manifest import Manifest
from shared.kinds import Ref


@dataclass(frozen=True, slots=True)
class StoredReads:
    """Implements `ReadSets`; what is stored goes through JSON, as in the queue."""

    stored: Mapping[Ref, Manifest | None] = field(default_factory=dict)

    def of(self, refs: Sequence[Ref]) -> tuple[Manifest, ...]:
        return tuple(orjson.loads(orjson.dumps(self.stored.get(ref) or {})) for ref in refs)

    def keep_only(self, refs: Sequence[Ref]) -> int:
        return 0
