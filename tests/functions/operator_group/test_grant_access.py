from __future__ import annotations

from typing import Any

import pytest

from functions.operator_group.grant_access import grant_access
from shared.api.views import Csv
from shared.domain.csv.rbac import objects_for
from shared.domain.objects.ownership import owner_labels
from shared.kinds import CLUSTER_ROLE, INSTALL_PLAN, OPERATOR_GROUP, Kind, Ref
from shared.ports import Attempt, Policy
from shared.step import Apply, Delete, Merge, Outcome
from tests.functions.operator_group.builders import a_csv, a_definition, a_group
from tests.kit.cluster import FakeCluster
from tests.kit.inventory import FakeInventory

REF = OPERATOR_GROUP.ref("g", "ns")
GOOSE_CRD = "geese.birds.com/v1/Goose"
GOOSE = "Goose.v1.birds.com"
RULES = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
DEFAULTS, LIFTING = Policy(), Policy(lift_foreign_roles=True)
TRUSTING = Policy(grant_claimed_apis=True)
NEEDS_ROLES = {"permissions": [{"serviceAccountName": "sa", "rules": RULES}]}


def run(*objects: dict[str, Any], policy: Policy = DEFAULTS) -> Outcome:
    return ran(FakeCluster(objects), policy=policy)


def ran(cluster: FakeCluster, ref: Ref = REF, *, policy: Policy = DEFAULTS) -> Outcome:
    return grant_access(ref, cluster, FakeInventory(cluster), policy, attempt=Attempt())


def applied(outcome: Outcome) -> dict[str, dict[str, Any]]:
    manifests = [write.manifest for write in outcome.writes if isinstance(write, Apply)]
    metas = [manifest["metadata"] for manifest in manifests]
    return {
        f"{manifest['kind']}/{meta.get('namespace', '')}/{meta['name']}": manifest
        for manifest, meta in zip(manifests, metas, strict=True)
    }


