"""`olmf up` as a whole: one at a time, the same again, and nothing left when it is gone, however it went."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from shared.kinds import NAMESPACE
from tests.kit.installation import PATIENCE_SECONDS, SAMPLES, a_namespace, installed, olmf


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def running(folder: Path) -> list[str]:
    """The processes that have the folder on their command line, or write to a log in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            log = (process / "fd" / "2").readlink()
        except OSError:  # it ended while we looked
            continue
        if os.fsencode(folder) in words or log.is_relative_to(folder):
            found.append(f"{process.name} {words.decode(errors='replace')} > {log}")
    return found


def test_a_second_one_is_refused_and_a_later_one_goes_on(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with installed(state, "--bundles", str(SAMPLES)) as first:
        again = olmf("up", "--detach", "--state", str(state), check=False)
        assert again.returncode == 1
        assert "already running" in again.stderr
        first.apply(a_namespace("kept"))
        version = first.cluster.get(NAMESPACE.ref("kept"))
        before = first.status()
    assert running(state) == []
    gone = olmf("status", "--state", str(state), check=False)
    assert (gone.returncode, gone.stdout) == (1, "")
    with installed(state, "--bundles", str(SAMPLES)) as second:
        assert second.cluster.get(NAMESPACE.ref("kept")) == version
        now = second.status()
        for name in ("kubeconfig", "endpoint", "redis", "registry", "state"):
            assert now[name] == before[name], name
        supervisor = json.loads((state / "olmf.json").read_text())["supervisor"]
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: not running(state), "the programs outlived their supervisor")
        killed = olmf("status", "--state", str(state), check=False)
        assert f"`olmf up` (pid {supervisor}) was killed" in killed.stderr
        assert f"`olmf up --detach --state {state}` goes on from there" in killed.stderr


def test_ctrl_c_in_the_foreground_ends_everything(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "eventing.cli.main", "up", "--state", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ready: ")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "Traceback" in said) == (0, False)
    assert running(tmp_path) == []


def test_ctrl_c_is_heard_while_the_cluster_is_silent(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(a_kubeconfig(silent.getsockname()[1]))
        words = ["up", "--state", str(tmp_path / "state"), "--kubeconfig", str(kubeconfig)]
        process = subprocess.Popen([sys.executable, "-m", "eventing.cli.main", *words], stdin=subprocess.DEVNULL)
        silent.settimeout(PATIENCE_SECONDS)
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        process.wait(20)
        connection.close()
    assert running(tmp_path) == []


def a_kubeconfig(port: int) -> str:
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    user = {"name": "u", "user": {"token": "t"}}
    return json.dumps(
        {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "users": [user], "contexts": [context]}
        | {"current-context": "x"}
    )


def test_ctrl_c_while_it_starts_in_the_background_ends_everything(tmp_path: Path) -> None:
    words = ["up", "--detach", "--state", str(tmp_path)]
    process = subprocess.Popen([sys.executable, "-m", "eventing.cli.main", *words], stderr=subprocess.DEVNULL)
    until((tmp_path / "logs" / "supervisor.log").exists, "the supervisor never started")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_SECONDS) == 130
    assert [line for line in running(tmp_path) if not line.startswith(f"{process.pid} ")] == []


def test_wrong_words_are_refused_with_a_sentence(tmp_path: Path) -> None:
    for words, sentence in (
        (["--bundles", "nowhere"], "nowhere: no such folder"),
        (["--catalog", "./nowhere"], "--catalog ./nowhere: no such folder"),
        (["--kubeconfig", "nowhere"], "nowhere: no such file"),
        (["--source", "crystal-ball"], "wanted watch or endpoint"),
        (["--catalog", "quay.io/a/tide:1", "--catalog", "quay.io/b/tide:2"], "'tide': rename"),
    ):
        done = olmf("up", "--detach", "--state", str(tmp_path), *words, check=False)
        assert done.returncode == 2
        assert sentence in done.stderr
    assert running(tmp_path) == []
