"""Plans that are executed with the rights of the ServiceAccount that the OperatorGroup names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from shared import kinds
from shared.api.manifest import Manifest, metadata
from shared.kinds import Kind, Ref
from tests.functions.install_plan.test_execute_install_plan import CSV, PLAN, a_plan, an_object, status
from tests.functions.subscription.world import World, a_crd, an_operator_group
from tests.kit.plans import recorded

RBAC = "rbac.authorization.k8s.io"
SERVICE = an_object("Service")
GROUP = an_operator_group(serviceAccountName="limited")


def made(kind: Kind, name: str, **fields: Any) -> Manifest:
    place = {"namespace": "ns"} if kind.is_namespaced else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}


ACCOUNT = made(kinds.SERVICE_ACCOUNT, "limited")


def may(*rules: tuple[str, str, Iterable[str]]) -> list[Manifest]:
    """A Role with these rules (API group, resource, verbs), and its binding to the account."""
    declared = [{"apiGroups": [group], "resources": [one], "verbs": [*verbs]} for group, one, verbs in rules]
    subject = {"kind": "ServiceAccount", "name": "limited", "namespace": "ns"}
    ref = {"apiGroup": RBAC, "kind": "Role", "name": "some"}
    binding = made(kinds.ROLE_BINDING, "some", roleRef=ref, subjects=[subject])
    return [made(kinds.ROLE, "some", rules=declared), binding]


CSVS = ("operators.coreos.com", "clusterserviceversions", ("create", "get"))
SERVICES = ("", "services", ("create", "get", "update"))


def world_of(*objects: Manifest) -> World:
    world = World(GROUP, *objects)
    world.settle()
    return world


def words(world: World) -> list[str]:
    return [step["status"] for step in status(world)["plan"]]


def reported(resource: str, group: str, verb: str = "create") -> str:
    return (
        f'User "system:serviceaccount:ns:limited" cannot {verb} resource "{resource}" in API group "{group}"'
        ' in the namespace "ns"'
    )


def test_without_permissions_the_plan_says_which_one_is_missing() -> None:
    """catalog.md 8.12 row 143."""
    world = world_of(ACCOUNT, a_plan(CSV, SERVICE))
    assert reported("clusterserviceversions", "operators.coreos.com") in status(world)["message"]
    assert (status(world)["phase"], words(world)) == ("Installing", ["Unknown", "Unknown"])
    uid = metadata(world.objects[Ref.of(ACCOUNT)])["uid"]
    assert status(world)["attenuatedServiceAccountRef"]["uid"] == uid


def test_all_permissions_that_are_missing_are_named_at_once() -> None:
    """OLM's sentence about the first stays in front; what is granted is not named any more, and nothing was stored."""
    others = [an_object(kind) for kind in ("ServiceAccount", "Role", "ConfigMap")]
    world = world_of(ACCOUNT, *may(("", "serviceaccounts", ("create", "get"))), a_plan(CSV, SERVICE, *others))
    first, _, more = status(world)["message"].partition("; besides: ")
    assert first.startswith("retrying execution due to error: ClusterServiceVersion ")
    assert reported("clusterserviceversions", "operators.coreos.com") in first
    assert [part.partition(":")[0] for part in more.split("; ")] == ["Service thing", "Role thing", "ConfigMap thing"]
    assert reported("services", "") in more
    assert reported("roles", RBAC) in more
    assert kinds.SERVICE_ACCOUNT.ref("thing", "ns") not in world.objects

    for manifest in may(CSVS, SERVICES):
        world.put(manifest)
    world.settle()
    world.later(seconds=3)
    first, _, more = status(world)["message"].partition("; besides: ")
    assert reported("serviceaccounts", "") in first
    assert [part.partition(":")[0] for part in more.split("; ")] == ["Role thing", "ConfigMap thing"]


def test_behind_what_is_denied_reads_are_tried_out_too_and_other_errors_wait_for_their_turn() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "crown"}}
    impossible = {"apiVersion": "example.com/v1", "kind": "Nothing", "metadata": {"name": "no"}}
    world = world_of(ACCOUNT, a_plan(CSV, secret, impossible))
    more = status(world)["message"].partition("; besides: ")[2]
    assert more.startswith("Secret crown: ")
    assert 'cannot get resource "secrets" in API group "" in the namespace "olm"' in more
    assert "Nothing" not in more


