"""What any test may ask for."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from eventing.local import redis_server
from eventing.local.redis_server import RedisServer
from eventing.workqueue import connect

_OF_TESTS = ("OLMF_CRASHES", "OLMF_ATTACKS", "OLMF_ATTACK_RATE", "OLMF_REAL_KUBECONFIG", "OLMF_REAL_REDIS")
for _name in [name for name in os.environ if name.startswith("OLMF_") and name not in _OF_TESTS]:
    del os.environ[_name]

# A property is not timed, because a loaded machine would fail it, and has the same examples in every run: what passed
# here passes in CI. `--hypothesis-profile=default` searches further, `quick` (of `make quick`) less far.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=10)
settings.load_profile("repeatable")

# A traceback as Python prints it: with the values of all variables one takes seconds to be laid out.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

pytest_plugins = ["tests.kit.measuring"]

_RARELY = 50_000, 20, 50
"""How much is allocated before garbage is looked for: with the usual 700, a tenth of the time of these tests."""
gc.disable()  # while tests are collected: hardly anything of that is garbage


def pytest_collection_finish() -> None:
    """What was collected stays to the end, so that nobody looks for garbage in it again and again, nor often."""
    gc.freeze()
    gc.set_threshold(*_RARELY)
    gc.enable()


@pytest.fixture(scope="session")
def _redis() -> Iterator[str]:
    if url := os.environ.get("OLMF_REAL_REDIS"):
        yield url
        return
    server = redis_server.start()
    yield server.url
    server.stop()


@pytest.fixture
def redis_url(_redis: str) -> str:
    """A real, empty Redis, one per test process; `OLMF_REAL_REDIS` names one whose content may go, for one process."""
    with connect(_redis) as client:
        client.flushdb()
    return _redis


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of this test alone, which keeps its data: it may be killed."""
    server = redis_server.start(tmp_path / "redis")
    yield server
    server.stop()
