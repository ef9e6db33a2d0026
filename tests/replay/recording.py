"""A plugin of pytest that keeps a capture of each test that passed on a running installation.

`pytest -p tests.replay.recording --captures FOLDER` writes one for each test, named after it: what the installation
received and decided from the test's first fixture to its last line, and the objects that this is about. With `--named`
only tests of these names run.
"""

from __future__ import annotations

import contextlib
import lzma
import re
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from eventing.diagnosis.replay import present_objects
from eventing.journal import JournalIndex, RedisJournal
from eventing.journal.journal_index import writes_of
from eventing.local.marker import InstallationMarker
from eventing.local.state import StateDirectory
from eventing.workqueue import connect
from shared.api.manifest import Manifest
from shared.kinds import Ref
from tests.kit.captures import captured
from tests.kit.installation import Installation

_BODIES_MS = 60_000
"""A body that a run read may be in an entry that is so much older."""
_NEUTRAL = b"host:/state"
"""Stands for the machine and the folder of an installation, as long as what it replaces: a tar states sizes."""
_FOLDER = pytest.StashKey[Path]()
_BEGAN = pytest.StashKey[int]()
_STARTED: dict[Path, int] = {}
"""When an installation was ready, by its state directory."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    parser.addoption("--captures", type=Path, required=True, help="Folder that gets a capture of each test.")
    parser.addoption("--named", default="", help="Names of captures, with commas: run no other test.")


def pytest_configure(config: pytest.Config) -> None:
    """Where they go."""
    config.stash[_FOLDER] = config.getoption("--captures")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not named."""
    if named := config.getoption("--named"):
        items[:] = [item for item in items if name_of(item.name) in named.split(",")]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    """Note when an installation was ready: how it started is no part of a test."""
    made = yield
    if (found := _installation(made)) is not None:
        _STARTED.setdefault(found.state, _now())
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Note when the test began."""
    item.stash[_BEGAN] = _now()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Keep what happened when the test has passed, before its fixtures clean up."""
    yield
    assert isinstance(item, pytest.Function)
    found = next(filter(None, map(_installation, item.funcargs.values())), None)
    if found is not None:
        since = max(item.stash[_BEGAN], _STARTED.get(found.state, 0))
        keep(found, item.config.stash[_FOLDER] / f"{name_of(item.name)}.tar.xz", since)


def keep(installation: Installation, path: Path, since_ms: int) -> None:
    """Capture what an installation did since then."""
    addresses = StateDirectory(installation.state).read()
    assert addresses is not None
    with contextlib.closing(connect(addresses.redis)) as client:
        journal = RedisJournal(client)
        index, key = JournalIndex.of(journal.entries(f"{since_ms - _BODIES_MS}-0")), journal.secret()
    path.parent.mkdir(parents=True, exist_ok=True)
    objects = _objects(installation, index, since_ms)
    captured(index, whole := path.with_suffix(""), objects, key=key, since_ms=since_ms)
    mark = str(InstallationMarker.of(StateDirectory(installation.state))).encode()
    path.write_bytes(packed(whole.read_bytes().replace(mark, _NEUTRAL.ljust(len(mark), b"-"))))
    whole.unlink()


def packed(tar: bytes) -> bytes:
    """A capture as small as it gets."""
    return lzma.compress(tar, preset=9 | lzma.PRESET_EXTREME)


def _objects(installation: Installation, index: JournalIndex, since_ms: int) -> Iterator[Manifest]:
    """The objects that something was received about, decided about or written."""
    runs = [run for run in index.runs.values() if run.at >= since_ms]
    events = [event for event in index.events.values() if event.at >= since_ms]
    writes = [write for run in runs for write in writes_of(run)]
    sent = {write.ref for write in writes if write.did == "sent"}
    refs = [*(write.ref for write in writes), *(run.ref for run in runs), *(event.ref for event in events)]
    about = set(map(Ref.parse, refs))
    return (one for one in present_objects(installation.cluster, sent) if Ref.of(one) in about)


def name_of(test: str) -> str:
    """The name of a capture: what the test shows, without its target."""
    words = re.sub(r"\W+", "_", test.removeprefix("test_"))
    return re.sub(r"_(sandbox|real)(?=_|$)", "", words).strip("_")


def _installation(value: object) -> Installation | None:
    """The installation itself, or that of a fixture that holds one."""
    locked = (value, getattr(value, "installation", None), getattr(value, "host", None))
    return next((one for one in locked if isinstance(one, Installation)), None)


def _now() -> int:
    return time.time_ns() // 1_000_000