def test_a_plan_that_lacks_a_permission_waits_without_end_and_without_writes() -> None:
    """catalog.md 4.3: a Forbidden error never fails it; issue 15: it does not poll."""
    world = world_of(ACCOUNT, a_plan(CSV))
    world.later(seconds=3)  # the account came
    written = world.requests["write"]
    world.later(seconds=290)
    assert world.requests["write"] == written
    world.later(seconds=3600)
    assert status(world)["phase"] == "Installing"


def test_it_goes_on_where_a_permission_is_granted() -> None:
    """catalog.md 8.12 rows 144, 145 and 147."""
    world = world_of(ACCOUNT, *may(CSVS), a_plan(CSV, SERVICE))
    assert reported("services", "") in status(world)["message"]
    assert words(world) == ["Present", "Unknown"]
    for manifest in may(CSVS, SERVICES):
        world.put(manifest)
    world.settle()
    world.later(seconds=3)
    assert (status(world)["phase"], words(world)) == ("Complete", ["Present", "Created"])
    assert "message" not in status(world)


def test_definitions_are_made_with_our_permissions() -> None:
    """catalog.md 8.12 row 146."""
    definition = a_crd("etcds.example.com")
    for before in ([], [definition]):
        world = world_of(*before, ACCOUNT, *may(CSVS), a_plan(CSV, definition))
        assert status(world)["phase"] == "Complete"


def test_what_may_be_written_but_not_read_is_written() -> None:
    """OLM creates first, and looks only at what exists already."""
    world = world_of(ACCOUNT, *may(CSVS, ("", "services", ["create"])), a_plan(CSV, SERVICE))
    assert status(world)["phase"] == "Complete"


def test_what_exists_and_may_not_be_read_stops_the_plan() -> None:
    """catalog.md 8.12 row 149: it is not known whether it is what was to be written."""
    there = {**SERVICE, "metadata": {"name": "thing", "namespace": "ns"}, "spec": {"ports": [{"port": 443}]}}
    world = world_of(there, ACCOUNT, *may(CSVS, ("", "services", ["create"])), a_plan(CSV, SERVICE))
    assert reported("services", "", "get") in status(world)["message"]
    assert world.objects[kinds.SERVICE.ref("thing", "ns")]["spec"]["ports"][0]["port"] == 443


def test_a_pull_secret_is_copied_only_for_an_account_that_may_read_it() -> None:
    """catalog.md 4.5, row `Secret`: otherwise a tenant would get the Secrets of the global namespace."""
    secret = {**made(kinds.SECRET, "crown", data={"jewel": "eA=="}, type="Opaque")}
    secret["metadata"] = {"name": "crown", "namespace": "olm"}
    step = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "crown"}}
    secrets = ("", "secrets", ("create", "get"))
    world = world_of(secret, ACCOUNT, *may(CSVS, secrets), a_plan(CSV, step))
    assert 'cannot get resource "secrets" in API group "" in the namespace "olm"' in status(world)["message"]
    assert kinds.SECRET.ref("crown", "ns") not in world.objects


def test_a_group_that_names_no_account_any_more_uses_ours() -> None:
    """csv.md 18 row 75; the reference goes, which OLM forgets."""
    world = world_of(ACCOUNT, a_plan(CSV))
    world.put(an_operator_group())
    world.settle()
    assert status(world)["phase"] == "Complete"
    assert "attenuatedServiceAccountRef" not in status(world)


@pytest.mark.parametrize("forged", [None, {"name": "strong", "namespace": "ns", "uid": "1"}], ids=["none", "another"])
def test_what_the_status_says_of_the_account_counts_for_nothing(forged: Manifest | None) -> None:
    """Who may write `installplans/status` chooses no identity."""
    plan = a_plan(CSV)
    if forged:
        plan["status"]["attenuatedServiceAccountRef"] = forged
    world = world_of(ACCOUNT, recorded(plan))
    assert reported("clusterserviceversions", "operators.coreos.com") in status(world)["message"]
    assert status(world)["attenuatedServiceAccountRef"]["name"] == "limited"
    assert PLAN in world.objects


def test_an_account_that_is_made_again_is_another_one() -> None:
    world = world_of(ACCOUNT, a_plan(CSV))
    first = status(world)["attenuatedServiceAccountRef"]["uid"]
    world.remove(Ref.of(ACCOUNT))
    world.later(seconds=3)
    assert "please make sure the service account exists. sa=limited" in status(world)["conditions"][-1]["message"]
    world.put(ACCOUNT)
    world.later(seconds=10)
    assert status(world)["attenuatedServiceAccountRef"]["uid"] != first


