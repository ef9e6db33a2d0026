"""Starts the programs of one installation, keeps them running, and stops them in reverse order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from eventing.local.state import Addresses, Process, StateDirectory
from eventing.local.tie import READY_FILE, TIED

log = structlog.get_logger()

STOP_SECONDS = 5
"""How long a program may take to end before it is killed."""
START_SECONDS = 30
"""How long a program may take to become ready."""
BACK_OFF_SECONDS = (0.1, 0.5, 2, 5)
"""Pauses before a program that died again is started again."""


class StartError(RuntimeError):
    """A program did not become ready; the message ends with the last lines of its log."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: `olmf run <words>`."""

    name: str
    words: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Running:
    """A started program and what it said about itself."""

    program: Program
    task: asyncio.Task[None]
    process: asyncio.subprocess.Process | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    address: str = ""
    probe: str = ""


class Supervisor:
    """Owns the programs of one state directory."""

    def __init__(self, state: StateDirectory) -> None:
        self.state = state
        self.addresses = Addresses(state=str(state.root), supervisor=os.getpid())
        self._running: list[list[Running]] = []
        """What was started together, in the order of starting."""

    async def start(self, programs: Sequence[Program]) -> dict[str, str]:
        """Start the programs at once and wait until all are ready; their addresses by name. StartError otherwise."""
        started = [self._launch(program) for program in programs]
        self._running.append(started)
        waits = [asyncio.create_task(running.ready.wait()) for running in started]
        _, late = await asyncio.wait(waits, timeout=START_SECONDS)
        for wait in late:
            wait.cancel()
        for running in started:
            if not running.ready.is_set():
                raise StartError(f"{running.program.name} did not become ready:\n{self._tail(running.program.name)}")
        return {running.program.name: running.address for running in started}

    def publish(self, **changes: object) -> None:
        """Write the present processes, and the given addresses, to the state directory."""
        all_running = [running for together in self._running for running in together]
        processes = tuple(
            Process(running.program.name, running.process.pid, running.probe)
            for running in all_running
            if running.process
        )
        self.addresses = replace(self.addresses, processes=processes, **changes)  # type: ignore[arg-type]  # by field name
        self.state.write(self.addresses)

    async def stop(self) -> None:
        """Stop all programs, what was started last first; none survives."""
        for together in reversed(self._running):
            for running in together:
                running.task.cancel()
            await asyncio.gather(*(running.task for running in together), return_exceptions=True)
        self.state.addresses_file.unlink(missing_ok=True)

    def _launch(self, program: Program) -> Running:
        running = Running(program, task=None)  # type: ignore[arg-type]  # set in the next line, before anybody sees it
        running.task = asyncio.create_task(self._keep(running))
        return running

    async def _keep(self, running: Running) -> None:
        for attempt in range(sys.maxsize):
            try:
                running.process = await self._spawn(running.program)
                await self._await_ready(running)
                code = await running.process.wait()
            finally:
                await _end(running.process)
            log.warning("program_died", program=running.program.name, code=code, attempt=attempt)
            await asyncio.sleep(BACK_OFF_SECONDS[min(attempt, len(BACK_OFF_SECONDS) - 1)])

    async def _spawn(self, program: Program) -> asyncio.subprocess.Process:
        ready = self.state.ready_file(program.name)
        ready.unlink(missing_ok=True)
        with (self.state.logs / f"{program.name}.log").open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "eventing.cli.main", "run", *program.words),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, **program.environ, TIED: "1", READY_FILE: str(ready)},
                start_new_session=True,  # Ctrl-C is for the supervisor, which stops us in order
            )

    async def _await_ready(self, running: Running) -> None:
        place, process = self.state.ready_file(running.program.name), running.process
        while process is not None and process.returncode is None:
            if place.exists():
                said = json.loads(place.read_text())
                running.address, running.probe = said["address"], said["probe"]
                again = running.ready.is_set()
                running.ready.set()
                if again:
                    self.publish()
                return
            await asyncio.sleep(0.02)

    def _tail(self, program: str) -> str:
        text = (self.state.logs / f"{program}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-8:])


async def _end(process: asyncio.subprocess.Process | None) -> None:
    if process is None or process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
