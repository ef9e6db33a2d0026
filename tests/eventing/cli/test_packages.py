"""The table of what is installed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eventing.cli.extension.cluster import listed_extensions
from eventing.cli.main import app
from eventing.cli.packages import INSTALLED, columns_of
from eventing.cli.status_text import listed_message
from eventing.cli.target import Target
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources
from eventing.local.state import Addresses, Process, StateDirectory, write_json
from shared.adapters.kube import ApiError
from shared.domain.command import Fix, olmf
from shared.kinds import Kind
from tests.kit.cluster import FakeCluster


def a_status(**fields: Any) -> PackageStatus:
    return PackageStatus(**{"namespace": "ns", "subscription": "a", "package": "a", "installed": "", "version": "a.v2",
                            "phase": "Pending", **fields})  # fmt: skip


@pytest.mark.parametrize(
    ("installed", "has_column"),
    [
        pytest.param("a.v1", True, id="while another version is on its way"),
        pytest.param("a.v2", False, id="not when it is the one that is shown"),
        pytest.param("", False, id="not before there is one"),
    ],
)
def test_the_installed_version_has_a_column(installed: str, *, has_column: bool) -> None:
    found = columns_of([a_status(installed=installed)])
    assert ("installed" in found) == has_column
    assert [*filter(found.__contains__, INSTALLED)] == found


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="not known"),
        pytest.param("nonsense", id="no URL of Redis"),
        pytest.param("unix:///nowhere/redis.sock", id="not to be reached"),
    ],
)
def test_objects_are_shown_without_a_queue_that_cannot_be_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("OLMF_REDIS_URL", url)
    assert Target("", "cluster").jobs() == ()


def test_the_next_try_of_what_fails_stands_in_the_table() -> None:
    assert listed_message(a_status(message="refused", next_try="now", is_failing=True)) == "refused (next try: now)"
    given_up = a_status(message="refused", next_try=olmf("queue", "retry"), is_failing=True)
    assert listed_message(given_up) == "refused (next try: `olmf queue retry`)"
    assert listed_message(a_status(message="waits", next_try="at the next event")) == "waits"


def test_a_table_reports_what_helps_unless_all_is_well() -> None:
    fixes = (Fix("approve it", olmf("approve", "p")), Fix("or delete it"))
    assert listed_message(a_status(message="waits", fixes=fixes)) == (
        "waits; fix: approve it: `olmf approve p`; fix: or delete it"
    )
    assert listed_message(replace(a_status(message="held", fixes=fixes), phase="Succeeded")) == "held"


@pytest.mark.parametrize(
    ("programs", "words", "is_reported"),
    [
        pytest.param(("worker", "endpoint"), [], True, id="without a watcher"),
        pytest.param(("worker", "watch"), [], False, id="with a watcher"),
        pytest.param(("worker", "endpoint"), ["--timeout", "0"], False, id="without waiting"),
    ],
)
def test_who_waits_learns_that_nobody_watches(
    tmp_path: Path, programs: tuple[str, ...], words: list[str], *, is_reported: bool
) -> None:
    directory = StateDirectory(tmp_path)
    write_json(
        directory.kubeconfig,
        {
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c"}}],
            "current-context": "x",
        },
    )
    processes = tuple(Process(name, os.getpid()) for name in programs)
    with directory.claimed():
        directory.write(
            Addresses(str(tmp_path), os.getpid(), str(directory.kubeconfig), "http://e:1", processes=processes)
        )
        done = CliRunner().invoke(app, ["install", "tide", "--state", str(tmp_path), *words])
    reported = "# nothing here watches the cluster: waits for events that others post to http://e:1\n"
    assert (reported in done.stderr) is is_reported


class Refusing(FakeCluster):
    """A cluster of whose ClusterExtensions somebody learns only an error."""

    status = 403

    def list(self, kind: Kind, namespace: str = "", **_: Any) -> tuple[Any, ...]:
        raise ApiError(self.status, "Forbidden", f"{kind.plural} is forbidden")


def test_who_may_not_list_extensions_sees_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    refusing = Refusing()
    assert listed_extensions(Sources(refusing)) == []
    assert capsys.readouterr().err == "# without ClusterExtensions: clusterextensions is forbidden\n"
    refusing.status = 500
    with pytest.raises(ApiError):
        listed_extensions(Sources(refusing))
