"""Which installation works on the cluster of a kubeconfig, and the marker by which others know of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eventing.local.marker import InstallationMarker, directory_of, works_on
from eventing.local.state import Addresses, StateDirectory


def a_kubeconfig(path: Path, server: str) -> Path:
    path.write_text(
        f"{{clusters: [{{name: c, cluster: {{server: '{server}'}}}}], contexts: [{{name: x, context: {{cluster: c}}}}],"
        " current-context: x}"
    )
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[StateDirectory]:
    """Of an installation that runs on a sandbox of its own."""
    made = StateDirectory(tmp_path / "state")
    made.make()
    a_kubeconfig(made.kubeconfig, "http://127.0.0.1:9")
    with made.claimed():
        made.write(Addresses(str(made.root), os.getpid(), kubeconfig=str(made.kubeconfig)))
        yield made


def test_a_sandbox_is_found_beside_its_kubeconfig(directory: StateDirectory) -> None:
    assert directory_of(str(directory.kubeconfig)) == directory


@pytest.mark.parametrize(
    ("server", "works"),
    [
        pytest.param("http://127.0.0.1:9/", True, id="a copy of its kubeconfig"),
        pytest.param("http://127.0.0.1:8", False, id="another cluster"),
    ],
)
def test_a_cluster_is_known_by_its_address(
    directory: StateDirectory, tmp_path: Path, server: str, *, works: bool
) -> None:
    assert works_on(directory, str(a_kubeconfig(tmp_path / "copy", server))) is works


def test_what_is_no_kubeconfig_leads_nowhere(directory: StateDirectory, tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("{}")
    assert not works_on(directory, str(tmp_path / "broken"))
    assert directory_of(str(tmp_path / "broken")) is None


def test_nothing_runs_where_no_supervisor_lives(tmp_path: Path) -> None:
    assert not works_on(StateDirectory(tmp_path), str(a_kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")))


def test_a_marker_is_over_when_its_installation_ended_here(directory: StateDirectory, tmp_path: Path) -> None:
    assert not InstallationMarker.of(directory).is_over()
    assert InstallationMarker.of(StateDirectory(tmp_path / "ended")).is_over()
    elsewhere = InstallationMarker("another-machine", tmp_path / "ended")
    assert not elsewhere.is_over(), "nobody here can know"
    assert elsewhere.directory() is None
