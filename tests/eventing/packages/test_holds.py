"""`olmf hold` and `--release`: one annotation is put, every one that holds is taken away."""

from __future__ import annotations

from typing import Any, cast

from eventing.packages.requests import set_hold
from shared import names
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, annotations_of
from shared.kinds import SUBSCRIPTION, Ref
from tests.kit.cluster import FakeCluster

REF = SUBSCRIPTION.ref("a", "ns")


class Annotated(FakeCluster):
    """A cluster that takes merge patches of annotations."""

    def merge(self, ref: Ref, patch: Manifest) -> None:
        metadata: dict[str, Any] = dict(self.objects[ref]["metadata"])
        found = {**metadata.get("annotations", {}), **patch["metadata"]["annotations"]}
        metadata["annotations"] = {name: value for name, value in found.items() if value is not None}
        self.objects[ref] = {**self.objects[ref], "metadata": metadata}


def a_cluster(installed: str = "", **annotations: str) -> Annotated:
    metadata = {"name": "a", "namespace": "ns", "annotations": annotations}
    manifest = {"apiVersion": REF.api_version, "kind": REF.kind, "metadata": metadata, "spec": {"name": "a"}}
    return Annotated([{**manifest, "status": {"installedCSV": installed}}])


def test_a_hold_names_what_is_kept() -> None:
    cluster = a_cluster("a.v1")
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "audit") == "a is held at a.v1: audit"
    assert annotations_of(cluster.objects[REF]) == {names.HOLD: "audit"}
    assert set_hold(cast("KubeClient", a_cluster()), "ns", "a", "audit") == (
        "a is held before anything is installed: audit"
    )


def test_a_release_takes_every_hold_away() -> None:
    cluster = a_cluster("a.v1", **{names.HOLD: "audit", names.HOLD_INSTALLED: "as tested", "other": "stays"})
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "") == "a is released"
    assert annotations_of(cluster.objects[REF]) == {"other": "stays"}