def settled(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects, and everything that the step writes for them."""
    return [*objects, *applied(run(*objects)).values()]


def a_role(kind: str = "Role", *, csv: dict[str, Any], **content: Any) -> dict[str, Any]:
    """As somebody made it who copied the marks of our roles."""
    meta = {
        "name": "op-role",
        "namespace": "ns",
        "labels": {
            "olm.owner": csv["metadata"]["name"],
            "olm.owner.namespace": "ns",
            "olm.owner.kind": "ClusterServiceVersion",
        },
        "ownerReferences": [
            {
                "apiVersion": "operators.coreos.com/v1alpha1",
                "kind": "ClusterServiceVersion",
                "name": csv["metadata"]["name"],
                "uid": csv["metadata"]["uid"],
            }
        ],
    }
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, **content}


def forged_permissions_of(csv: dict[str, Any]) -> list[dict[str, Any]]:
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "op-role"}
    subjects = [{"kind": "ServiceAccount", "name": "sa"}, {"kind": "User", "name": "tenant"}]
    return [
        a_role(csv=csv, rules=[{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]),
        a_role("RoleBinding", csv=csv, roleRef=role_ref, subjects=subjects),
    ]


def permissions_of(csv: dict[str, Any], phase: str = "Complete") -> list[dict[str, Any]]:
    """The Role and RoleBinding of its permissions, and the InstallPlan that made them."""
    made = [dict(each) for each in objects_for(Csv(csv), "ns")]
    steps = [
        {
            "resolving": csv["metadata"]["name"],
            "resource": {"kind": one["kind"], "name": one["metadata"]["name"]},
            "status": "Created",
        }
        for one in made
    ]
    meta = {"name": "install-1", "namespace": "ns"}
    status = {"phase": phase, "plan": steps}
    plan = {"apiVersion": INSTALL_PLAN.api_version, "kind": INSTALL_PLAN.kind, "metadata": meta, "status": status}
    return [*made, plan]


def named(kind: str, csv: dict[str, Any], place: str = "") -> str:
    """The key in `applied` of the generated role or binding of the version."""
    (role,) = (one for one in objects_for(Csv(csv), "ns") if one["kind"] == "Role")
    return f"{kind}/{place}/{role['metadata']['name']}"


def test_a_group_has_three_roles_also_without_apis() -> None:
    """csv.md 8.7: created for every group, even with no APIs; 18.5 row 121: no APIs, no rule."""
    roles = applied(run(a_group("default", targets=[""]), a_group(targets=["a"])))

    assert [name.partition("-")[0] for name in roles] == [
        "ClusterRole//olm.og.g.admin",
        "ClusterRole//olm.og.g.edit",
        "ClusterRole//olm.og.g.view",
    ]
    for role in roles.values():
        assert role["rules"] == []
        assert "aggregationRule" not in role
        assert role["metadata"]["labels"] == {
            "olm.managed": "true",
            "olm.owner": "g",
            "olm.owner.namespace": "ns",
            "olm.owner.kind": "OperatorGroup",
        }


def test_a_group_whose_name_no_label_holds_still_serves_its_operators() -> None:
    """csv.md 8.7 and 8.8: its own roles would be refused; those of the APIs and of the operators are not about it."""
    group = a_group("g" * 64, targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])

    outcome = ran(FakeCluster([group, csv, a_definition()]), OPERATOR_GROUP.ref("g" * 64, "ns"))

    assert len(applied(outcome)) == 4
    assert not [name for name in applied(outcome) if "olm.og." in name]
    assert "a shorter name" in outcome.message


def test_roles_aggregate_every_provided_api() -> None:
    """csv.md 8.3 step 6: what members really own, whatever the annotation says; 8.7: sorted selectors; 18.5 row 112."""
    group = a_group(targets=["a"], provided="Bull.v1.m.com")
    csv = a_csv(member_of=group, owns=[GOOSE_CRD, "cows.m.com/v1/Cow", "bulls.m.com/v1/Bull"], phase="Pending")

    roles = applied(run(group, csv, a_definition(), a_definition(name="cows.m.com", kind="Cow")))

    (admin,) = (role for name, role in roles.items() if "olm.og.g.admin-" in name)
    labels = [next(iter(item["matchLabels"])) for item in admin["aggregationRule"]["clusterRoleSelectors"]]
    assert len(labels) == 2
    assert labels == sorted(labels)
    assert all(label.startswith("olm.opgroup.permissions/aggregate-to-") for label in labels)
    assert all(label.endswith("-admin") for label in labels)


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param({"labels": {"olm.copiedFrom": "far"}}, id="csv.md 10: a copy, whose group is elsewhere"),
        pytest.param({"deleted": True}, id="csv.md 4.8: a version that is being deleted"),
    ],
)
def test_versions_that_get_no_roles(csv: dict[str, Any]) -> None:
    group = a_group(targets=["a"])

    roles = applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD], **csv), a_definition()))

    assert [name for name in roles if "olm.og." not in name] == []


def test_nothing_is_written_twice() -> None:
    """csv.md 18.5 row 114: in sync, no update; foreign labels are kept."""
    group = a_group(targets=[""], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD], install=NEEDS_ROLES)
    world = settled(group, csv, a_definition(), *permissions_of(csv))
    for item in world:
        item["metadata"].setdefault("labels", {})["mine"] = "1"

    assert len([item for item in world if "geese.birds.com-v1-" in item["metadata"]["name"]]) == 4
    assert run(*world).writes == ()


def test_wrong_owner_labels_are_repaired() -> None:
    """csv.md 18.5 row 114."""
    group, *roles = settled(a_group(targets=["a"]))
    roles[0]["metadata"]["labels"]["olm.owner"] = "somebody"

    assert [write.manifest["metadata"]["name"] for write in run(group, *roles).writes if isinstance(write, Apply)] == [
        roles[0]["metadata"]["name"]
    ]


def test_roles_of_the_old_names_are_left_alone() -> None:
    """csv.md 18.5 row 113: kept; new-style roles are added."""
    meta = {"name": "g-admin", "uid": "old", "labels": {"olm.managed": "true"}}
    old = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": meta}

    outcome = run(a_group(targets=["a"]), old)

    assert len(applied(outcome)) == len(outcome.writes) == 3
    assert not [name for name in applied(outcome) if "g-admin" in name and "olm.og" not in name]


def test_a_rule_that_olm_wrote_is_taken_away_where_nothing_is_to_be_aggregated() -> None:
    """An Apply would leave it there, and the API server would fill in what we empty, for ever."""
    _, *roles = settled(a_group(targets=["a"]))
    for role in roles:
        role["metadata"]["resourceVersion"] = "7"
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"olms": "true"}}]}

    outcome = run(a_group(targets=["a"]), *roles)

    assert outcome.writes == tuple(
        Merge(CLUSTER_ROLE.ref(role["metadata"]["name"]), {"aggregationRule": None, "rules": []}, "7") for role in roles
    )


def test_the_roles_of_a_deleted_group_go() -> None:
    """csv.md 8.7, 8.11: found by owner labels; others stay."""
    _, *roles = settled(a_group(targets=["a"]))
    for role in roles:
        role["metadata"]["uid"] = "u"
    other = a_group("other", targets=["a"])

    outcome = run(other, *roles)

    assert outcome.writes == tuple(
        Delete(CLUSTER_ROLE.ref(role["metadata"]["name"]), "u")
        for role in sorted(roles, key=lambda role: str(role["metadata"]["name"]))
    )


def test_a_role_that_a_finalizer_keeps_is_not_deleted_again() -> None:
    _, *roles = settled(a_group(targets=["a"]))
    for role in roles:
        role["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert run(*roles).writes == ()


def test_the_roles_of_a_provided_api() -> None:
    """csv.md 8.8: admin, edit, view, crdview; names, rules, labels, owner; 18.8 row 151: a real kind."""
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])

    roles = applied(run(group, csv, a_definition()))

    rules = {name.rpartition("-")[2]: role["rules"] for name, role in roles.items() if "geese.birds.com-v1-" in name}
    one = {"apiGroups": ["birds.com"], "resources": ["geese"]}
    assert rules == {
        "admin": [{"verbs": ["*"], **one}],
        "edit": [{"verbs": ["create", "update", "patch", "delete"], **one}],
        "view": [{"verbs": ["get", "list", "watch"], **one}],
        "crdview": [
            {
                "verbs": ["get"],
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "resourceNames": ["geese.birds.com"],
            }
        ],
    }
    view = roles["ClusterRole//geese.birds.com-v1-crdview"]["metadata"]
    assert set(view["labels"]) == {
        "rbac.authorization.k8s.io/aggregate-to-view",
        "olm.opgroup.permissions/aggregate-to-" + view_hash(roles) + "-view",
        "olm.managed",
    }
    (owner,) = view["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("CustomResourceDefinition", "geese.birds.com", "crd-uid")


def view_hash(roles: dict[str, dict[str, Any]]) -> str:
    """The hash by which the group's own role selects the API."""
    (role,) = (role for name, role in roles.items() if "olm.og.g.view-" in name)
    (selector,) = role["aggregationRule"]["clusterRoleSelectors"]
    label = str(next(iter(selector["matchLabels"])))
    return label.removeprefix("olm.opgroup.permissions/aggregate-to-").removesuffix("-view")


@pytest.mark.parametrize(
    "phase", [pytest.param("Pending", id="csv.md 8.8: not before"), pytest.param("Failed", id="csv.md 8.8: not failed")]
)
def test_api_roles_come_with_health(phase: str) -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD], phase=phase)

    assert not [name for name in applied(run(group, csv, a_definition())) if "geese" in name]


