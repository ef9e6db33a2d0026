from __future__ import annotations

import subprocess
from pathlib import Path

from eventing.kubelet.jobs import Task
from eventing.kubelet.mounts import mount_secrets, own_folder
from shared import kinds
from tests.kit.cluster import FakeCluster

MOUNTS = {"pull": "/var/run/olmf/pull/pull", "absent": "/var/run/olmf/pull/absent"}


def test_secrets_are_files_below_the_root_and_a_missing_one_is_an_empty_folder(tmp_path: Path) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pull", "namespace": "olm"},
        "data": {".dockerconfigjson": "e30="},
    }
    task = Task(kinds.JOB.ref("j", "olm"), "u", (), {}, MOUNTS, retries=0, deadline=None, failure="")
    mount_secrets(FakeCluster([secret]), task, tmp_path)
    assert (tmp_path / "var/run/olmf/pull/pull/.dockerconfigjson").read_text() == "{}"
    assert list((tmp_path / "var/run/olmf/pull/absent").iterdir()) == []


def test_a_mount_path_does_not_lead_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    mounts = {"pull": "/../outside"}
    task = Task(kinds.JOB.ref("j", "olm"), "u", (), {}, mounts, retries=0, deadline=None, failure="")
    mount_secrets(FakeCluster([]), task, root)
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("outside")] == [Path("root/outside")]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left, other, living = (
        tmp_path / f"olmf-kubelet-{dead.pid}-abc", tmp_path / "olmf-kubelet-notes-1", own_folder(str(tmp_path))
    )  # fmt: skip
    (left / "var").mkdir(parents=True)
    other.mkdir()
    new = own_folder(str(tmp_path))
    assert set(tmp_path.iterdir()) == {other, living, new}
