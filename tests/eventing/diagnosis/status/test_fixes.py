"""What helps a version that an OperatorGroup stops."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest

from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_statuses
from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.lacking import lacking
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION, Kind
from tests.kit.cluster import FakeCluster

ALONE = """kubectl -n ns patch operatorgroup mine --type merge -p '{"spec":{"targetNamespaces":%s,"selector":null}}'"""
OWN = ("let the group select ns", ALONE % '["ns"]')
UNTIL = "when OperatorGroup mine changes"


def an_object(
    kind: Kind, name: str, namespace: str = "ns", labels: dict[str, str] | None = None, **fields: object
) -> Manifest:
    meta = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def status_of(csv: Manifest, *others: Manifest) -> PackageStatus:
    """The status of the version among these objects, which nobody subscribes to."""
    found = package_statuses(Sources(FakeCluster([csv, *others])), csv["metadata"]["namespace"])
    return next(one for one in found if one.version == csv["metadata"]["name"])


def explained(csv: Manifest, *others: Manifest) -> tuple[str, list[tuple[str, str]], str]:
    """What is added to the message of the version, the fixes with their commands, and what ends the wait."""
    status = status_of(csv, *others)
    prefix = "; ".join(("no Subscription", lacking(Csv(csv))))
    added = status.message.removeprefix(prefix).removeprefix("; ")
    return added, [(one.what, str(one.command or "")) for one in status.fixes], status.until


NOTHING: tuple[str, list[tuple[str, str]], str] = ("", [], "")


def a_group(name: str = "mine", namespace: str = "ns", *targets: str, provided: str = "") -> Manifest:
    group = an_object(OPERATOR_GROUP, name, namespace, spec={}, status={"namespaces": list(targets or ("",))})
    group["metadata"]["annotations"] = {"olm.providedAPIs": provided}
    return group


def a_csv(*modes: str, reason: str = "UnsupportedOperatorGroup", name: str = "a.v1", namespace: str = "ns") -> Manifest:
    owned = {"owned": [{"name": "things.example.com", "version": "v1", "kind": "Thing"}]}
    listed = [{"type": mode, "supported": True} for mode in modes]
    spec = {"installModes": [*listed, {"type": "Other", "supported": False}], "customresourcedefinitions": owned}
    status = {"phase": "Failed", "reason": reason, "message": "no"}
    return an_object(CLUSTER_SERVICE_VERSION, name, namespace, spec=spec, status=status)


@pytest.mark.parametrize(
    ("csv", "group", "want", "fix"),
    [
        pytest.param(
            a_csv("OwnNamespace", "MultiNamespace"), a_group(),
            "OperatorGroup mine selects all namespaces; a.v1 supports OwnNamespace, MultiNamespace", OWN,
            id="its own namespace",
        ),
        pytest.param(
            a_csv("AllNamespaces"), a_group("mine", "ns", "ns"),
            "OperatorGroup mine selects ns; a.v1 supports AllNamespaces",
            ("let the group select all namespaces", ALONE % "null"), id="all namespaces",
        ),
        pytest.param(
            a_csv("SingleNamespace"), a_group(),
            "OperatorGroup mine selects all namespaces; a.v1 supports SingleNamespace",
            ("let spec.targetNamespaces name the namespaces that it is to watch", ""),
            id="another namespace",
        ),
    ],
)  # fmt: skip
def test_the_group_its_modes_and_the_change_are_named(
    csv: Manifest, group: Manifest, want: str, fix: tuple[str, str]
) -> None:
    assert explained(csv, group) == (want, [fix], UNTIL)
    assert OPERATOR_GROUP.ref("mine", "ns") in status_of(csv, group).evidence


@pytest.mark.parametrize(
    ("group", "modes", "instead"),
    [
        pytest.param(
            a_group("mine", "ns", "one", "two"), ("OwnNamespace",), "watch ns instead of one, two", id="its own"
        ),
        pytest.param(
            a_group("mine", "ns", "one"), ("AllNamespaces",), "watch all namespaces instead of one", id="all namespaces"
        ),
        pytest.param(a_group(), ("SingleNamespace",), "watch other namespaces instead of all", id="other namespaces"),
    ],
)  # fmt: skip
def test_no_change_of_a_group_is_advised_that_moves_a_neighbour(
    group: Manifest, modes: tuple[str, ...], instead: str
) -> None:
    csv, healthy = a_csv(*modes), a_csv(reason="InstallSucceeded", name="b.v1")
    csv["metadata"]["labels"] = {"operators.coreos.com/a.ns": ""}
    message, fixes, _ = explained(csv, healthy, group)
    assert f"; the group is also that of b.v1, which would then {instead}" in message
    assert fixes == [("uninstall a here, and install it in a namespace of its own", "")]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_csv("OwnNamespace", name="b.v1"), id="another one that the group stops"),
        pytest.param({**a_csv(reason="", name="a.v0"), "spec": {}}, id="what it replaces"),
        pytest.param(
            an_object(CLUSTER_SERVICE_VERSION, "b.v1", spec={}, labels={"olm.copiedFrom": "two"}), id="a copy"
        ),
    ],
)
def test_the_change_of_a_group_that_moves_nobody_is_advised(other: Manifest) -> None:
    csv = a_csv("OwnNamespace")
    csv["spec"]["replaces"] = "a.v0"
    assert explained(csv, other, a_group())[1] == [OWN]


def test_two_groups_that_provide_one_api_are_named_with_the_version_and_the_api() -> None:
    csv = a_csv(reason="InterOperatorGroupOwnerConflict")
    other = a_csv(reason="InstallSucceeded", name="b.v1", namespace="two")
    groups = [a_group(), a_group("other", "two", provided="Thing.v1.example.com"), a_group("far", "three", "three")]
    fix = ("uninstall one of them, or let their groups select different namespaces", "")
    output = "OperatorGroup two/other (b.v1) provides Thing.v1.example.com, too"
    assert explained(csv, other, *groups) == (output, [fix], "when OperatorGroup two/other changes")
    assert OPERATOR_GROUP.ref("other", "two") in status_of(csv, other, *groups).evidence
    assert explained(csv) == NOTHING


def test_a_namespace_without_its_one_group_waits_for_groups() -> None:
    assert explained(a_csv()) == NOTHING
    until = "when the OperatorGroups of the namespace change"
    lone = a_csv(reason="NoOperatorGroup")
    _, [(what, command)], waits = explained(lone)
    assert (what, waits) == ("create an OperatorGroup, here one for all namespaces", until)
    assert command.endswith("| kubectl create -f -")
    several = a_csv(reason="TooManyOperatorGroups")
    _, [(_, command)], _ = explained(several, a_group("b", "ns"), a_group("a", "ns"))
    assert command == "kubectl -n ns delete operatorgroup b"
    assert explained(several, a_group("a", "ns")) == ("", [], until), "one of them was deleted meanwhile"


@pytest.mark.parametrize(
    ("targets", "what", "spec"),
    [
        pytest.param("ns", "ns", '{"targetNamespaces":["ns"]}', id="its own namespace"),
        pytest.param("a,b", "a, b", '{"targetNamespaces":["a","b"]}', id="two namespaces"),
        pytest.param("", "all namespaces", "{}", id="all namespaces"),
    ],
)
@pytest.mark.parametrize("is_subscribed", [False, True])
def test_a_group_that_was_deleted_is_made_again_as_it_was(
    targets: str, what: str, spec: str, *, is_subscribed: bool
) -> None:
    """`olmf install` would make one for all namespaces, where the operator can watch them."""
    lone, other = a_csv(reason="NoOperatorGroup"), a_csv(reason="Copied", name="copied.v1")
    lone["metadata"]["annotations"] = {names.TARGET_NAMESPACES: targets}
    other["metadata"]["annotations"] = {names.TARGET_NAMESPACES: "elsewhere"}
    subscription = an_object(SUBSCRIPTION, "a", spec={"name": "a"}, status={"currentCSV": "a.v1"})
    _, [fix], _ = explained(lone, other, *[subscription] * is_subscribed)
    assert fix[0] == f"create an OperatorGroup for {what}, as before"
    assert f'"spec":{spec}}}' in fix[1]


def test_where_the_former_namespaces_are_not_clear_the_advice_says_what_it_makes() -> None:
    lone, other = a_csv(reason="NoOperatorGroup"), a_csv(reason="NoOperatorGroup", name="b.v1")
    lone["metadata"]["annotations"] = {names.TARGET_NAMESPACES: "ns"}
    other["metadata"]["annotations"] = {names.TARGET_NAMESPACES: ""}
    subscription = an_object(SUBSCRIPTION, "a", spec={"name": "a"}, status={"currentCSV": "a.v1"})
    _, [fix], _ = explained(lone, other, subscription)
    what = "create an OperatorGroup for all namespaces if a can watch them, else for ns only"
    assert fix == (what, "olmf install a -n ns")


def test_a_list_has_the_fix_and_what_is_installed_beside_what_comes() -> None:
    csv = a_csv("AllNamespaces", name="a.v2")
    status = {"currentCSV": "a.v2", "installedCSV": "a.v1"}
    subscription = an_object(SUBSCRIPTION, "a", spec={"name": "a"}, status=status)
    [one] = package_statuses(Sources(FakeCluster([csv, subscription, a_group("mine", "ns", "ns")])), "ns")
    assert (one.installed, one.version, one.until) == ("a.v1", "a.v2", UNTIL)
    assert one.message == "no; OperatorGroup mine selects ns; a.v2 supports AllNamespaces"
    assert [fix.what for fix in one.fixes] == ["let the group select all namespaces"]


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        pytest.param([], "when the OperatorGroups of the namespace change", id="no group"),
        pytest.param([a_group("one"), a_group("two")], "when the OperatorGroups of the namespace change", id="two"),
        pytest.param([a_group()], "", id="something else"),
    ],
)  # fmt: skip
def test_what_ends_the_wait_of_a_namespace_that_is_stopped(groups: list[Manifest], want: str) -> None:
    reported = {"type": "ResolutionFailed", "status": "True", "reason": "ErrorPreventedResolution", "message": "no"}
    subscription = an_object(SUBSCRIPTION, "a", spec={"name": "a"}, status={"conditions": [reported]})
    [one] = package_statuses(Sources(FakeCluster([subscription, *groups])), "ns")
    assert one.until == want


class Counting(FakeCluster):
    """A cluster that counts its requests."""

    def __init__(self, objects: list[Manifest]) -> None:
        super().__init__(objects)
        self.lists = 0

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        self.lists += 1
        return super().list(kind, namespace, labels=labels, most=most)


def test_a_crowd_that_a_group_stops_costs_no_more_requests_than_one() -> None:
    csvs = [a_csv("AllNamespaces", name=f"a{number}.v1") for number in range(50)]
    cluster = Counting([a_group("mine", "ns", "ns"), *csvs])
    assert len(package_statuses(Sources(cluster), "ns")) == 50
    assert cluster.lists == 3


@pytest.mark.parametrize(
    ("account", "planned", "text"),
    [
        pytest.param("NotPresent", (), True, id="its plan was deleted, too"),
        pytest.param("NotPresent", ("a.v1",), False, id="its plan restores it"),
        pytest.param("PresentNotSatisfied", ("other.v1",), True, id="it lacks rights"),
        pytest.param("Present", (), False, id="something else is missing"),
    ],
)
def test_deleted_permissions_that_nobody_restores(account: str, planned: tuple[str, ...], *, text: bool) -> None:
    csv = a_csv(reason="RequirementsNotMet")
    csv["status"]["requirementStatus"] = [{"kind": "ServiceAccount", "name": "a-operator", "status": account}]
    plan = an_object(INSTALL_PLAN, "install-1", spec={"clusterServiceVersionNames": list(planned)})
    message, _, until = explained(csv, plan)
    assert ("ServiceAccount a-operator" in message, "ServiceAccount a-operator" in until) == (text, text)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        pytest.param({}, "no InstallPlan installs a.v1, so nobody makes ServiceAccount a-operator", id="made by hand"),
        pytest.param({"olm.managed": "true"}, "or its rights, were deleted", id="made by a plan that was deleted"),
    ],
)
def test_permissions_that_nobody_made_were_not_deleted(labels: dict[str, str], text: str) -> None:
    csv = a_csv(reason="RequirementsNotMet")
    csv["metadata"]["labels"] = labels
    csv["status"]["requirementStatus"] = [{"kind": "ServiceAccount", "name": "a-operator", "status": "NotPresent"}]
    assert text in status_of(csv).message


def a_failed_plan(name: str, version: str, message: str = "") -> Manifest:
    status = {"phase": "Failed", **({"message": message} if message else {})}
    return an_object(INSTALL_PLAN, name, spec={"clusterServiceVersionNames": [version]}, status=status)


@pytest.mark.parametrize(
    ("plans", "causes"),
    [
        pytest.param([], "", id="csv.md 4.2-9: OLM waits without a word"),
        pytest.param(
            [a_failed_plan("p", "a.v1", "no such API"), a_failed_plan("q", "a.v2", "other")],
            "; InstallPlan p of a.v1 failed: no such API", id="catalog.md 4.10: its plan failed before",
        ),
        pytest.param([a_failed_plan("p", "a.v1")], "; InstallPlan p of a.v1 failed", id="without a message"),
    ],
)  # fmt: skip
def test_a_version_above_a_stuck_one_reports_which_and_what_helps(plans: list[Manifest], causes: str) -> None:
    chain = [a_csv(name=f"a.v{number}", reason="InstallWaiting") for number in (1, 2, 3)]
    for older, newer in pairwise(chain):
        newer["spec"]["replaces"] = older["metadata"]["name"]
        newer["status"]["phase"] = "Pending"
    fix = ("delete a.v1", "kubectl -n ns delete csv a.v1")
    want = (f"a.v1 is Failed (no){causes}", [fix], "when a.v1 is installed, replaced or deleted")
    assert explained(chain[-1], *chain[:-1], *plans) == want
    assert explained(chain[-1]) == NOTHING


@pytest.mark.parametrize(
    ("name", "package", "phases", "text"),
    [
        pytest.param("things.example.com", "a", ("Complete",), True, id="its own"),
        pytest.param("things.example.com", "a", (), True, id="its own, without a plan"),
        pytest.param("things.example.com", "a", ("Installing",), False, id="its own, which a plan makes just now"),
        pytest.param("things.example.com", "", ("Complete",), False, id="its own, of no package"),
        pytest.param("others.example.com", "a", ("Complete",), False, id="one that another operator provides"),
    ],
)
def test_a_deleted_definition_comes_back_with_its_package(
    name: str, package: str, phases: tuple[str, ...], *, text: bool
) -> None:
    csv = a_csv(reason="RequirementsNotMet")
    csv["metadata"]["labels"] = {f"operators.coreos.com/{package}.ns": ""} if package else {}
    missing = {"kind": "CustomResourceDefinition", "name": name, "status": "NotPresent"}
    csv["status"]["requirementStatus"] = [missing, {**missing, "name": "well.example.com", "status": "Present"}]
    spec = {"clusterServiceVersionNames": ["a.v1"]}
    steps = {"plan": [a_step("things.example.com")]}
    plans = [
        an_object(INSTALL_PLAN, f"i-{phase.lower()}", spec=spec, status={"phase": phase, **steps}) for phase in phases
    ]
    fix = ("uninstall and install a again, which brings things.example.com back", "")
    back = ("", [fix], "when CustomResourceDefinition things.example.com is there")
    assert explained(csv, *plans) == (back if text else NOTHING)


def a_step(definition: str, csv: str = "a.v1") -> Manifest:
    return {"resolving": csv, "resource": {"kind": "CustomResourceDefinition", "name": definition}}


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([], id="no definition at all"),
        pytest.param([a_step("nowhere.example.com", "b.v1")], id="another operator brings it"),
    ],
)
def test_a_definition_that_the_bundle_lacks_does_not_come_back(steps: list[Manifest]) -> None:
    csv = a_csv(reason="RequirementsNotMet")
    owned = csv["spec"]["customresourcedefinitions"]["owned"]
    owned.append({"name": "nowhere.example.com", "version": "v1", "kind": "Nowhere"})
    csv["metadata"]["labels"] = {"operators.coreos.com/a.ns": ""}
    names_of = [one["name"] for one in owned]
    missing = [{"kind": "CustomResourceDefinition", "name": one, "status": "NotPresent"} for one in names_of]
    csv["status"]["requirementStatus"] = missing
    status = {"phase": "Complete", "plan": [a_step("things.example.com"), *steps]}
    plan = an_object(INSTALL_PLAN, "i", spec={"clusterServiceVersionNames": ["a.v1"]}, status=status)
    assert explained(csv, plan) == (
        "a.v1 owns nowhere.example.com, which its bundle does not contain",
        [
            ("uninstall and install a again, which brings things.example.com back", ""),
            ("make nowhere.example.com, or install a version whose bundle contains it", ""),
        ],
        "when CustomResourceDefinition nowhere.example.com, things.example.com is there",
    )
    csv["status"]["requirementStatus"] = missing[1:]
    _, fixes, _ = explained(csv, plan)
    assert fixes == [("make nowhere.example.com, or install a version whose bundle contains it", "")]