def test_a_definition_that_is_gone_gets_no_roles() -> None:
    group = a_group(targets=["a"], provided=GOOSE)

    assert not [name for name in applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD]))) if "geese" in name]


def test_the_definition_is_read_whatever_the_status_of_the_version_says() -> None:
    group = a_group(targets=["a"], provided=GOOSE)

    roles = applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition("found")))

    assert roles["ClusterRole//geese.birds.com-v1-admin"]["metadata"]["ownerReferences"][0]["uid"] == "found"


def test_roles_that_went_with_their_definition_stay_away() -> None:
    """csv.md 8.8: garbage collection deletes them with their owner, before the version has looked again."""
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])
    world = settled(group, csv, a_definition())
    left = [item for item in world if "geese.birds.com" not in item["metadata"]["name"]]

    assert not [name for name in applied(run(*left)) if "geese" in name]


@pytest.mark.parametrize(
    "field", [pytest.param("rules", id="csv.md 8.8: rules differ"), pytest.param("labels", id="csv.md 8.8: labels do")]
)
def test_a_role_of_an_api_that_somebody_edited_is_repaired(field: str) -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    world = settled(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition())
    (role,) = (item for item in world if item["metadata"]["name"] == "geese.birds.com-v1-edit")
    (role if field == "rules" else role["metadata"])[field] = {}

    assert list(applied(run(*world))) == ["ClusterRole//geese.birds.com-v1-edit"]


def an_api_service(name: str, automanaged: str = "", **spec: Any) -> dict[str, Any]:
    version, _, group = name.partition(".")
    labels = {"kube-aggregator.kubernetes.io/automanaged": automanaged} if automanaged else {}
    return {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name, "labels": labels},
        "spec": {"group": group, "version": version, **spec},
    }  # fmt: skip


def test_the_api_service_of_the_definition_itself_is_no_reason() -> None:
    group, csv = a_group(targets=["a"], provided=GOOSE), a_csv(member_of=a_group(targets=["a"]), owns=[GOOSE_CRD])
    found = applied(run(group, csv, a_definition(), an_api_service("v1.birds.com", automanaged="true")))
    assert "ClusterRole//geese.birds.com-v1-edit" in found


