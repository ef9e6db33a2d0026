"""A fork does as a new interpreter would, and a fork server that was forked serves as one that was started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eventing.local.state import is_alive
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

CHILD = """
import os, signal, sys
from eventing.local.processes.forking import Child, fork
from eventing.local.processes.interrupt import Interrupt

def child(work, **options):
    null = os.open(os.devnull, os.O_RDWR)
    return Child(fork(work, (null, 1, 2), {"ONLY": "this"}, **options))
"""
LAUNCHER = """
import asyncio, os, sys, threading
from pathlib import Path
from eventing.local.processes import LOST, Launcher

def words(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()

async def version(launcher, name):
    return await launcher.run(name, ("--version",), os.environ, Path(sys.argv[1]) / name)
"""


def output(script: str, *words: str) -> list[str]:
    """What a process of its own prints, which has no thread and no file of these tests."""
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("work", "code"),
    [
        pytest.param("None", 0, id="it returns"),
        pytest.param("sys.exit(3)", 3, id="it exits"),
        pytest.param("sys.exit('a sentence')", 1, id="it exits with a sentence"),
        pytest.param("1 / 0", 1, id="it raises"),
        pytest.param("os.kill(os.getpid(), 9)", -signal.SIGKILL, id="it is killed"),
    ],
)
def test_a_fork_ends_as_an_interpreter_does(work: str, code: int) -> None:
    assert output(f"{CHILD}print(child(lambda: {work}).wait())")[-1] == str(code)


def test_a_fork_has_its_own_variables_files_and_session(tmp_path: Path) -> None:
    script = f"""{CHILD}
kept = open({str(tmp_path / "file")!r}, "w")
work = lambda: print(dict(os.environ), os.getsid(0) == os.getpid(), os.path.exists(f"/proc/self/fd/{{kept.fileno()}}"))
child(work, is_apart=True, closes=[kept.fileno()]).wait()
"""
    assert output(script) == ["{'ONLY': 'this'} True False"]


def test_a_fork_keeps_what_we_opened_and_not_what_we_inherited(tmp_path: Path) -> None:
    script = f"""{CHILD}
ours, inherited = (open({str(tmp_path / "file")!r}, "w") for _ in range(2))
os.set_inheritable(inherited.fileno(), True)
work = lambda: print(*(os.path.exists(f"/proc/self/fd/{{one.fileno()}}") for one in (ours, inherited)))
child(work).wait()
"""
    assert output(script) == ["True False"]


def test_a_signal_that_comes_with_the_birth_of_a_fork_ends_it() -> None:
    script = f"""{CHILD}
with Interrupt():
    one = child(signal.pause)
    one.send(signal.SIGTERM)
    print(one.wait(), one.wait())
"""
    assert output(script) == [f"{-signal.SIGTERM} {-signal.SIGTERM}"]


def test_who_waits_too_long_for_a_fork_is_told() -> None:
    script = f"""{CHILD}
one = child(signal.pause)
try:
    one.wait(0.01)
except TimeoutError as error:
    print(str(error).startswith(f"process {{one.pid}} did not end"))
one.send(signal.SIGKILL)
"""
    assert output(script) == ["True"]


def test_a_forked_server_starts_programs_and_an_interpreter_takes_its_place_when_it_died(tmp_path: Path) -> None:
    script = f"""{LAUNCHER}
async def main():
    launcher = Launcher("eventing.cli.main")
    await launcher.begin()
    server = await launcher.warm_up()
    print(words(server.pid) == words(os.getpid()), await version(launcher, "one"))
    redis = ("run", "redis", "--state", sys.argv[1] + "/redis")
    stays = await launcher.start("two", redis, os.environ, Path(os.devnull))
    server.kill()
    print(await stays.ended == LOST, await version(launcher, "three"))
    print(words((await launcher.warm_up()).pid) == words(os.getpid()))
    await launcher.close()

asyncio.run(main())
"""
    assert output(script, str(tmp_path)) == ["True 0", "True 0", "False"]
    assert (tmp_path / "one").read_text() == (tmp_path / "three").read_text() != ""


def test_a_forked_server_ends_when_it_is_not_needed_any_more(tmp_path: Path) -> None:
    script = f"""{LAUNCHER}
async def main():
    launcher = Launcher("eventing.cli.main")
    await launcher.begin()
    server = await launcher.warm_up()
    await launcher.close()
    print(server.returncode)

asyncio.run(main())
"""
    assert output(script, str(tmp_path)) == ["0"]


def test_beside_a_thread_an_interpreter_is_started(tmp_path: Path) -> None:
    script = f"""{LAUNCHER}
async def main():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    launcher = Launcher("eventing.cli.main")
    await launcher.begin()
    print(words((await launcher.warm_up()).pid) == words(os.getpid()), await version(launcher, "one"))
    await launcher.close()

asyncio.run(main())
"""
    assert output(script, str(tmp_path)) == ["False 0"]


def test_a_forked_server_outlives_nobody(tmp_path: Path) -> None:
    script = f"""{LAUNCHER}
async def main():
    launcher = Launcher("eventing.cli.main")
    await launcher.begin()
    print((await launcher.warm_up()).pid, flush=True)
    os._exit(0)

asyncio.run(main())
"""
    (pid,) = output(script, str(tmp_path))
    wait_for(lambda: not is_alive(int(pid)), "its end")
