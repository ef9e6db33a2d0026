"""What a sandbox remembers, and how it starts and ends."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
import structlog

from eventing.local.apiserver.journal_file import JournalFile
from eventing.local.apiserver.store import Store
from eventing.local.processes.parent_watch import READY_FILE
from shared.telemetry import configure_logging
from tests.conformance.api.objects import a_config_map, a_definition, a_widget, core, define
from tests.conformance.http import Api
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

CONFIG_MAPS = core("default", "configmaps")


def _object(name: str, value: int = 0) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": str(value)}}


def test_a_restart_resumes_with_the_same_objects_and_versions(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        http.post(CONFIG_MAPS, a_config_map("a"))
        http.post(CONFIG_MAPS, a_config_map("b"))
        http.delete(f"{CONFIG_MAPS}/b")
        before = http.get(CONFIG_MAPS).body
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        assert Api.of(kubeconfig).get(CONFIG_MAPS).body == before


def test_a_restart_keeps_address_and_credentials(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        before = kubeconfig.read_text()
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        assert kubeconfig.read_text() == before


def test_a_restart_serves_only_definitions_whose_names_were_accepted(tmp_path: Path) -> None:
    second = a_definition("t")
    second["metadata"]["name"] = "gadgets.t.example.com"
    second["spec"]["names"] |= {"plural": "gadgets"}
    gadgets = "/apis/t.example.com/v1/namespaces/default/gadgets"
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        for definition in (a_definition("t"), second):
            http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        assert http.get(gadgets).status == 404
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        assert Api.of(kubeconfig).get(gadgets).status == 404


def test_a_watch_goes_on_after_a_restart(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        since = Api.of(kubeconfig).get(CONFIG_MAPS).body["metadata"]["resourceVersion"]
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        http.post(CONFIG_MAPS, a_config_map("late"))
        with http.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={since}") as events:
            assert next(events)["object"]["metadata"]["name"] == "late"


def test_a_version_from_before_the_restart_is_gone(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        old = http.post(CONFIG_MAPS, a_config_map("a")).body["metadata"]["resourceVersion"]
        http.post(CONFIG_MAPS, a_config_map("b"))
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        answer = Api.of(kubeconfig).get(f"{CONFIG_MAPS}?watch=1&resourceVersion={old}")
    assert (answer.status, answer.body["reason"]) == (410, "Expired")
    assert answer.body["message"].startswith(f"too old resource version: {old} (")


def test_defined_kinds_are_served_after_a_restart(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        path = f"{define(http, a_definition('x'))}/namespaces/default/widgets"
        http.post(path, a_widget("x"))
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        assert Api.of(kubeconfig).get(f"{path}/w").body["spec"] == {"size": 3, "mode": "fast"}


def test_without_state_nothing_is_remembered(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        Api.of(kubeconfig).post(CONFIG_MAPS, a_config_map("a"))
    with running_sandbox(tmp_path) as kubeconfig:
        assert Api.of(kubeconfig).get(f"{CONFIG_MAPS}/a").status == 404


def test_a_torn_last_line_is_forgotten_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "objects.jsonl"
    store = Store(JournalFile(path))
    store.put(("/configmaps", "n", "a"), _object("a"))
    store.close()
    with path.open("ab") as file:
        file.write(b'[9,"/configmaps","n","b",{"apiV')
    store = Store(JournalFile(path))
    store.put(("/configmaps", "n", "c"), _object("c"))
    store.close()
    store = Store(JournalFile(path))
    assert [one.key[2] for one in store.list("/configmaps")] == ["a", "c"]
    store.close()


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """A full disk, for this process: no file grows beyond the size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_of_a_line_that_a_full_disk_did_not_take_nothing_stays(tmp_path: Path) -> None:
    file = JournalFile(tmp_path / "objects.jsonl")
    with _files_of_at_most(5), pytest.raises(OSError, match="File too large"):
        file.append(b"[1, 2, 3]")
    file.append(b"[4]")
    assert list(file.read()) == [[4]]
    file.close()


@pytest.mark.parametrize("act", ["create", "change", "delete"])
def test_a_write_that_the_file_did_not_take_changes_nothing(tmp_path: Path, act: str) -> None:
    path, key = tmp_path / "objects.jsonl", ("/configmaps", "n", "a")
    store = Store(JournalFile(path))
    if act != "create":
        store.put(key, _object("a", 1))
    before, feed = (store.revision, store.all()), store.subscribe("/configmaps", store.revision)
    with _files_of_at_most(path.stat().st_size + 9), pytest.raises(OSError, match="File too large"):
        _ = store.remove(key) if act == "delete" else store.put(key, _object("a", 2))
    assert (store.revision, store.all(), feed.take()) == (*before, [])
    after = store.put(key, _object("a", 3))
    assert [change.now for change in feed.take()] == [after]
    store.close()
    again = Store(JournalFile(path))
    assert [one.manifest for one in again.all()] == [after.manifest]
    again.close()


