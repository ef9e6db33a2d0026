"""What a run read of catalogs, as the queue keeps it until the next run of the same step about the same object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from eventing.events.job import RESOLVE, TRACK, Job
from eventing.runner.steps import Steps
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, SUBSCRIPTION, Ref

_END: Final = b"\n"
_STEPS: Final[Mapping[str, str]] = {NAMESPACE.kind: RESOLVE, SUBSCRIPTION.kind: TRACK}
"""Kind to the step whose runs read catalogs for an object of that kind.

What else decides what such a step asks of catalogs has to enqueue it when it changes (`eventing/routes.py`): what it
read last is taken for what it would read now.
"""


@dataclass(frozen=True, slots=True)
class KeptReads:
    """Implements `ReadSets`."""

    kept: Callable[[Sequence[Job]], Iterable[bytes]]
    """What the queue keeps of each entry."""
    steps: Steps

    def of(self, refs: Sequence[Ref]) -> tuple[Manifest, ...]:
        """What the last decision about each read; empty where nothing is known."""
        jobs = [Job(_STEPS[ref.kind], ref) for ref in refs]
        found = zip(jobs, self.kept(jobs), strict=True)
        return tuple(decoded(self.steps[job.step].code, one) for job, one in found)


def encoded(code: str, read_set: Manifest | None) -> bytes:
    """The bytes that are kept of a run of that code; none where nothing is known."""
    return b"" if read_set is None else code.encode() + _END + orjson.dumps(read_set)


def decoded(code: str, kept: bytes) -> Manifest:
    """The inverse; nothing of what other code read, which may read something else today."""
    of_code, _, content = kept.partition(_END)
    found: Manifest = orjson.loads(content) if content and of_code == code.encode() else {}
    return found
