from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from eventing.diagnosis.replay.world_ports import NothingRead
from functions.maintenance.collect_garbage import collect_garbage
from shared import kinds
from shared.kinds import API_SERVICE, CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, OPERATOR, WEBHOOK_CONFIGURATIONS, Kind
from shared.ports import ReadSets
from shared.step import Delete, Outcome, Ref
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster
from tests.kit.copies import FakeCopies
from tests.kit.inventory import FakeInventory

ANYTHING = kinds.NAMESPACE.ref("sweep")


def a_plan(number: int, generation: int, namespace: str = "ns", created: str = "") -> dict[str, Any]:
    meta = {"name": f"install-{number:02}", "namespace": namespace, "uid": f"u{number}", "creationTimestamp": created}
    kind = kinds.INSTALL_PLAN
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": {"generation": generation}}


def refused(plan: dict[str, Any]) -> dict[str, Any]:
    reason = {"type": "Installed", "status": "False", "reason": "NotPlannedHere"}
    return {**plan, "status": {"phase": "RequiresApproval", "conditions": [reason]}}


def a_subscription(plan: str) -> dict[str, Any]:
    kind = kinds.SUBSCRIPTION
    status = {"installPlanRef": {"name": plan}}
    meta = {"name": "s", "namespace": "ns"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "status": status}


@dataclass
class FakeContent:
    """Implements `Content`: everything else has `surplus` bytes."""

    surplus: int = 0
    kept: list[str] = field(default_factory=list)

    def keep_only(self, references: Sequence[str]) -> int:
        self.kept += references
        return self.surplus


@dataclass
class FakeReadSets(NothingRead):
    """Implements `ReadSets`: something is kept of three others."""

    kept: list[Ref] = field(default_factory=list)

    def keep_only(self, refs: Sequence[Ref]) -> int:
        self.kept += refs
        return 3


def collected(
    cluster: FakeCluster, content: FakeContent | None = None, *, read_sets: ReadSets | None = None,
    present: FakeCluster | None = None,
) -> Outcome:  # fmt: skip
    """`cluster` is what is remembered of the owners, `present` what is there (empty: the same)."""
    made, inventory = FakeCopies(present or cluster), FakeInventory(present or cluster)
    return collect_garbage(
        ANYTHING, cluster, made, inventory, content or FakeContent(), read_sets=read_sets or NothingRead()
    )


def a_catalog(name: str, address: str | None) -> dict[str, Any]:
    kind = kinds.CATALOG_SOURCE
    status = {"connectionState": {"address": address}} if address is not None else {}
    meta = {"name": name, "namespace": "ns"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "status": status}


def test_catalogs_that_no_object_refers_to_are_forgotten() -> None:
    cluster = FakeCluster(
        [a_catalog("b", "q.io/b@sha256:2"), a_catalog("a", "grpc://a:1@sha256:1"), a_catalog("c", None)]
    )
    content = FakeContent(surplus=70)
    outcome = collected(cluster, content)
    assert content.kept == ["grpc://a:1@sha256:1", "q.io/b@sha256:2"]
    assert outcome.message == "deletes 0 objects; forgets 70 bytes of catalogs that nothing refers to"


def test_where_nothing_is_to_be_forgotten_nothing_is_said() -> None:
    cluster = FakeCluster()
    assert collected(cluster).message == "deletes 0 objects"


def test_what_was_read_for_objects_that_are_gone_is_forgotten() -> None:
    """They were deleted while no watcher ran; who has no Subscription any more needs no catalog."""
    cluster, read_sets = FakeCluster([a_subscription("plan")]), FakeReadSets()
    outcome = collected(cluster, read_sets=read_sets)
    assert read_sets.kept == [kinds.NAMESPACE.ref("ns"), kinds.SUBSCRIPTION.ref("s", "ns")]
    assert outcome.message == "deletes 0 objects; forgets what was read of catalogs for 3 objects that are gone"


def deleted(*objects: dict[str, Any]) -> list[str]:
    cluster = FakeCluster(objects)
    outcome = collected(cluster)
    assert outcome.emits == ()
    assert all(isinstance(write, Delete) and write.uid for write in outcome.writes)
    return [f"{write.ref.namespace}/{write.ref.name}" for write in outcome.writes if isinstance(write, Delete)]


