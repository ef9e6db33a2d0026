"""Which cluster a verb talks to where nobody names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventing.cli.commands import shown
from eventing.cli.failure import CliError
from eventing.cli.target import choose, nothing_runs
from eventing.local.state import StateDirectory
from shared.adapters.kube import is_in_pod, pod_namespace
from shared.domain.command import kubectl, olmf

IN_CLUSTER = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a kubeconfig and without `olmf up`."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("OLMF_STATE", str(tmp_path / "state"))


def test_in_a_pod_of_ours_it_is_the_cluster_of_the_pod(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLMF_REDIS_URL", "redis://127.0.0.1:1/0")
    target = choose(is_ours=lambda: True)
    assert capsys.readouterr().err == "# cluster of this pod\n"
    assert (target.kubeconfig, target.addresses()) == ("", None)
    with target.redis() as client:
        assert client.connection_pool.connection_kwargs["port"] == 1, "its Redis is that of the pod"
    assert (shown(olmf("queue", "ls")), shown(kubectl("get", "sub"))) == ("olmf queue ls", "kubectl get sub")


def test_elsewhere_nothing_runs() -> None:
    with pytest.raises(CliError, match="nothing runs in"):
        choose(is_ours=lambda: False)


def test_who_ends_an_installation_is_not_told_to_start_one(tmp_path: Path) -> None:
    assert "olmf up --detach" in nothing_runs(StateDirectory(tmp_path))
    assert nothing_runs(StateDirectory(tmp_path), has_hint=False) == f"nothing runs in {tmp_path}"


def test_a_state_directory_that_is_named_counts_more(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="nothing runs in"):
        choose(tmp_path / "other", is_ours=lambda: True)


def test_a_pod_is_known_by_its_account(tmp_path: Path) -> None:
    assert not is_in_pod(IN_CLUSTER, tmp_path)
    (tmp_path / "token").write_text("tea")
    assert is_in_pod(IN_CLUSTER, tmp_path)
    assert not is_in_pod({}, tmp_path)


def test_its_namespace_is_that_of_its_account(tmp_path: Path) -> None:
    assert pod_namespace(tmp_path) == ""
    (tmp_path / "namespace").write_text("olm\n")
    assert pod_namespace(tmp_path) == "olm"