def test_roles_follow_who_serves_the_api_group() -> None:
    """An APIService of any version of the group, made after the roles, takes them, and gives them back when it goes."""
    group = a_group(targets=["a"], provided=GOOSE)
    others = an_api_service("v9.birds.com", service={"name": "s", "namespace": "n"})
    objects = [group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition()]
    world = settled(*objects)
    of_api = {name for name in applied(run(*objects)) if "geese.birds.com-v1-" in name}

    taken = run(*world, others)
    assert len(of_api) == 4
    assert {f"ClusterRole//{write.ref.name}" for write in taken.writes if isinstance(write, Delete)} == of_api
    assert all(not role.get("aggregationRule") for role in applied(taken).values())

    left = [*objects, *applied(taken).values()]
    assert set(applied(run(*left))) >= of_api


class Counted(FakeCluster):
    """Counts what is read."""

    gets, lists, objects_read = 0, 0, 0

    def get(self, ref: Ref) -> dict[str, Any] | None:
        self.gets += ref.kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
        self.objects_read += 1
        return super().get(ref)

    def list(self, kind: Kind, *args: Any, **more: Any) -> tuple[dict[str, Any], ...]:
        self.lists += kind.kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
        found = super().list(kind, *args, **more)
        self.objects_read += len(found)
        return found


def a_world(targets: list[str]) -> list[dict[str, Any]]:
    """An operator whose rights are in place in these namespaces."""
    group = a_group(targets=targets)
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copies = [a_csv(namespace=target, labels={"olm.copiedFrom": "ns"}) for target in targets if target]
    return settled(group, csv, *permissions_of(csv), *copies)


MANY = [f"t{n}" for n in range(50)]


@pytest.mark.parametrize(
    ("targets", "gets", "lists"),
    [
        pytest.param(MANY, 0, 3, id="fifty"),
        pytest.param(["a", "b"], 4, 1, id="two"),
        pytest.param([""], 0, 3, id="all"),
    ],
)
def test_permissions_that_are_in_place_cost_few_reads(targets: list[str], gets: int, lists: int) -> None:
    cluster = Counted(a_world(targets))

    assert ran(cluster).writes == ()
    assert (cluster.gets, cluster.lists) == (gets, lists)


@pytest.mark.parametrize("targets", [pytest.param(["a", "b"], id="two"), pytest.param(MANY, id="fifty")])
def test_roles_of_strangers_with_our_labels_are_not_read(targets: list[str]) -> None:
    """Whoever may write Roles in some namespace can write many, large ones, and give them any labels."""
    world = a_world(targets)
    ours = next(one for one in world if (one["kind"], one["metadata"].get("namespace")) == ("Role", targets[0]))
    meta = {**ours["metadata"], "namespace": "strange"}
    strange = [{**ours, "metadata": {**meta, "name": f"strange-{number}"}} for number in range(2000)]
    beside = [{**ours, "metadata": {**ours["metadata"], "name": f"beside-{number}"}} for number in range(2000)]
    ours["rules"] = []

    quiet, cluster = Counted(world), Counted([*world, *strange, *beside])

    outcome = ran(cluster)

    assert outcome == ran(quiet)
    assert list(applied(outcome)) == [f"Role/{targets[0]}/{ours['metadata']['name']}"]
    assert cluster.objects_read <= quiet.objects_read


BUILT_IN = {"name": "roles.rbac.authorization.k8s.io", "kind": "Role"}


@pytest.mark.parametrize(
    ("csv", "objects"),
    [
        pytest.param({}, [a_definition(of="")], id="it was there before, or an administrator made it"),
        pytest.param({}, [a_definition(of="far/op.v1")], id="it was installed for an operator of another namespace"),
        pytest.param({}, [a_definition(of="ns/op.v2")], id="it was installed for another version of this namespace"),
        pytest.param({}, [a_definition(versions={"v2": True})], id="it has no such version"),
        pytest.param({}, [a_definition(versions={"v1": False, "v2": True})], id="the version is not served"),
        pytest.param({}, [a_definition(conditions={"Established": "True"})], id="its names are not accepted"),
        pytest.param({}, [a_definition(deletionTimestamp="x")], id="it is being deleted"),
        pytest.param({}, [{**a_definition(), "kind": "List"}], id="the answer is another object than was asked for"),
        pytest.param(
            {"owns": [f"{BUILT_IN['name']}/v1/Role"]}, [a_definition(**BUILT_IN)],
            id="it shares the name of a resource of the API server",
        ),
        pytest.param(
            {}, [a_definition(), an_api_service("v1.birds.com", service={"name": "aviary", "namespace": "birds"})],
            id="a server behind the API server serves its group",
        ),
        pytest.param(
            {}, [a_definition(), an_api_service("v2.birds.com", automanaged="onstart")],
            id="the API server itself serves another version of its group",
        ),
        pytest.param({"owns": ["../v1/Goose"]}, [], id="the name is no name"),
        pytest.param({"labels": {"olm.copiedFrom": "far"}}, [a_definition()], id="csv.md 10: the version is a copy"),
        pytest.param({"deleted": True}, [a_definition()], id="csv.md 4.8: the version is being deleted"),
    ],
)  # fmt: skip
def test_a_claim_gives_no_permissions(csv: dict[str, Any], objects: list[dict[str, Any]]) -> None:
    """Neither roles of the API, nor a selector of it in the roles of the group, though the phase says Succeeded."""
    group = a_group(targets=["a"], provided=f"{GOOSE},Role.v1.rbac.authorization.k8s.io")

    roles = applied(run(group, a_csv(member_of=group, **{"owns": [GOOSE_CRD], **csv}), *objects))

    assert len(roles) == 3
    assert all("olm.og.g." in name and role["rules"] == [] for name, role in roles.items())