DEFINED = "etcds.example.com"
CLUSTER_WIDE = ("apiextensions.k8s.io", "customresourcedefinitions", ("get", "update"))
OBJECTS = ("example.com", "etcds", ("list",))


def may_everywhere(*rules: tuple[str, str, Iterable[str]]) -> list[Manifest]:
    """The same rights in the whole cluster."""
    role, binding = may(*rules)
    role = {**made(kinds.CLUSTER_ROLE, "wide"), "rules": role["rules"]}
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "wide"}
    return [role, made(kinds.CLUSTER_ROLE_BINDING, "wide", roleRef=ref, subjects=binding["subjects"])]


def brought_by(*versions: str, **schema: Any) -> Manifest:
    """A definition that plans brought with these versions."""
    definition = a_crd(DEFINED)
    marks = {f"operatorframework.io/installed-alongside-{index}": one for index, one in enumerate(versions)}
    definition["metadata"]["annotations"] = marks
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] |= schema
    return definition


STRICT = brought_by(description="another", properties={"spec": {"type": "object", "maxProperties": 0}})
FOREIGN = [
    pytest.param((), id="that no plan brought"),
    pytest.param(("other/etcd.v1",), id="of another namespace"),
    pytest.param(("other/etcd.v1", "ns/etcd.v1"), id="that it shares with another namespace"),
]


@pytest.mark.parametrize("owners", FOREIGN)
def test_a_definition_of_others_is_changed_with_the_permissions_of_the_account(owners: tuple[str, ...]) -> None:
    """Else a tenant could change the API of any operator, and claim it; OLM lets it."""
    theirs = brought_by(*owners)
    world = world_of(theirs, ACCOUNT, *may(CSVS), a_plan(CSV, STRICT))
    assert "cannot list resource" in status(world)["message"]
    for manifest in may_everywhere(OBJECTS):
        world.put(manifest)
    world.later(seconds=3)
    assert 'cannot update resource "customresourcedefinitions"' in status(world)["message"]
    found = world.objects[Ref.of(theirs)]
    assert (found["spec"], metadata(found)["annotations"]) == (theirs["spec"], metadata(theirs)["annotations"])
    for manifest in may_everywhere(OBJECTS, CLUSTER_WIDE):
        world.put(manifest)
    world.later(seconds=3)
    assert status(world)["phase"] == "Complete"
    assert world.objects[Ref.of(theirs)]["spec"]["versions"] == STRICT["spec"]["versions"]


def test_the_objects_of_others_are_reported_only_to_who_may_list_them() -> None:
    """The sentence about what does not fit quotes it: a schema could ask for the values of any object."""
    secret = {"apiVersion": "example.com/v1", "kind": "Etcd", "spec": {"crown": "jewel"}}
    secret["metadata"] = {"name": "one", "namespace": "other"}
    served = Kind("example.com/v1", "Etcd", "etcds")
    world = World(GROUP, secret, ACCOUNT, *may(CSVS), a_plan(CSV, STRICT), served=[served])
    world.settle()
    assert 'cannot list resource "etcds" in API group "example.com" at the cluster scope' in status(world)["message"]
    assert "other/one" not in str(status(world))


def test_a_definition_of_others_that_is_the_same_needs_no_permission_and_gets_no_claim() -> None:
    """Several tenants install one operator; whom the annotation names decides about conversions and roles."""
    theirs = brought_by("other/etcd.v1")
    same = a_crd(DEFINED)
    for word in ("singular", "listKind"):
        del same["spec"]["names"][word]
    world = world_of(theirs, ACCOUNT, *may(CSVS), a_plan(CSV, same))
    assert status(world)["phase"] == "Complete"
    assert metadata(world.objects[Ref.of(theirs)])["annotations"] == metadata(theirs)["annotations"]


def test_a_definition_that_only_this_namespace_brought_is_updated() -> None:
    """catalog.md 8.12 row 146: upgrades of an account without rights on definitions."""
    world = world_of(brought_by("ns/etcd.v0"), ACCOUNT, *may(CSVS), a_plan(CSV, brought_by(description="another")))
    assert status(world)["phase"] == "Complete"
    assert "description" in str(world.objects[kinds.CUSTOM_RESOURCE_DEFINITION.ref(DEFINED)]["spec"])
