from itertools import permutations

import pytest

from shared.api.manifest import Manifest, metadata, resource_version_of, uid_of
from shared.api.views import Csv
from shared.domain.csv.rbac import objects_for
from shared.domain.objects.ownership import labels_for
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    WEBHOOK_CONFIGURATIONS,
    Kind,
)
from shared.names import CSV_CLEANUP, REQUIREMENT_CHANGED
from shared.step import NOTHING, Delete, Emit, Merge, Record, SetStatus
from tests.domain.csv.builders import a_component, a_csv, a_group, a_permission, a_status, at
from tests.functions.cluster_service_version.world import World, csv_ref

pytestmark = pytest.mark.unmeasured

REF = csv_ref("a.v1")
CLUSTER_WIDE = {"deployments": [], "clusterPermissions": [a_permission()]}
REPLACED = a_csv(status=a_status("Replacing", "BeingReplaced"))


@pytest.mark.parametrize(
    "csv",
    [
        *(
            pytest.param(a_csv(status=a_status(phase)), id=f"csv.md 4: {phase} belongs to other steps")
            for phase in ("Pending", "InstallReady", "Installing", "Succeeded", "Failed")
        ),
        pytest.param(
            a_csv(status=a_status("Replacing"), meta={"labels": {"olm.copiedFrom": "x"}}), id="csv.md 3.1-4: a copy"
        ),
        pytest.param(
            a_csv(meta={"deletionTimestamp": at(), "finalizers": ["theirs"]}), id="csv.md 3.1-2: ours is done already"
        ),
    ],
)
def test_nothing_to_do(csv: Manifest) -> None:
    assert World([csv, a_group()]).step("replace") == NOTHING


@pytest.mark.parametrize("kind", [API_SERVICE, *WEBHOOK_CONFIGURATIONS])
def test_what_leads_to_a_version_that_is_not_there_goes_at_once_csv_md_18_row_94(kind: Kind) -> None:
    """Its namespace is gone, too, or its finalizer was taken away."""
    living = a_csv("living")

    def leading(name: str, owner: str, namespace: str = "ns") -> Manifest:
        labels = labels_for(owner, namespace)
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, "labels": labels}}

    world = World(
        [living, leading("v1.kept", "living"), leading("v1.left", "gone"), leading("v1.else", "gone", "nowhere")]
    )
    assert world.step("replace", "living").writes == ()
    left = world.objects[kind.ref("v1.left")]
    [delete] = world.does("replace", "gone").writes
    assert delete == Delete(kind.ref("v1.left"), uid_of(left), resource_version=resource_version_of(left))
    assert [kind.ref(name) in world.objects for name in ("v1.kept", "v1.left", "v1.else")] == [True, False, True]


def test_it_goes_when_its_successor_has_succeeded_csv_md_4_7_4_and_18_row_51() -> None:
    world = World([REPLACED, a_csv("a.v2", replaces="a.v1", status=a_status("Succeeded")), a_group()])
    status, event, delete = world.step("replace").writes
    assert isinstance(status, SetStatus)
    assert (status.status["phase"], status.status["reason"]) == ("Deleting", "Replaced")
    assert isinstance(event, Record)
    assert delete == Delete(REF, "uid-a.v1")


def test_deleting_is_repeated_until_it_is_gone_csv_md_4_8() -> None:
    world = World([a_csv(status=a_status("Deleting", "Replaced")), a_group()])
    assert world.step("replace").writes == (Delete(REF, "uid-a.v1"),)


def test_it_waits_for_its_successor_without_a_busy_loop_csv_md_4_7_5() -> None:
    world = World([REPLACED, a_csv("a.v2", replaces="a.v1", status=a_status("Installing")), a_group()])
    outcome = world.step("replace")
    assert (outcome.writes, outcome.emits, outcome.again_in) == ((), (), None)
    assert outcome.wait
    assert outcome.wait.what == "a.v2 to succeed"


def test_the_middle_of_a_chain_tells_the_oldest_that_the_newest_has_succeeded_csv_md_4_7() -> None:
    replacing = a_status("Replacing", "BeingReplaced")
    middle, newest = (
        a_csv(replaces="a.v0", status=replacing),
        a_csv("a.v2", replaces="a.v1", status=a_status("Succeeded")),
    )
    outcome = World([a_csv("a.v0", status=replacing), middle, newest, a_group()]).step("replace")
    assert (outcome.writes, outcome.emits) == ((), (Emit(REQUIREMENT_CHANGED, csv_ref("a.v0")),))
    assert outcome.wait
    assert outcome.wait.what == "a.v0 to be deleted first"


def test_a_circle_of_versions_does_not_recurse_csv_md_19_9() -> None:
    replacing = a_status("Replacing", "BeingReplaced")
    world = World(
        [a_csv(replaces="a.v0", status=replacing), a_csv("a.v0", replaces="a.v1", status=replacing), a_group()]
    )
    assert world.step("replace").emits == ()