@pytest.mark.parametrize(
    ("csv", "conflicting"),
    [
        pytest.param({"installModes": []}, None, id="csv.md 8.5: it does not support its group"),
        pytest.param({}, a_group("second", targets=["b"]), id="csv.md 3.2: its namespace has two groups"),
        pytest.param(
            {},
            a_group("rival", "far", targets=["ns"], provided=GOOSE, created="2024-01-01T00:00:00Z"),
            id="csv.md 9.2: another group provides the same API",
        ),
    ],
)
def test_a_version_that_must_not_work_gets_no_roles_and_keeps_those_it_has(
    csv: dict[str, Any], conflicting: dict[str, Any] | None
) -> None:
    """Its phase still says Succeeded: it was forged, or nobody has looked yet."""
    group = a_group(targets=["a"], provided=f"{GOOSE},Secret.v1.")
    fit = a_csv(member_of=group, owns=[GOOSE_CRD])
    unfit = {**fit, "spec": {**fit["spec"], **csv}}
    beside = [conflicting] if conflicting else []

    new = run(group, unfit, a_definition(), *beside)
    old = run(*settled(group, fit, a_definition())[3:], group, unfit, a_definition(), *beside)

    assert not [name for name in applied(new) if "olm.og." not in name]
    assert not [write for write in old.writes if isinstance(write, Delete)]


def test_a_group_that_selects_no_namespace_gives_no_new_permissions() -> None:
    """csv.md 3.2: its members fail."""
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])
    nowhere = a_group(provided=GOOSE)
    assert not [name for name in applied(run(nowhere, csv, a_definition())) if "geese" in name]


def test_names_come_from_the_definition() -> None:
    """A version that spells the kind otherwise does not make up an API."""
    group = a_group(targets=["a"], provided="Gans.v1.birds.com")
    claim, real = "geese.birds.com/v1/Gans", "geese.birds.com/v1/Goose"

    claimed = applied(run(group, a_csv(member_of=group, owns=[claim]), a_definition()))
    group["metadata"]["annotations"]["olm.providedAPIs"] = GOOSE

    assert claimed == applied(run(group, a_csv(member_of=group, owns=[real]), a_definition()))
    assert len(claimed) == 7


def withdrawn(outcome: Outcome) -> list[str]:
    return [write.ref.name for write in outcome.writes if isinstance(write, Delete)]


ROLES = [f"geese.birds.com-v1-{word}" for word in ("admin", "edit", "view", "crdview")]


@pytest.mark.parametrize(
    ("csv", "definition"),
    [
        pytest.param(None, a_definition(), id="the version was deleted"),
        pytest.param({"deleted": True}, a_definition(), id="the version is being deleted"),
        pytest.param({"owns": []}, a_definition(), id="the version was edited, and claims it no more"),
        pytest.param({"owns": ["geese.birds.com/v2/Goose"]}, a_definition(), id="it claims another version of it"),
        pytest.param({}, a_definition(of=""), id="the definition was made again, by somebody else"),
        pytest.param({}, a_definition(versions={"v1": False}), id="the definition does not serve it any more"),
        pytest.param({}, None, id="the definition was deleted"),
        pytest.param({"labels": {"olm.copiedFrom": "far"}}, a_definition(), id="the version became a copy"),
    ],
)
@pytest.mark.parametrize("has_group", [pytest.param(True, id="with a group"), pytest.param(False, id="without")])
def test_permissions_go_with_the_provision(
    csv: dict[str, Any] | None, definition: dict[str, Any] | None, *, has_group: bool
) -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    world = settled(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition())[3:]
    for role in world:
        role["metadata"]["uid"] = "u"
    left = [a_csv(member_of=group, **{"owns": [GOOSE_CRD], **csv})] if csv is not None else []
    left += [definition] if definition else []

    outcome = run(*world, *left, *([group] if has_group else []))

    assert sorted(name for name in withdrawn(outcome) if "olm.og" not in name) == sorted(ROLES)
    assert all(write.uid == "u" for write in outcome.writes if isinstance(write, Delete))
    assert not [name for name in applied(outcome) if "geese" in name]


