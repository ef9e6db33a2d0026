"""The manifests of `k8s/`, as kubectl reads them and as a server accepts them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.conformance.conftest import Kubectl
from tests.conformance.http import Api

pytestmark = pytest.mark.conformance
DRY = ("--server-side", "--dry-run=server", "--warnings-as-errors")
K8S = Path(__file__).parents[3] / "k8s"


def test_a_server_accepts_the_base(http: Api, kubectl: Kubectl) -> None:
    labels = dict.fromkeys((f"pod-security.kubernetes.io/{mode}" for mode in ("enforce", "warn")), "restricted")
    http.post("/api/v1/namespaces", {"metadata": {"name": "olm", "labels": labels}})
    base = kubectl("kustomize", str(K8S / "base"))
    reported = kubectl("apply", *DRY, "--namespace=", "-f", "-", stdin=base)
    assert len(reported.splitlines()) == len([*yaml.safe_load_all(base)])


def test_the_base_applied_twice_is_unchanged(kubectl: Kubectl, http: Api) -> None:
    base = kubectl("kustomize", str(K8S / "base"))
    kubectl("apply", "--namespace=", "-f", "-", stdin=base)
    reported = kubectl("apply", "--namespace=", "-f", "-", stdin=base).splitlines()
    assert len(reported) == len([*yaml.safe_load_all(base)])
    assert [line for line in reported if not line.endswith(" unchanged")] == []


def test_on_knative_the_source_takes_the_place_of_the_watcher(kubectl: Kubectl) -> None:
    built = [*yaml.safe_load_all(kubectl("kustomize", str(K8S / "knative")))]
    named = {each["kind"] for each in built if each["metadata"]["name"] == "olmf-watch"}
    assert named == {"ServiceAccount", "ClusterRole", "ClusterRoleBinding"}
    assert [each["spec"]["serviceAccountName"] for each in built if each["kind"] == "ApiServerSource"] == ["olmf-watch"]


def test_one_setting_changes_the_image_everywhere(kubectl: Kubectl, tmp_path: Path) -> None:
    folder = tmp_path / "k8s"
    shutil.copytree(K8S, folder)
    place = folder / "base" / "kustomization.yaml"
    text = re.sub("newName: .*", "newName: example.com/functions", place.read_text())  # as README.md says
    place.write_text(re.sub("newTag: .*", "newTag: '7'", text))
    built = yaml.safe_load_all(kubectl("kustomize", str(folder / "knative")))
    pods = [each["spec"]["template"]["spec"] for each in built if "template" in (each.get("spec") or {})]
    containers = [container for pod in pods for container in pod["containers"]]
    unpacking = {
        entry["value"] for one in containers for entry in one["env"] if entry["name"] == "OLMF_UNPACK_IMAGE"
    }  # fmt: skip
    images = {container["image"] for container in containers if not container["image"].startswith("redis:")}
    assert images == unpacking == {"example.com/functions:7"}
