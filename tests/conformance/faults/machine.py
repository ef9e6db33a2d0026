"""Faults of the machine: processes die, the disk is full, a clock is off."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conformance.faults.killing import is_survived, kill_seconds
from tests.conformance.faults.programs import victims_of
from tests.conformance.faults.servers import result
from tests.conformance.faults.worlds import Worlds
from tests.conformance.lifecycle.outages import (
    Fault,
    World,
    is_healthy,
    kill,
    processes,
    seconds_to_converge,
)
from tests.conformance.report import ROOT
from tests.kit.installation import SAMPLES, installed
from tests.kit.waiting import wait_for

DISK_BYTES = 160 * 1024 * 1024
FULL_SECONDS = 10.0
ROUNDS = 3
CLOCK = Path(__file__).with_name("other_clock.c")


def processes_are_killed(worlds: Worlds, *, target: str) -> str:
    """Rounds of installs and removals, meanwhile programs, their children and those of the API server are killed."""
    return is_survived(victims_of(worlds.of(target)), kill_seconds(default=600))


def all_processes_are_killed(worlds: Worlds, *, target: str) -> str:
    """Programs, their children, and the supervisor's own."""

    @contextmanager
    def all_die(hurt: World) -> Iterator[None]:
        yield
        for pid in processes(hurt.installation):
            kill(pid)
        wait_for(lambda: is_healthy(hurt.installation), "programs that run again")

    return result(seconds_to_converge(worlds.of(target), "all-are-killed", all_die, seconds=1))


def disk_is_full(worlds: Worlds) -> str:
    """The folder of state is a small file system, which is filled."""
    folder = worlds.fresh_folder()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        return f"not tried: no small file system can be mounted here ({done.stderr.strip()})"

    @contextmanager
    def is_full(_: World) -> Iterator[None]:
        filler = folder / "filler"
        with filler.open("wb") as file, suppress(OSError):
            while file.write(bytes(1024**2)):
                file.flush()
        yield
        filler.unlink()

    try:
        with installed(folder / "olmf", "--bundles", str(SAMPLES)) as installation:
            fault: Fault = is_full
            # why asked before: the sandbox stores objects there, too, and refuses new ones
            took = seconds_to_converge(
                World(installation), "disk-is-full", fault, seconds=FULL_SECONDS, is_asked_before=True
            )
            return result(took)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def clock_is_off(worlds: Worlds, *, hours: int) -> str:
    """A second worker beside ours, whose clock differs from that of all others."""
    if not (compiler := shutil.which("cc")):
        return "not tried: this machine lacks a C compiler"
    folder = worlds.fresh_folder()
    library, log = folder / "other_clock.so", folder / "worker.log"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(CLOCK), "-ldl"], check=True)
    installation = worlds.of("sandbox").installation
    addresses = json.loads((installation.state / "olmf.json").read_text())
    environ = {
        **os.environ, "LD_PRELOAD": str(library), "OTHER_CLOCK_SECONDS": str(hours * 3600),
        "OLMF_REDIS_URL": addresses["redis"], "OLMF_KUBECONFIG": addresses["kubeconfig"],
        "OLMF_CONTENT": str(installation.state / "content"), "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.0/8",
        "OLMF_CONCURRENCY": "1", "OLMF_LOG_JSON": "true",
    }  # fmt: skip

    @contextmanager
    def works_beside(_: World) -> Iterator[None]:
        yield

    command = [sys.executable, "-m", "eventing.cli.main", "run", "worker"]
    with log.open("wb") as output, subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output) as it:
        try:
            wait_for(lambda: "worker_ready" in log.read_text(), "a second worker")
            word = "ahead" if hours > 0 else "behind"
            took = [
                seconds_to_converge(worlds.of("sandbox"), f"{word}-{number}", works_beside, seconds=0)
                for number in range(ROUNDS)
            ]
        finally:
            it.terminate()
            it.wait(30)
    runs = log.read_text().count("step_done")
    assert runs, "the worker with the other clock ran nothing"
    return f"nothing; {max(took):.1f} s at most in {ROUNDS} rounds; {runs} runs had the other clock"
