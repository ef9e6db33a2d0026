"""What a move between the generations makes and takes away beside the objects of the bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from eventing.cli.requests.moved_objects import copies_of, of_extension, of_subscription, version
from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension, Csv, Subscription
from shared.kinds import Kind
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

CSV_LABELS = {"olm.owner": "p.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"}
OF_P = {"olm.operatorframework.io/owner-name": "p"}


def an_object(kind: Kind, name: str, *owners: str, labels: dict[str, str] | None = None, **more: Any) -> Manifest:
    meta: Manifest = {"name": name, "uid": name, "labels": labels or {}}
    meta |= {"namespace": "ns"} if kind.is_namespaced else {}
    meta["ownerReferences"] = [{"apiVersion": "x/v1", "kind": "X", "name": one, "uid": one} for one in owners]
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


SUBSCRIPTION = an_object(kinds.SUBSCRIPTION, "s")
CSV = an_object(kinds.CLUSTER_SERVICE_VERSION, "p.v1")


def test_what_the_garbage_collector_takes_is_listed_too() -> None:
    kept = an_object(kinds.ROLE, "kept", "p.v1")
    cluster = FakeCluster([
        kept,
        an_object(kinds.INSTALL_PLAN, "install-1", "s"),
        an_object(kinds.INSTALL_PLAN, "install-2", "s", "another"),
        an_object(kinds.OPERATOR_CONDITION, "p.v1", "p.v1"),
        an_object(kinds.ROLE, "role", "p.v1"),
        an_object(kinds.CLUSTER_ROLE, "mine", labels=CSV_LABELS),
        an_object(kinds.CLUSTER_ROLE, "others", labels={**CSV_LABELS, "olm.owner.namespace": "other"}),
    ])  # fmt: skip
    found = of_subscription(cast("KubeClient", cluster), Subscription(SUBSCRIPTION), Csv(CSV), [kept])
    assert [(str(one.effect), one.manifest["kind"], one.manifest["metadata"]["name"]) for one in found] == [
        ("remove", "Subscription", "s"),
        ("remove", "ClusterServiceVersion", "p.v1"),
        ("remove", "InstallPlan", "install-1"),
        ("remove", "OperatorCondition", "p.v1"),
        ("remove", "Role", "role"),
        ("remove", "ClusterRole", "mine"),
    ]


def test_an_extension_goes_with_its_revisions_and_their_secrets() -> None:
    extension = an_object(kinds.CLUSTER_EXTENSION, "p")
    cluster = FakeCluster([
        an_object(kinds.CLUSTER_OBJECT_SET, "p-1", labels=OF_P),
        an_object(kinds.SECRET, "p-1-x", labels=OF_P, type="olm.operatorframework.io/object-data"),
        an_object(kinds.SECRET, "token", labels=OF_P, type="Opaque"),
    ])  # fmt: skip
    found = of_extension(cast("KubeClient", cluster), ClusterExtension(extension), "ns")
    assert [one.manifest["metadata"]["name"] for one in found] == ["p", "p-1", "p-1-x"]


def test_copies_are_counted() -> None:
    copy = an_object(kinds.CLUSTER_SERVICE_VERSION, "p.v1", labels={"olm.copiedFrom": "ns"})
    remark = "1 copies of p.v1 in other namespaces go with it"
    assert copies_of(Csv(version("p.v1", "ns")), [Csv(copy), Csv(CSV)]) == (remark,)
    assert copies_of(Csv(CSV), [Csv(CSV)]) == ()