@pytest.mark.parametrize(
    ("plans", "gone"),
    [
        pytest.param([a_plan(n, n) for n in range(5)], [], id="catalog.md 3.9: five are kept"),
        pytest.param(
            [a_plan(n, n) for n in range(12)],
            [f"ns/install-{n:02}" for n in range(7)],
            id="catalog.md 3.9: of twelve the newest five stay",
        ),
        pytest.param(
            [a_plan(n, 1, created=f"2025-01-{20 - n:02}") for n in range(6)],
            ["ns/install-05"],
            id="catalog.md 3.9: within a generation the oldest goes first",
        ),
        pytest.param([a_plan(n, 1) for n in range(6)], ["ns/install-00"], id="catalog.md 3.9: then by name"),
        pytest.param(
            [a_plan(n, n, namespace=f"n{n % 2}") for n in range(10)], [], id="catalog.md 3.9: counted per namespace"
        ),
        pytest.param(
            [*(a_plan(n, n) for n in range(7)), a_subscription("install-00")],
            ["ns/install-01"],
            id="catalog.md 3.9: one that a Subscription names stays: there is a plan per component",
        ),
        pytest.param(
            [
                *(a_plan(n, n) for n in range(5)),
                refused(a_plan(5, 9)),
                refused(a_plan(6, 9)),
                a_subscription("install-06"),
            ],
            ["ns/install-05"],
            id="a refused plan, which counts no more, goes before older ones, unless a Subscription names it",
        ),
    ],
)
def test_old_plans_go(plans: list[dict[str, Any]], gone: list[str]) -> None:
    assert deleted(*plans) == gone


GOING = "2026-01-01T00:00:00Z"


def going(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "deletionTimestamp": GOING, "finalizers": ["mine.io/x"]}}


def test_what_is_being_deleted_is_not_deleted_again() -> None:
    """Their finalizers may keep them for ever."""
    lost = a_csv("old.v1", "a", labels={"olm.copiedFrom": "ns"}, annotations={"olm.operatorNamespace": "ns"})
    role = a_cluster_role("one", "OperatorGroup", "gone")
    assert deleted(*(going(a_plan(n, n)) for n in range(56)), going(lost), going(role)) == []


def test_plans_that_are_being_deleted_count_no_more() -> None:
    assert deleted(*(a_plan(n, n) for n in range(5)), *(going(a_plan(n, n)) for n in range(5, 10))) == []


def test_a_copy_without_original_goes() -> None:
    """csv.md 10.4: the original was deleted while nobody watched."""
    annotations = {"olm.operatorNamespace": "ns"}
    orphan = a_csv("old.v1", "a", labels={"olm.copiedFrom": "ns"}, annotations=annotations)
    copy = a_csv("op.v1", "a", labels={"olm.copiedFrom": "ns"}, annotations=annotations)
    group = a_group(targets=["a"])

    assert deleted(group, a_csv(member_of=group), orphan, copy) == ["a/old.v1"]


def a_cluster_role(name: str, kind: str, owner: str) -> dict[str, Any]:
    labels = {"olm.owner": owner, "olm.owner.namespace": "ns", "olm.owner.kind": kind}
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels}
    return {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind, "metadata": meta}


@pytest.mark.parametrize(
    ("kind", "living"),
    [
        pytest.param(CLUSTER_SERVICE_VERSION.kind, a_csv("living"), id="csv.md 8.9: of a version that is gone"),
        pytest.param("OperatorGroup", a_group("living"), id="csv.md 19 row 17: of a group that is gone"),
    ],
)
def test_roles_without_owner_go(kind: str, living: dict[str, Any]) -> None:
    roles = [a_cluster_role("kept", kind, "living"), a_cluster_role("left", kind, "dead")]
    theirs = {**a_cluster_role("theirs", "Deployment", "dead")}

    assert deleted(living, *roles, theirs) == ["/left"]


@pytest.mark.parametrize("kind", [API_SERVICE, *WEBHOOK_CONFIGURATIONS])
def test_what_leads_to_a_version_that_is_gone_goes_csv_md_18_row_94(kind: Kind) -> None:
    found = [
        {**a_cluster_role(name, CLUSTER_SERVICE_VERSION.kind, owner), "apiVersion": kind.api_version, "kind": kind.kind}
        for name, owner in (("kept", "living"), ("left", "dead"))
    ]
    assert deleted(a_csv("living"), *found) == ["/left"]


@pytest.mark.parametrize(("others", "is_kept"), [((), False), (("other",), True)])
def test_a_permission_that_others_share_does_not_go_with_its_first_owner_csv_md_19_16(
    others: tuple[str, ...], *, is_kept: bool
) -> None:
    kind = kinds.CLUSTER_ROLE_BINDING
    binding = {
        **a_cluster_role("a-service-system:auth-delegator", "ClusterServiceVersion", "gone"), "kind": kind.kind,
        "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": place} for place in ("ns", *others)],
    }  # fmt: skip
    cluster = FakeCluster([binding])
    writes = collected(cluster).writes
    assert bool(writes) != is_kept


def an_api_role(name: str, provider: str) -> dict[str, Any]:
    marks = {"labels": {"olm.managed": "true"}, "annotations": {"olmf.io/provided-by": provider}}
    meta = {"name": name, "uid": f"uid-{name}", **marks}
    return {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind, "metadata": meta}


GOOSE = "geese.birds.com/v1/Goose"
COPIED = {"labels": {"olm.copiedFrom": "ns"}, "annotations": {"olm.operatorNamespace": "ns"}}


ADMIN = an_api_role("geese.birds.com-v1-admin", "ns/op.v1")


