from __future__ import annotations

from pathlib import Path

from eventing.kubelet.jobs import Task
from eventing.kubelet.mounts import mount_secrets
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
    task = Task(kinds.JOB.ref("j", "olm"), "u", (), {}, MOUNTS, retries=0, deadline=None, ordained="")
    mount_secrets(FakeCluster([secret]), task, tmp_path)
    assert (tmp_path / "var/run/olmf/pull/pull/.dockerconfigjson").read_text() == "{}"
    assert list((tmp_path / "var/run/olmf/pull/absent").iterdir()) == []