@pytest.mark.parametrize("phase", ["Pending", "InstallReady", "Installing", "Failed", "Replacing"])
def test_permissions_stay_while_their_operator_does_not_work(phase: str) -> None:
    """Users need them then, too; and an upgrade must not take them away for a moment."""
    group = a_group(targets=["a"], provided=GOOSE)
    world = settled(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition())
    unwell = a_csv(member_of=group, owns=[GOOSE_CRD], phase=phase)
    assert run(*world, unwell).writes == ()


def test_the_next_version_takes_the_roles_over() -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    old = a_csv(member_of=group, owns=[GOOSE_CRD])
    roles = settled(group, old, a_definition())[3:]
    both = a_definition()
    both["metadata"]["annotations"]["operatorframework.io/installed-alongside-x"] = "ns/op.v2"
    new = a_csv("op.v2", member_of=group, owns=[GOOSE_CRD])

    outcome = run(group, a_csv(member_of=group, owns=[GOOSE_CRD], phase="Replacing"), new, both, *roles)

    assert [name.rpartition("/")[2] for name in applied(outcome)] == ROLES
    assert withdrawn(outcome) == []
    assert run(group, new, both, *roles, *applied(outcome).values()).writes == ()


def test_two_namespaces_that_provide_the_same_api_do_not_fight_for_its_roles() -> None:
    group = a_group(targets=["ns"], provided=GOOSE)
    roles = settled(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition())[3:]
    for role in roles:
        if "geese" in role["metadata"]["name"]:
            role["metadata"]["annotations"] = {"olmf.io/provided-by": "far/op.v1"}

    assert run(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition(), *roles).writes == ()


@pytest.mark.parametrize(
    "targets", [pytest.param([""], id="a global group"), pytest.param(["a"], id="a group with targets")]
)
def test_a_role_that_no_plan_made_is_given_nowhere_else(targets: list[str]) -> None:
    """Whoever may write roles in the namespace could have copied the marks of ours."""
    group = a_group(targets=targets)
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})

    for permissions in (forged_permissions_of(csv), permissions_of(csv)[:-1], permissions_of(csv, "Installing")):
        assert all("olm.og." in name for name in applied(run(group, csv, copy, *permissions)))


def test_permissions_that_were_edited_after_the_plan_are_not_given() -> None:
    group = a_group(targets=[""])
    planned = a_csv(member_of=group, install=NEEDS_ROLES)
    everything = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    edited = a_csv(member_of=group, install={"permissions": [{"serviceAccountName": "sa", "rules": everything}]})
    forged = [one for one in permissions_of(edited) if one["kind"] != "InstallPlan"]

    assert all("olm.og." in name for name in applied(run(group, edited, *permissions_of(planned), *forged)))


def test_roles_that_no_plan_made_are_lifted_where_the_administrator_wants_it() -> None:
    """csv.md 8.9, as OLM; but no other subject, and nothing for a binding to a role that is not lifted."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    to_other = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    stray = a_role("RoleBinding", csv=csv, roleRef=to_other, subjects=[{"kind": "ServiceAccount", "name": "sa"}])
    stray["metadata"]["name"] = "stray"

    roles = applied(run(group, csv, *forged_permissions_of(csv), stray, policy=LIFTING))

    assert {name for name in roles if "olm.og." not in name} == {"ClusterRole//op-role", "ClusterRoleBinding//op-role"}
    assert roles["ClusterRoleBinding//op-role"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}
    ]


def test_a_cluster_role_of_somebody_else_is_never_bound() -> None:
    """A Role named `cluster-admin` with our labels: OLM binds the ClusterRole of that name to its subjects."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    role, binding = forged_permissions_of(csv)
    role["metadata"]["name"] = binding["roleRef"]["name"] = "cluster-admin"
    kind = CLUSTER_ROLE
    theirs = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "cluster-admin"}, "rules": []}

    roles = applied(run(group, csv, role, binding, theirs, policy=LIFTING))

    assert all("olm.og." in name for name in roles)


