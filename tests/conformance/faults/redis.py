"""A Redis that is far away."""

from __future__ import annotations

from tests.bench.redis_latency import FAR
from tests.bench.slow_redis import slow_redis
from tests.conformance.faults.worlds import Worlds
from tests.conformance.lifecycle.outages import World, nothing_happens, seconds_to_converge
from tests.kit.installation import SAMPLES, installed


def answers_late(worlds: Worlds) -> str:
    """Every answer of Redis comes later."""
    folder = worlds.fresh_folder()
    with (
        slow_redis(folder, FAR) as slow,
        installed(folder / "olmf", "--bundles", str(SAMPLES), environ=slow.environ) as installation,
    ):
        seconds = seconds_to_converge(World(installation), "redis-is-slow", nothing_happens, seconds=0)
        return f"nothing; {seconds:.1f} s with it, one run at a time"
