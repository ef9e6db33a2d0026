"""Starts the programs of one installation, keeps them running, and stops them in reverse order."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from eventing.local.processes import LOST, Forked, Launcher, without_parent_watch
from eventing.local.processes.parent_watch import READY_FILE
from eventing.local.state import Addresses, Process, StateDirectory

log = structlog.get_logger()

WARM = (
    "eventing.cli.main", "eventing.local.apiserver.server", "eventing.local.image_registry",
    "eventing.local.redis_server", "eventing.local.kubelet.program",
    "eventing.wiring.watcher", "eventing.wiring.worker", "eventing.wiring.endpoint", "eventing.wiring.scheduler",
    "shared.adapters.keys.x509",
)  # fmt: skip
"""What the programs import, imported once for all."""
STOP_SECONDS = 5
"""How long a program may take to end before it is killed."""
START_SECONDS = 120
"""How long a program may take to become ready."""
BACK_OFF_SECONDS = (0.1, 0.5, 2, 5)
"""Pauses before a program that died again is started again."""
STEADY_SECONDS = 60
"""A program that ran that long is restarted at once when it dies."""
FALSE_STARTS = 3
"""How often a program may die before it was ready for the first time."""


class StartError(RuntimeError):
    """A program did not become ready; the message ends with the last lines of its log."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code
        """The exit code of the program, if the message is its own."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: `olmf run <words>`."""

    name: str
    words: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Running:
    """A started program, and the address and probe that it announced."""

    program: Program
    task: asyncio.Task[None]
    process: Forked | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    address: str = ""
    probe: str = ""


class Supervisor:
    """Starts, restarts and stops the programs of one state directory."""

    def __init__(self, state: StateDirectory) -> None:
        self.state = state
        self.addresses = Addresses(state=str(state.root), supervisor=os.getpid())
        self._launcher = Launcher(*WARM)
        self._running: list[list[Running]] = []
        """Groups of programs that were started together, in the order of their starts."""

    async def begin(self) -> None:
        """Prepare for programs, while this process has no other thread."""
        await self._launcher.begin()

    async def start(self, programs: Sequence[Program]) -> dict[str, str]:
        """Start the programs together and return their addresses by name. StartError when one is not ready in time."""
        started = [self._launch(program) for program in programs]
        self._running.append(started)
        ready = asyncio.create_task(_all_ready(started))
        keepers = [running.task for running in started]
        await asyncio.wait([ready, *keepers], timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            return {running.program.name: running.address for running in started}
        ready.cancel()
        late = min(started, key=lambda running: (not running.task.done(), running.ready.is_set()))
        raise StartError(f"{late.program.name} did not become ready:\n{self._tail(late.program.name)}")

    def publish(self, **changes: object) -> None:
        """Write the present processes, and the given addresses, to the state directory."""
        all_running = [running for together in self._running for running in together]
        processes = tuple(
            Process(running.program.name, running.process.pid, running.probe)
            for running in all_running
            if running.process and running.process.pid != LOST
        )
        self.addresses = replace(self.addresses, processes=processes, **changes)  # type: ignore[arg-type]  # by field name
        self.state.write(self.addresses)

    async def stop(self) -> None:
        """Stop all programs, in the reverse order of their starts."""
        for together in reversed(self._running):
            for running in together:
                running.task.cancel()
            await asyncio.gather(*(running.task for running in together), return_exceptions=True)
        await self._launcher.close()
        self.state.addresses_file.unlink(missing_ok=True)

    def _launch(self, program: Program) -> Running:
        running = Running(program, task=None)  # type: ignore[arg-type]  # set in the next line
        running.task = asyncio.create_task(self._keep(running))
        return running

    async def _keep(self, running: Running) -> None:
        died = 0
        while True:
            started = time.monotonic()
            code: int | str
            try:
                running.process = await self._spawn(running.program)
                await self._await_ready(running)
                code = await asyncio.shield(running.process.ended)
            except OSError as error:  # e.g. a full disk; the program is started again
                code = str(error)
            finally:
                if running.process and not running.process.ended.done():
                    await self._launcher.stop(running.process, STOP_SECONDS)
            died = 1 if time.monotonic() - started > STEADY_SECONDS else died + 1
            log.warning("program_died", program=running.program.name, code=code, times=died)
            if died >= FALSE_STARTS and not running.ready.is_set():
                return
            await asyncio.sleep(BACK_OFF_SECONDS[min(died, len(BACK_OFF_SECONDS)) - 1])

    async def _spawn(self, program: Program) -> Forked:
        ready = self.state.ready_file(program.name)
        ready.unlink(missing_ok=True)
        environ = {
            "OLMF_LOG_JSON": "false",
            **without_parent_watch(os.environ),
            **program.environ,
            READY_FILE: str(ready),
        }
        log = self.state.logs / f"{program.name}.log"
        log.touch()
        return await self._launcher.start(program.name, ("run", *program.words), environ, log)

    async def _await_ready(self, running: Running) -> None:
        place, process = self.state.ready_file(running.program.name), running.process
        while process is not None and not process.ended.done():
            if place.exists():
                published = json.loads(place.read_text())
                running.address, running.probe = published["address"], published["probe"]
                again = running.ready.is_set()
                running.ready.set()
                if again:
                    self.publish()
                return
            await asyncio.sleep(0.02)

    def _tail(self, program: str) -> str:
        text = (self.state.logs / f"{program}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-8:])


async def _all_ready(started: Sequence[Running]) -> None:
    for running in started:
        await running.ready.wait()