def test_permissions_of_an_earlier_version_of_the_same_name_are_not_projected() -> None:
    """csv.md 8.9: owned by labels and UID."""
    group = a_group(targets=["a"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})
    left = forged_permissions_of({"metadata": {**csv["metadata"], "uid": "earlier"}})

    assert not [name for name in applied(run(group, csv, copy, *left, policy=LIFTING)) if "op-role" in name]


def test_permissions_are_lifted_for_a_global_group() -> None:
    """csv.md 8.9, 18.5 row 116: same names and labels, plus sight of namespaces."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES, phase="InstallReady")

    roles = applied(run(group, csv, *permissions_of(csv)))

    role, binding = roles[named("ClusterRole", csv)], roles[named("ClusterRoleBinding", csv)]
    assert role["rules"] == [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]},
    ]
    assert role["metadata"]["labels"] == permissions_of(csv)[1]["metadata"]["labels"]
    assert "ownerReferences" not in role["metadata"]
    assert binding["roleRef"]["kind"] == "ClusterRole"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]


def test_a_cluster_role_of_somebody_else_is_left_alone() -> None:
    """csv.md 8.9: create if a same-named cluster object is absent."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    name = named("ClusterRole", csv).rpartition("/")[2]
    theirs = {**a_role("ClusterRole", csv=csv), "metadata": {"name": name}, "rules": []}

    assert all("olm.og." in each for each in applied(run(group, csv, *permissions_of(csv), theirs))), "nor is it bound"


def test_permissions_are_projected_to_targets_that_have_a_copy() -> None:
    """csv.md 8.9, 18.5 row 115, row 132: owned by the copy; a target without copy is passed over."""
    group = a_group(targets=["a", "gone", "ns"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})

    roles = applied(run(group, csv, copy, *permissions_of(csv)))

    assert {name for name in roles if "olm.og." not in name} == {
        named("Role", csv, "a"),
        named("RoleBinding", csv, "a"),
    }
    role, binding = roles[named("Role", csv, "a")], roles[named("RoleBinding", csv, "a")]
    assert (
        role["metadata"]["labels"].items()
        >= {
            "olm.owner": "op.v1",
            "olm.owner.namespace": "a",
            "olm.owner.kind": "ClusterServiceVersion",
            "olm.copiedFrom": "ns",
            "olm.managed": "true",
        }.items()
    )
    assert role["metadata"]["ownerReferences"][0]["uid"] == "uid-a-op.v1"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]


def test_a_projected_role_that_was_changed_is_restored() -> None:
    """csv.md 8.9: an existing one gets its rules overwritten."""
    group = a_group(targets=["a"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})
    world = settled(group, csv, copy, *permissions_of(csv))
    assert run(*world).writes == ()

    (role,) = (item for item in world if item["kind"] == "Role" and item["metadata"]["namespace"] == "a")
    role["rules"] = []

    assert list(applied(run(*world))) == [named("Role", csv, "a")]