def test_a_file_that_cannot_be_rewritten_takes_lines_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "objects.jsonl"
    store = Store(JournalFile(path, room_bytes=150))
    feed = store.subscribe("/configmaps", store.revision)
    (tmp_path / f".objects.jsonl.{os.getpid()}").mkdir()  # in the way of the file that is to replace it
    for value in range(3):
        store.put(("/configmaps", "n", "a"), _object("a", value))
    assert (len(feed.take()), len(path.read_bytes().splitlines())) == (3, 3)
    store.close()


@pytest.fixture
def _logs() -> Iterator[None]:
    """The logs of a program; standard error is a file, as it is under `olmf up`."""
    configure_logging()
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("_logs")
def test_a_sandbox_on_a_full_disk_refuses_writes_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, is_kept=True) as kubeconfig:
        http = Api.of(kubeconfig)
        owner = http.post(CONFIG_MAPS, a_config_map("owner")).body["metadata"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
        http.post(CONFIG_MAPS, a_config_map("dependent", ownerReferences=[reference]))
        size = (tmp_path / "objects.jsonl").stat().st_size
        with _files_of_at_most(size + 60):  # room for one line about a deletion, not for an object
            assert http.post(CONFIG_MAPS, a_config_map("late")).status == 500
            assert http.delete(f"{CONFIG_MAPS}/owner").status == 200
            assert http.get(f"{CONFIG_MAPS}/late").status == 404
        wait_for(lambda: http.get(f"{CONFIG_MAPS}/dependent").status == 404)
        assert http.post(CONFIG_MAPS, a_config_map("late")).status == 201


def test_the_file_is_compacted_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "objects.jsonl"
    store = Store(JournalFile(path))
    for value in range(100):
        store.put(("/configmaps", "n", "a"), _object("a", value))
    store.remove(store.put(("/configmaps", "n", "b"), _object("b")).key)
    store.compact()
    revision = store.revision
    store.close()
    assert len(path.read_bytes().splitlines()) == 2
    store = Store(JournalFile(path))
    assert (store.revision, len(store.list("/configmaps"))) == (revision, 1)
    store.close()


def test_the_file_does_not_grow_while_a_sandbox_runs(tmp_path: Path) -> None:
    path = tmp_path / "objects.jsonl"
    store = Store(JournalFile(path, room_bytes=2_000))
    sizes = []
    for value in range(200):
        store.put(("/configmaps", "n", "a"), _object("a", value))
        sizes.append(path.stat().st_size)
    store.remove(store.put(("/configmaps", "n", "b"), _object("b")).key)
    store.close()
    assert max(sizes) < 3_000
    again = Store(JournalFile(path))
    assert [one.manifest["data"] for one in again.all()] == [{"value": "199"}]
    assert again.revision == store.revision
    again.close()


def test_the_program_reports_where_it_is_and_ends_on_sigterm(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "eventing.cli.main", "run", "api", "--state", str(tmp_path)]
    environ = {**os.environ, "OLMF_PORT": "0", READY_FILE: str(ready)}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environ) as running:
        try:
            wait_for(lambda: ready.exists() or running.poll() is not None)
            kubeconfig = Path(orjson.loads(ready.read_bytes())["address"])
            assert Api.of(kubeconfig).get("/readyz").body == "ok"
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_SECONDS) == 0


def test_an_open_watch_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        watching = Api.of(kubeconfig).watch(f"{CONFIG_MAPS}?watch=1")
        events = watching.__enter__()
    assert list(events) == []
    watching.__exit__(None, None, None)


@pytest.mark.parametrize("name", ["kubeconfig", "token", "secret", "objects.jsonl"])
def test_credentials_and_objects_are_for_the_owner_only(tmp_path: Path, name: str) -> None:
    with running_sandbox(tmp_path, is_kept=True):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600  # noqa: PTH116


def test_what_is_not_served_reports_it(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        http = Api.of(kubeconfig)
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        http.post(core("default", "pods"), pod)
        answer = http.get(f"{core('default', 'pods', 'p')}/log")
    assert (answer.status, answer.body["reason"]) == (501, "NotImplemented")
    assert answer.body["message"].startswith("the sandbox does not serve pods/log; ")


def test_the_kubeconfig_carries_the_token_where_kubectl_needs_it(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        config = orjson.loads(kubeconfig.read_bytes())
        token = config["users"][0]["user"]["token"]
        bare = Api(config["clusters"][0]["cluster"]["server"], "")
        assert bare.server.endswith(f"/token/{token}")
        assert bare.get("/api/v1/namespaces").status == 200
        assert bare.as_user("").get("/api/v1/namespaces").status == 403


def test_an_idle_watch_learns_the_present_version(tmp_path: Path) -> None:
    with running_sandbox(tmp_path, bookmark_seconds=0.05) as kubeconfig:
        http = Api.of(kubeconfig)
        since = http.get(CONFIG_MAPS).body["metadata"]["resourceVersion"]
        http.post("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
        with http.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={since}&allowWatchBookmarks=true") as events:
            event = next(events)
    assert event["type"] == "BOOKMARK"
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(since)
