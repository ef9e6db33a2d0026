from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from eventing.local.kubelet.mounts import environment_of, mount_volumes, own_folder
from shared.api.manifest import Manifest
from tests.kit.cluster import FakeCluster

META = {"namespace": "olm"}
SECRET = {
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull", **META}, "data": {".dockerconfigjson": "e30="},
}  # fmt: skip
MAP = {
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trust", **META}, "data": {"ca.crt": "yes", "b": "2"},
}  # fmt: skip


def a_pod(mounts: dict[str, Manifest], **container: object) -> Manifest:
    """A Pod with volumes by the paths where they are mounted."""
    names = {path: f"v{index}" for index, path in enumerate(mounts)}
    volumes = [{"name": names[path], **volume} for path, volume in mounts.items()]
    mounted = [{"name": name, "mountPath": path} for path, name in names.items()]
    containers = [{"name": "c", "volumeMounts": mounted, **container}]
    return {"metadata": {"name": "p", **META}, "spec": {"volumes": volumes, "containers": containers}}


def test_secrets_and_config_maps_are_files_below_the_root_and_a_missing_one_is_an_empty_folder(tmp_path: Path) -> None:
    pod = a_pod(
        {
            "/run/pull": {"secret": {"secretName": "pull"}},
            "/run/absent": {"secret": {"secretName": "absent", "optional": True}},
            "/etc/trust": {"configMap": {"name": "trust", "items": [{"key": "ca.crt", "path": "one/ca.pem"}]}},
            "/all": {"projected": {"sources": [{"secret": {"name": "pull"}}, {"configMap": {"name": "trust"}}]}},
            "/tmp": {"emptyDir": {}},
        }
    )
    mount_volumes(FakeCluster([SECRET, MAP]), pod, tmp_path)
    found = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {
        "run/pull/.dockerconfigjson": "{}", "etc/trust/one/ca.pem": "yes",
        "all/.dockerconfigjson": "{}", "all/ca.crt": "yes", "all/b": "2",
    }  # fmt: skip
    assert (tmp_path / "run/absent").is_dir()
    assert not (tmp_path / "tmp").exists()


def test_a_mount_path_does_not_lead_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    items = [{"key": "b", "path": "../../../inside"}]
    pod = a_pod({"/../outside": {"configMap": {"name": "trust", "items": items}}})
    mount_volumes(FakeCluster([MAP]), pod, root)
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*side")] == [
        Path("root/outside"), Path("root/outside/inside"),
    ]  # fmt: skip


def test_a_root_that_was_removed_meanwhile_is_not_made_anew(tmp_path: Path) -> None:
    pod = a_pod({"/run/pull": {"secret": {"secretName": "pull"}}})
    with pytest.raises(FileNotFoundError):
        mount_volumes(FakeCluster([SECRET]), pod, tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_variables_come_by_value_and_of_secrets_and_config_maps() -> None:
    pod = a_pod(
        {},
        envFrom=[{"prefix": "X_", "configMapRef": {"name": "trust"}}, {"secretRef": {"name": "absent"}}],
        env=[
            {"name": "A", "value": "b"},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "pull", "key": ".dockerconfigjson"}}},
            {"name": "N", "valueFrom": {"configMapKeyRef": {"name": "trust", "key": "none", "optional": True}}},
            {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
    )
    found = environment_of(FakeCluster([SECRET, MAP]), pod)
    assert found == {"X_ca.crt": "yes", "X_b": "2", "A": "b", "S": "{}"}


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