def test_a_claim_gives_roles_where_the_administrator_wants_it() -> None:
    """csv.md 8.8, 128, as OLM: definitions that nobody's plan brought, and aggregated APIs of its own APIService."""
    group, csv, service = a_server(resource="hats")
    group["metadata"]["annotations"]["olm.providedAPIs"] += f",{GOOSE}"
    csv["spec"]["customresourcedefinitions"] = a_csv(owns=[GOOSE_CRD])["spec"]["customresourcedefinitions"]

    roles = applied(run(group, csv, a_definition(of=""), service, policy=TRUSTING))

    assert {name for name in roles if "olm.og." not in name} == {
        *(f"ClusterRole//geese.birds.com-v1-{suffix}" for suffix in ("admin", "edit", "view", "crdview")),
        *(f"ClusterRole//hats.heads.com-v1-{suffix}" for suffix in ("admin", "edit", "view")),
    }
    edit = roles["ClusterRole//hats.heads.com-v1-edit"]
    verbs = ["create", "update", "patch", "delete"]
    assert edit["rules"] == [{"verbs": verbs, "apiGroups": ["heads.com"], "resources": ["hats"]}]
    (owner,) = edit["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("APIService", "v1.heads.com", "service-uid")


def test_a_claim_gives_no_roles_otherwise() -> None:
    group, csv, service = a_server(resource="hats")

    assert all("olm.og." in name for name in applied(run(group, csv, a_definition(of=""), service)))


@pytest.mark.parametrize("resource", ["*", "pods/exec", "hats/status", ""])
def test_a_trusted_claim_names_one_resource(resource: str) -> None:
    group, csv, service = a_server(resource=resource)

    roles = applied(run(group, csv, service, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def test_a_trusted_claim_needs_an_api_service_of_its_own() -> None:
    """Neither the API server's own nor that of another version, nor a definition in the group of another server."""
    group, csv, theirs = a_server(resource="hats", owner="op.v0")
    group["metadata"]["annotations"]["olm.providedAPIs"] += f",Deployment.v1.apps,{GOOSE}"
    own = {"name": "deployments", "group": "apps", "version": "v1", "kind": "Deployment"}
    native = a_csv("op.v2", member_of=group, services=[own], owns=[GOOSE_CRD])
    apps = a_service_of("v1.apps", csv=native)
    goose = a_service_of("v2.birds.com", csv=a_csv("op.v0"))

    roles = applied(run(group, csv, native, theirs, apps, goose, a_definition(of=""), policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def test_roles_of_a_trusted_claim_are_withdrawn_with_it() -> None:
    group, csv, service = a_server(resource="hats")
    roles = applied(run(group, csv, service, policy=TRUSTING)).values()

    outcome = run(group, a_csv(member_of=group), service, *roles, policy=TRUSTING)

    gone = {write.ref.name for write in outcome.writes if isinstance(write, Delete)}
    assert gone == {f"hats.heads.com-v1-{suffix}" for suffix in ("admin", "edit", "view")}


def test_roles_of_a_trusted_claim_are_withdrawn_when_claims_are_trusted_no_more() -> None:
    group, csv, service = a_server(resource="hats")
    roles = applied(run(group, csv, service, policy=TRUSTING)).values()

    gone = {write.ref.name for write in run(group, csv, service, *roles).writes if isinstance(write, Delete)}

    assert gone == {f"hats.heads.com-v1-{suffix}" for suffix in ("admin", "edit", "view")}


@pytest.mark.parametrize("api", ["apps", "heads.com"])
def test_a_trusted_claim_that_is_two_claims_in_one_text_gives_nothing(api: str) -> None:
    """`v1.x.apps` names version `v1` of `x.apps` and version `v1.x` of `apps`."""
    group, csv, service = a_server(resource="deployments", api=api, version="v1.x")

    roles = applied(run(group, csv, service, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def test_a_trusted_claim_on_an_api_service_of_definitions_gives_nothing() -> None:
    group, csv, service = a_server(resource="hats", owner="op.v0")
    service["spec"].pop("service")

    roles = applied(run(group, csv, service, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def test_a_trusted_claim_on_a_definition_of_olm_gives_nothing() -> None:
    """Rights on InstallPlans are rights to approve them."""
    plans = "installplans.operators.coreos.com"
    group = a_group(targets=["a"], provided="InstallPlan.v1.operators.coreos.com")
    csv = a_csv(member_of=group, owns=[f"{plans}/v1/InstallPlan"])
    definition = a_definition(of="", name=plans, kind="InstallPlan")

    roles = applied(run(group, csv, definition, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


@pytest.mark.parametrize("api", ["heads.com", "operators.coreos.com", "olm.operatorframework.io"])
def test_a_trusted_claim_on_the_group_of_another_server_gives_nothing(api: str) -> None:
    """A role names no server: that of the other one would be meant as well; who approves plans is OLM's."""
    group, csv, _ = a_server(resource="hats", api=api, version="v9")
    other = a_service_of("v1.heads.com", csv=a_csv("op.v0"))

    roles = applied(run(group, csv, a_service_of(f"v9.{api}", csv=csv), other, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def test_a_trusted_claim_ends_with_its_api_service() -> None:
    group, csv, service = a_server(resource="hats")
    going = {**service, "metadata": {**service["metadata"], "deletionTimestamp": "2025-01-01T00:00:00Z"}}

    roles = applied(run(group, csv, going, policy=TRUSTING))

    assert all("olm.og." in name for name in roles)


def a_server(*, resource: str, owner: str = "op.v1", api: str = "heads.com", version: str = "v1") -> tuple[Any, ...]:
    """A group, a version that claims an aggregated API, and the APIService of that."""
    service = {"name": resource, "group": api, "version": version, "kind": "Hat", "deploymentName": "op"}
    group = a_group(targets=["a"], provided=f"Hat.{version}.{api}")
    csv = a_csv(member_of=group, services=[service])
    return group, csv, a_service_of(f"{version}.{api}", csv=a_csv(owner))


def a_service_of(name: str, *, csv: dict[str, Any]) -> dict[str, Any]:
    version, _, group = name.partition(".")
    labels = owner_labels(Csv(csv))
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": name, "uid": "service-uid", "labels": labels},
        "spec": {"group": group, "version": version, "service": {"name": "op", "namespace": "ns"}},
    }
