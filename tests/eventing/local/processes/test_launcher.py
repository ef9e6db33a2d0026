"""The fork server starts `olmf` processes, tells how they end, and never leaves one behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from eventing.local.processes import LOST, Forked, Launcher
from eventing.local.state import is_alive
from tests.kit.waiting import PATIENCE_SECONDS

STAYS = ("run", "redis")
"""A program that stays, and that starts another one."""


@asynccontextmanager
async def a_launcher() -> AsyncIterator[Launcher]:
    launcher = Launcher("eventing.cli.main")
    try:
        yield launcher
    finally:
        await launcher.close()


async def staying(launcher: Launcher, folder: Path, name: str = "redis") -> Forked:
    """A program that is ready, with its server below it."""
    ready = folder / f"{name}.ready"
    environ = {**os.environ, "OLMF_READY_FILE": str(ready)}
    process = await launcher.start(name, (*STAYS, "--state", str(folder / name)), environ, folder / f"{name}.log")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not ready.exists():
            await asyncio.sleep(0.01)
    return process


def group(leader: int) -> list[int]:
    """The living processes of a group."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it ended while we looked
            continue
        if int(its_group) == leader and state != "Z":
            found.append(int(entry.name))
    return found


def test_a_program_hears_the_signal_that_comes_with_its_birth(tmp_path: Path) -> None:
    request = {
        "run": "one",
        "arguments": [*STAYS, "--state", str(tmp_path)],
        "environ": {},
        "log": str(tmp_path / "log"),
    }
    output = subprocess.run(
        [sys.executable, "-m", "eventing.local.processes", "eventing.cli.main"],
        input=json.dumps(request) + "\n", capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    ended = json.loads(output.splitlines()[-1])
    assert ended["code"] != -signal.SIGKILL, "it was asked, not killed"


async def until_gone(leader: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while group(leader):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("arguments", "code"), [(("--version",), 0), (("no-such-verb",), 2)])
async def test_a_process_ends_with_its_code_and_leaves_its_output(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    async with a_launcher() as launcher:
        assert await launcher.run("one", arguments, os.environ, tmp_path / "log") == code
    assert (tmp_path / "log").read_text()


async def test_a_process_has_the_environment_that_it_was_given_and_no_other(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        environ = {"PATH": os.environ["PATH"], "OLMF_PORT": "no number"}
        assert await launcher.run("one", ("run", "endpoint"), environ, tmp_path / "log") == 2
    assert "OLMF_PORT='no number'" in (tmp_path / "log").read_text()


async def test_stopping_ends_a_program_and_what_it_started(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        process = await staying(launcher, tmp_path)
        assert len(group(process.pid)) >= 1
        await launcher.stop(process, PATIENCE_SECONDS)
        assert process.ended.result() == 0, "it was asked, and ended by itself"
        await until_gone(process.pid)


async def test_who_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        process = await staying(launcher, tmp_path)
        os.kill(process.pid, signal.SIGSTOP)
        await launcher.stop(process, 0.05)
        assert process.ended.result() == -signal.SIGKILL
        await until_gone(process.pid)


async def test_a_cancelled_run_is_killed(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        run = asyncio.create_task(
            launcher.run("one", (*STAYS, "--state", str(tmp_path / "redis")), os.environ, tmp_path / "log")
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (tmp_path / "redis").exists():
                await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        again = await staying(launcher, tmp_path, "two")
        assert is_alive(again.pid)


async def test_a_killed_program_takes_what_it_started_with_it(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        process = await staying(launcher, tmp_path)
        os.kill(process.pid, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await process.ended == -signal.SIGKILL
        await until_gone(process.pid)


async def test_a_killed_fork_server_takes_its_programs_with_it_and_a_new_one_starts_others(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        server = await launcher.warm_up()
        process = await staying(launcher, tmp_path)
        server.kill()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await process.ended == LOST
        while is_alive(process.pid):
            await asyncio.sleep(0.01)
        again = await staying(launcher, tmp_path, "two")
        assert is_alive(again.pid)


async def test_closing_ends_every_program(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        process = await staying(launcher, tmp_path)
    assert not is_alive(process.pid)
    await until_gone(process.pid)


async def test_a_process_that_cannot_write_its_log_reports_why_to_the_parent(tmp_path: Path) -> None:
    async with a_launcher() as launcher:
        assert await launcher.run("one", ("--version",), os.environ, tmp_path / "absent" / "log") == 1