def test_who_waited_for_a_version_that_is_gone_is_enqueued_csv_md_18_row_53() -> None:
    world = World([a_csv("a.v2", replaces="a.v1", status=a_status("Replacing"))])
    assert world.step("replace").emits == (Emit(REQUIREMENT_CHANGED, csv_ref("a.v2")),)


def test_who_lost_a_definition_to_a_version_that_is_gone_is_enqueued_csv_md_8_3_8() -> None:
    world = World([a_csv("b.v1", status=a_status("Failed", "OwnerConflict")), a_csv("c.v1", status=a_status("Failed"))])
    assert world.step("replace").emits == (Emit(REQUIREMENT_CHANGED, csv_ref("b.v1")),)


def test_deletion_takes_the_cluster_roles_then_the_finalizer_csv_md_3_1_2() -> None:
    csv = a_csv(
        strategy=CLUSTER_WIDE,
        meta={"deletionTimestamp": at(), "finalizers": ["theirs", CSV_CLEANUP]},
    )
    made = objects_for(Csv(csv), "ns")
    stranger = objects_for(Csv(a_csv("other", strategy=CLUSTER_WIDE)), "ns")
    world = World([csv, *made, *stranger])
    binding, role, patch = world.step("replace").writes
    name = metadata(made[-1])["name"]
    refs = (CLUSTER_ROLE_BINDING.ref(name), CLUSTER_ROLE.ref(name))
    assert (binding, role) == tuple(Delete(ref, uid_of(world.objects[ref])) for ref in refs)
    assert patch == Merge(REF, {"metadata": {"finalizers": ["theirs"]}}, resource_version_of(world.csv()))


def test_a_cluster_role_that_a_finalizer_keeps_does_not_keep_its_version() -> None:
    csv = a_csv(
        strategy=CLUSTER_WIDE,
        meta={"deletionTimestamp": at(), "finalizers": [CSV_CLEANUP]},
    )
    made = [{**one, "metadata": {**one["metadata"], "deletionTimestamp": at()}} for one in objects_for(Csv(csv), "ns")]
    assert [type(write) for write in World([csv, *made]).step("replace").writes] == [Merge]


def test_deletion_of_what_was_labelled_as_a_copy_removes_the_finalizer_csv_md_3_1_2() -> None:
    world = World(
        [a_csv(meta={"deletionTimestamp": at(), "finalizers": [CSV_CLEANUP], "labels": {"olm.copiedFrom": "x"}})]
    )
    assert world.step("replace").writes == (
        Merge(REF, {"metadata": {"finalizers": []}}, resource_version_of(world.csv())),
    )


def test_deletion_needs_no_group_csv_md_3_1_2() -> None:
    world = World([a_csv(meta={"deletionTimestamp": at()})])
    world.does("replace")
    assert REF not in world.objects


def versions(world: World) -> list[tuple[str, str]]:
    found = [item for ref, item in world.objects.items() if ref.kind == CLUSTER_SERVICE_VERSION.kind]
    return sorted((metadata(item)["name"], item["status"]["phase"]) for item in found)


def grow(world: World) -> None:
    """Let the steps and the Deployment controller work until nothing moves."""
    for _ in range(6):
        world.walk_until_rest()
        for ref in [ref for ref in world.objects if ref.kind == "Deployment"]:
            world.available(ref.name)
    world.walk_until_rest()


A = a_csv("a", strategy={"deployments": [a_component("a")]})
B = a_csv("b", replaces="a", strategy={"deployments": [a_component("b")]})
C = a_csv("c", replaces="b", strategy={"deployments": [a_component("c")]})


@pytest.mark.parametrize(
    "order", [*permutations([A, B, C])], ids=lambda order: "csv.md 18 row 59: any order of creation"
)
def test_a_chain_converges(order: tuple[Manifest, ...]) -> None:
    world = World([a_group()])
    for csv in order:
        world.objects[csv_ref(metadata(csv)["name"])] = csv
        for ref in [*world.objects]:
            if ref.kind == CLUSTER_SERVICE_VERSION.kind:
                world.walk(ref.name)
    grow(world)
    assert versions(world) == [("c", "Succeeded")]


def test_a_chain_that_comes_at_once_converges_csv_md_18_row_61() -> None:
    world = World([a_group(), C, B, A])
    grow(world)
    assert versions(world) == [("c", "Succeeded")]


def test_two_versions_in_a_row_that_are_being_replaced_do_not_wait_for_each_other_csv_md_19_9() -> None:
    replacing = a_status("Replacing", "BeingReplaced")
    world = World([a_group(), {**A, "status": replacing}, {**B, "status": replacing}, C])
    grow(world)
    assert versions(world) == [("c", "Succeeded")]
