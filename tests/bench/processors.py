"""Processor time by program: ours, and those of the control plane that the bench started."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tests.kit.installation import Installation

TICKS = os.sysconf("SC_CLK_TCK")


def mark(installation: Installation | None = None) -> Callable[[], Mapping[str, float]]:
    """What answers with the seconds of processor time of each program since now, with what its ended children took.

    It grows less with what else the machine does than the time on the clock.
    """
    names = {pid: name for name, pid in _programs(installation)}
    before = _used(names)
    return lambda: {name: seconds - before[name] for name, seconds in _used(names).items()}


def reported(used: Mapping[str, float]) -> str:
    """In one line, the most first."""
    ordered = sorted(used.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {seconds:.2f} s" for name, seconds in ordered if seconds >= 0.01)


def _programs(installation: Installation | None) -> Iterator[tuple[str, int]]:
    for each in installation.status()["processes"] if installation else ():
        yield from ((each["name"].partition("-")[0], pid) for pid in (each["pid"], *below(each["pid"])))
    for pid in below(os.getpid()):
        with suppress(FileNotFoundError):
            yield Path(f"/proc/{pid}/cmdline").read_text().partition("\0")[0].rpartition("/")[2], pid


def below(pid: int) -> list[int]:
    """The processes below a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return [*children, *(one for child in children for one in below(child))]


def resident(pid: int) -> int:
    """Bytes in memory of a process and those below it, what they share counted once, at the first."""
    return sum(map(_proportional, (pid, *below(pid))))


def seconds_of(*pids: int) -> float:
    """Processor time that these processes and those below them have used so far."""
    return sum(_used({each: "" for pid in pids for each in (pid, *below(pid))}).values())


def switches_of(*pids: int) -> int:
    """How often the threads of these processes and those below them have waited for something so far."""
    found = (each for pid in pids for each in (pid, *below(pid)))
    statuses = (path.read_text() for pid in found for path in Path(f"/proc/{pid}/task").glob("*/status"))
    return sum(int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for text in statuses)


def _proportional(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _used(names: Mapping[int, str]) -> Mapping[str, float]:
    used: dict[str, float] = defaultdict(float)
    for pid, name in names.items():
        with suppress(FileNotFoundError):  # it ended: its parent, of the same name, has its time
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used[name] += sum(map(int, fields[11:15])) / TICKS
    return used
