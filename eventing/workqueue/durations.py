"""The histogram of how long runs take: its buckets, and the last traced run of each."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from eventing.workqueue.run_result import RunResult

BOUNDS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Seconds; a longer run is in none of these buckets."""


class Exemplar(NamedTuple):
    """A run whose trace can be looked at."""

    trace: str
    seconds: float
    at: float
    """When it ended, seconds since the epoch."""


class Bucket(NamedTuple):
    """The runs that took at most so long, and longer than the bucket before."""

    bound: float
    runs: int
    exemplar: Exemplar | None = None


def bucket_of(result: RunResult) -> str:
    """The bucket of a run as scripts name it; empty for a longer one, or when nobody knows how long it took."""
    place = bisect_left(BOUNDS, result.took_ms / 1000)
    return f"{BOUNDS[place]:g}" if result.run_id and place < len(BOUNDS) else ""


def buckets(counts: Mapping[bytes, bytes], exemplars: Mapping[bytes, bytes]) -> Mapping[tuple[str, str], list[Bucket]]:
    """The buckets by step and result, the shortest first; one without runs is left out."""
    found: defaultdict[tuple[str, str], list[Bucket]] = defaultdict(list)
    for key, count in counts.items():
        step, result, bound = key.decode().split("|")
        found[step, result].append(Bucket(float(bound), int(count), _exemplar(exemplars.get(key))))
    return {series: sorted(those) for series, those in found.items()}


def _exemplar(text: bytes | None) -> Exemplar | None:
    if text is None:
        return None
    trace, micros, at_ms = text.decode().split("|")
    return Exemplar(trace, int(micros) / 1e6, int(at_ms) / 1000)
