"""What a run read of catalogs, as the queue keeps it until the next run of the same step about the same object."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import orjson

import shared
from eventing.events.job import RESOLVE, TRACK, Job
from eventing.runner.steps import Steps
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, SUBSCRIPTION, Ref

_END: Final = b"\n"
LARGEST: Final = 16 * 1024
"""Bytes that are kept of a run. Who asked for more is told of every change: a tenant decides how much he asks for."""
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
    forget_others: Callable[[Sequence[Job]], int]
    """Makes the queue forget what it keeps of all other entries; returns of how many."""
    steps: Steps

    def of(self, refs: Sequence[Ref]) -> tuple[Manifest, ...]:
        """What the last decision about each read; empty where nothing is known."""
        jobs = _jobs(refs)
        found = zip(jobs, self.kept(jobs), strict=True)
        return tuple(decoded(self.steps[job.step].code, one) for job, one in found)

    def keep_only(self, refs: Sequence[Ref]) -> int:
        """Forget what was read for others; returns for how many."""
        return self.forget_others(_jobs(refs))


def _jobs(refs: Sequence[Ref]) -> list[Job]:
    return [Job(_STEPS[ref.kind], ref) for ref in refs]


def encoded(code: str, read_set: Manifest | None) -> bytes:
    """The bytes that are kept of a run of that code; none where nothing is known, or too much was read."""
    kept = b"" if read_set is None else _mark(code) + _END + orjson.dumps(read_set)
    return kept if len(kept) <= LARGEST else b""


def decoded(code: str, kept: bytes) -> Manifest:
    """The inverse; nothing of what other code read, which may read something else today."""
    of_code, _, content = kept.partition(_END)
    found: Manifest = orjson.loads(content) if content and of_code == _mark(code) else {}
    return found


def _mark(code: str) -> bytes:
    return f"{code} {_rules()}".encode()


@cache
def _rules() -> str:
    """A digest of all modules that steps share: they decide, too, what is asked and how it is stored."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(*shared.__path__).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
