"""`olmf up` as a whole: one at a time, the same again, and nothing left when it is gone, however it went."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from eventing.local.installation import allowed_addresses
from shared.adapters.oci.addresses import SETTING, AddressRules
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CATALOG_SOURCE, NAMESPACE
from tests.kit.installation import SAMPLES, a_namespace, installed, olmf
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


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


def until_nothing_runs(folder: Path) -> None:
    """What was stopped may take a moment until the kernel has forgotten it."""
    wait_for(lambda: not running(folder), f"the end of what runs in {folder}")


def test_a_second_one_is_refused_and_a_later_one_goes_on(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with installed(state, "--bundles", str(SAMPLES)) as first:
        again = olmf("up", "--detach", "--state", str(state), check=False)
        assert again.returncode == 1
        assert "already running" in again.stderr
        first.apply(a_namespace("kept"))
        version = first.cluster.get(NAMESPACE.ref("kept"))
        before = first.status()
    until_nothing_runs(state)
    gone = olmf("status", "--state", str(state), check=False)
    assert (gone.returncode, gone.stdout) == (1, "")
    with installed(state, "--bundles", str(SAMPLES)) as second:
        assert second.cluster.get(NAMESPACE.ref("kept")) == version
        now = second.status()
        for name in ("kubeconfig", "endpoint", "redis", "registry", "state"):
            assert now[name] == before[name], name
        supervisor = json.loads((state / "olmf.json").read_text())["supervisor"]
        os.kill(supervisor, signal.SIGKILL)
        until_nothing_runs(state)
        killed = olmf("status", "--state", str(state), check=False)
        assert f"`olmf up` (pid {supervisor}) was killed" in killed.stderr
        assert f"`olmf up --detach --state {state}` goes on from there" in killed.stderr
        assert olmf("status", "--state", os.path.relpath(state), check=False).stderr == killed.stderr


def test_ctrl_c_in_the_foreground_ends_everything(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "eventing.cli.main", "up", "--state", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ready: ")
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "Traceback" in output) == (0, False)
    until_nothing_runs(tmp_path)


def test_ctrl_c_is_heard_while_the_cluster_is_silent(tmp_path: Path) -> None:
    with a_silent_cluster() as silent:
        process = starting(tmp_path, silent)
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
        connection.close()
    until_nothing_runs(tmp_path)


@contextmanager
def a_silent_cluster() -> Iterator[socket.socket]:
    """An API server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_SECONDS)
        yield silent


def starting(folder: Path, cluster: socket.socket, *words: str) -> subprocess.Popen[bytes]:
    """`olmf up` for a cluster, with its state in `folder/state`."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(a_kubeconfig(cluster.getsockname()[1]))
    words = ("up", *words, "--state", str(folder / "state"), "--kubeconfig", str(kubeconfig))
    return subprocess.Popen(
        [sys.executable, "-m", "eventing.cli.main", *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def a_kubeconfig(port: int) -> str:
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    user = {"name": "u", "user": {"token": "t"}}
    return json.dumps(
        {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "users": [user], "contexts": [context]}
        | {"current-context": "x"}
    )


def test_ctrl_c_while_it_starts_in_the_background_ends_everything(tmp_path: Path) -> None:
    with a_silent_cluster() as silent:  # so that it does not get ready before the signal comes
        process = starting(tmp_path, silent, "--detach")
        wait_for((tmp_path / "state" / "logs" / "supervisor.log").exists, "the start of the supervisor")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 130
    until_nothing_runs(tmp_path)


def test_registries_that_the_caller_allows_are_allowed_besides_that_of_the_sandbox(tmp_path: Path) -> None:
    environ = {"OLMF_ALLOWED_REGISTRY_ADDRESSES": "registry.corp.example"}
    with installed(tmp_path, "--bundles", str(SAMPLES), environ=environ) as running_one:
        local = CATALOG_SOURCE.ref("local", "olm")
        running_one.until(local, lambda one: state_of(one) in ("READY", "TRANSIENT_FAILURE"), "an answer")
        assert state_of(running_one.cluster.get(local)) == "READY"


def state_of(source: Manifest | None) -> str:
    """Whether a catalog can be read."""
    state: str = (source or {})["status"]["connectionState"]["lastObservedState"]
    return state


@pytest.mark.parametrize(
    ("environ", "name", "is_allowed"),
    [
        pytest.param({}, "registry.corp.example", False, id="nothing else"),
        pytest.param({SETTING: ""}, "registry.corp.example", False, id="an empty value"),
        pytest.param({SETTING: "registry.corp.example"}, "registry.corp.example", True, id="a registry"),
        pytest.param({SETTING: "10.0.0.0/8, *.example"}, "registry.corp.example", True, id="several"),
    ],
)  # fmt: skip
def test_this_machine_is_allowed_whatever_else_is(environ: dict[str, str], name: str, *, is_allowed: bool) -> None:
    rules = AddressRules.parse(Settings.read({SETTING: allowed_addresses(environ)}).allowed_registry_addresses)
    assert rules.is_named(name, 443) is is_allowed
    assert [rules.why_not(one, 5000, ip_address(one)) for one in ("127.0.0.1", "::1")] == ["", ""]


def test_wrong_words_are_refused_with_a_sentence(tmp_path: Path) -> None:
    for words, sentence in (
        (["--bundles", "nowhere"], "nowhere: no such folder"),
        (["--catalog", "./nowhere"], "--catalog ./nowhere: no such folder"),
        (["--catalog", str(SAMPLES)], "bundles and no catalog"),
        (["--kubeconfig", "nowhere"], "nowhere: no such file"),
        (["--source", "crystal-ball"], "wanted watch or endpoint"),
        (["--catalog", "quay.io/a/tide:1", "--catalog", "quay.io/b/tide:2"], "'tide': rename"),
    ):
        done = olmf("up", "--detach", "--state", str(tmp_path), *words, check=False)
        assert done.returncode == 2
        assert sentence in done.stderr
    until_nothing_runs(tmp_path)