def versioned(manifest: dict[str, Any], version: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


@pytest.mark.parametrize(("remembered", "present", "owned"), [
    pytest.param([], a_group(), a_cluster_role("g", "OperatorGroup", "g"), id="a group that was just made"),
    pytest.param([], a_csv(), a_cluster_role("b", "ClusterServiceVersion", "op.v1"), id="a version that was just made"),
    pytest.param([], a_csv(owns=[GOOSE]), ADMIN, id="a version whose API it is"),
    pytest.param([a_csv()], versioned(a_csv(owns=[GOOSE]), "8"), ADMIN, id="it claims it since"),
    pytest.param([], a_csv(), a_csv("op.v1", "far", **COPIED), id="the original of a copy"),
])  # fmt: skip
def test_an_owner_that_was_made_or_changed_meanwhile_keeps_what_it_has(
    remembered: list[dict[str, Any]], present: dict[str, Any], owned: dict[str, Any]
) -> None:
    """A worker remembers owners for seconds, and lists what they own anew."""
    outdated = FakeCluster([*remembered, owned])
    assert collected(outdated).writes != (), "by what is remembered it has to go"
    assert collected(outdated, present=FakeCluster([present, owned])).writes == ()


@pytest.mark.parametrize(
    ("provider", "is_kept"),
    [
        pytest.param(a_csv(owns=["geese.birds.com/v1/Goose"]), True, id="its version claims the API"),
        pytest.param(a_csv(owns=["geese.birds.com/v2/Goose"]), False, id="it claims another version of it"),
        pytest.param(a_csv(), False, id="it claims it no more"),
        pytest.param(a_csv("op.v2", owns=["geese.birds.com/v1/Goose"]), False, id="it is gone"),
        pytest.param(a_csv(owns=["geese.birds.com/v1/Goose"], deleted=True), False, id="it is being deleted"),
        pytest.param(
            a_csv(owns=["geese.birds.com/v1/Goose"], labels={"olm.copiedFrom": "x"}), False, id="it is a copy now"
        ),
    ],
)
def test_a_role_of_an_api_goes_with_its_version(provider: dict[str, Any], *, is_kept: bool) -> None:
    """Its event was lost, or its namespace has no group that could look."""
    foreign = an_api_role("olm.og.g.admin-x", "")
    role = an_api_role("geese.birds.com-v1-admin", "ns/op.v1")
    found = [name for name in deleted(provider, role, foreign) if name.startswith("/")]
    assert found == ([] if is_kept else ["/geese.birds.com-v1-admin"])


def test_a_role_of_an_aggregated_api_goes_with_its_version() -> None:
    hats = {"name": "hats", "group": "heads.com", "version": "v1", "kind": "Hat"}
    role = an_api_role("hats.heads.com-v1-admin", "ns/op.v1")
    assert not [name for name in deleted(a_csv(services=[hats]), role) if name.startswith("/")]
    assert "/hats.heads.com-v1-admin" in deleted(a_csv(), role)


AGGREGATED = "olm.opgroup.permissions/aggregate-to-1a2b-edit"


@pytest.mark.parametrize(
    ("owner", "labels", "annotations", "is_kept"),
    [
        pytest.param("APIService", {AGGREGATED: "true"}, {}, False, id="of an aggregated API"),
        pytest.param("CustomResourceDefinition", {AGGREGATED: "true"}, {}, False, id="of a definition"),
        pytest.param("customresourcedefinition", {AGGREGATED: "true"}, {}, True, id="by OLM"),
        pytest.param("APIService", {}, {}, True, id="no role of an API"),
        pytest.param(
            "CustomResourceDefinition",
            {AGGREGATED: "true"},
            {"olmf.io/provided-by": "ns/op.v1"},
            True,
            id="marked",
        ),
    ],
)
def test_roles_that_earlier_builds_wrote_for_claims_go(
    owner: str, labels: dict[str, str], annotations: dict[str, str], *, is_kept: bool
) -> None:
    csv = a_csv(owns=["geese.birds.com/v1/Goose"])
    role = {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {
            "name": "geese.birds.com-v1-edit",
            "uid": "u",
            "labels": {"olm.managed": "true", **labels},
            "annotations": annotations,
            "ownerReferences": [{"kind": owner, "name": "x", "uid": "y"}],
        },
    }
    cluster = FakeCluster([csv, role])
    gone = collected(cluster).writes
    assert gone == (() if is_kept else (Delete(CLUSTER_ROLE.ref("geese.birds.com-v1-edit"), "u"),))


def test_operators_of_our_making_go_when_their_last_component_is_gone() -> None:
    """A tenant may label what it likes and delete it again: nothing of that may stay in the cluster for ever."""

    def an_operator(name: str, *, labels: dict[str, str], **components: object) -> dict[str, Any]:
        meta = {"name": name, "uid": f"uid-{name}", "labels": labels}
        return {
            "apiVersion": OPERATOR.api_version,
            "kind": OPERATOR.kind,
            "metadata": meta,
            "status": {"components": components},
        }

    ours = {"olm.managed": "true"}
    found = [
        an_operator("empty", labels=ours),
        an_operator("whole", labels=ours, refs=[{"kind": "Role", "name": "a"}]),
        an_operator("theirs", labels={}),
    ]
    assert deleted(*found) == ["/empty"]
