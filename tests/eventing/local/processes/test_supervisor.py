"""The supervisor keeps programs running at their addresses, gives up with a reason, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from eventing.local.processes.supervisor import Program, StartError, Supervisor
from eventing.local.state import Addresses, StateDirectory, is_alive
from tests.kit.installation import SAMPLES
from tests.kit.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def a_supervisor(folder: Path) -> AsyncIterator[Supervisor]:
    directory = StateDirectory(folder)
    directory.make()
    supervisor = Supervisor(directory)
    with directory.claimed():
        try:
            yield supervisor
        finally:
            await supervisor.stop()


def a_registry(supervisor: Supervisor) -> Program:
    port = {"OLMF_PORT": str(supervisor.state.port_of("content"))}
    return Program("content", ("content", "--bundles", str(SAMPLES)), port)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def addresses(supervisor: Supervisor) -> Addresses:
    found = supervisor.state.read()
    assert found is not None
    return found


async def test_a_killed_program_comes_back_at_its_address(tmp_path: Path) -> None:
    async with a_supervisor(tmp_path) as supervisor:
        found = await supervisor.start([a_registry(supervisor)])
        supervisor.publish()
        (before,) = addresses(supervisor).processes
        os.kill(before.pid, signal.SIGKILL)
        await until(lambda: addresses(supervisor).processes[0].pid != before.pid)
        reader, writer = await asyncio.open_connection(*found["content"].split(":"))
        writer.close()
        assert reader
    assert not is_alive(before.pid)


async def test_a_program_comes_back_when_its_machine_lets_it(tmp_path: Path) -> None:
    async with a_supervisor(tmp_path) as supervisor:
        await supervisor.start([a_registry(supervisor)])
        supervisor.publish()
        (before,) = addresses(supervisor).processes
        logs = supervisor.state.logs.rename(tmp_path / "elsewhere")
        with capture_logs() as output:
            os.kill(before.pid, signal.SIGKILL)
            await until(lambda: any("No such file" in str(line.get("code")) for line in output))
        logs.rename(supervisor.state.logs)
        await until(lambda: addresses(supervisor).processes[0].pid != before.pid)


async def test_stop_leaves_nothing(tmp_path: Path) -> None:
    async with a_supervisor(tmp_path) as supervisor:
        redis = Program("redis", ("redis", "--state", str(tmp_path / "redis")))
        await supervisor.start([redis, a_registry(supervisor)])
        supervisor.publish()
        processes = addresses(supervisor).processes
        assert [process.name for process in processes] == ["redis", "content"]
    assert not any(is_alive(process.pid) for process in processes)
    assert supervisor.state.read() is None
    assert not supervisor.state.addresses_file.exists()


async def test_what_cannot_start_is_given_up_with_the_end_of_its_log(tmp_path: Path) -> None:
    async with a_supervisor(tmp_path) as supervisor:
        bad = Program("content", ("content",), {"OLMF_PORT": "no number"})
        with pytest.raises(StartError, match=r"content did not become ready:\n(.*\n)*.*OLMF_PORT='no number'"):
            await supervisor.start([bad])


async def test_programs_come_back_when_the_fork_server_is_killed(tmp_path: Path) -> None:
    async with a_supervisor(tmp_path) as supervisor:
        await supervisor.start([a_registry(supervisor)])
        supervisor.publish()
        (before,) = addresses(supervisor).processes
        os.kill(parent_of(before.pid), signal.SIGKILL)
        await until(lambda: addresses(supervisor).processes[0].pid not in (before.pid, -1))
        await until(lambda: not is_alive(before.pid))


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
