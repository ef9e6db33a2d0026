"""Every reason of the tables is decided: its code, its evidence, what ends the wait, and its fixes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eventing.diagnosis.status.decider import decide
from eventing.diagnosis.status.package_status import Code, NamespaceContext, Package
from eventing.diagnosis.status.rules import OF_CONDITION, OF_CSV
from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, OperatorGroup
from shared.domain.progress import Progress
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SERVICE_ACCOUNT,
    SUBSCRIPTION,
    Ref,
)
from tests.eventing.diagnosis.status.test_decider import a_csv, a_package, a_subscription

SUB = SUBSCRIPTION.ref("etcd", "ns")
CSV = CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
PLAN = INSTALL_PLAN.ref("install-1", "ns")
CATALOG = CATALOG_SOURCE.ref("local", "olm")
EXPLAIN = "olmf explain etcd -n ns"
RESOLVED = "when a Subscription, version or catalog changes"
GROUPS = "when the OperatorGroups of the namespace change"


def package_with(kind: str, reason: str = "x", **status: Any) -> Package:
    """A Subscription with one condition, whose plan is install-1."""
    return a_package(a_subscription((kind, reason, "no"), installPlanRef={"name": PLAN.name}, **status))


def version(phase: str, reason: str = "", context: NamespaceContext | None = None, **spec: object) -> Package:
    csv = a_csv(phase, "no", spec=spec, reason=reason)
    return a_package(a_subscription(currentCSV="a.v1"), csv, context=context or NamespaceContext())


def annotated(name: str, *conditions: tuple[str, str, str]) -> Package:
    subscription = a_subscription(*conditions, currentCSV="a.v1", installedCSV="a.v1")
    subscription["metadata"]["annotations"] = {name: "why"}
    return a_package(subscription, a_csv("Succeeded"))


def pulled() -> Package:
    return a_package(a_subscription(), pull=Progress(phase="pulling"))


def a_group(**spec: object) -> OperatorGroup:
    meta = {"name": "mine", "namespace": "ns"}
    return OperatorGroup({"metadata": meta, "spec": spec, "status": {"namespaces": [""]}})


def waiting() -> Package:
    """A version above one that failed."""
    package = version("Pending", "InstallWaiting", replaces="a.v0")
    older: Manifest = {**a_csv("Failed", "no"), "metadata": {"name": "a.v0", "namespace": "ns"}}
    return replace(package, context=NamespaceContext(csvs=(Csv(older),)))


DENIED = (
    'retrying execution due to error: Service a: services is forbidden: User "system:serviceaccount:ns:limited" cannot '
    'create resource "services" in API group "" in the namespace "ns"'
)


CASES: dict[Code, tuple[Package, tuple[Ref, ...], str, list[str]]] = {
    Code.INSTALLED: (a_package(a_subscription(currentCSV="a.v1"), a_csv("Succeeded")), (SUB,), "", []),
    Code.HELD: (annotated(names.HOLD), (SUB,), "", ["olmf hold etcd-package --release -n ns"]),
    Code.PINNED: (
        annotated(names.VERSION, ("Pinned", "x", "newer")), (SUB,), "",
        ["kubectl -n ns annotate subscription etcd olmf.io/version-"],
    ),
    Code.RESOLVING: (a_package(a_subscription()), (SUB,), "", []),
    Code.PULLING: (pulled(), (SUB,), "", []),
    Code.CSV_DELETED: (package_with("InstalledCSVMissing"), (SUB,), "when the Subscription is created again", []),
    Code.UNSATISFIABLE: (package_with("ResolutionFailed", "ConstraintsNotSatisfiable"), (SUB,), RESOLVED, [EXPLAIN]),
    Code.RESOLUTION_PREVENTED: (package_with("ResolutionFailed"), (SUB, CATALOG), "", [EXPLAIN]),
    Code.UNPACK_FAILED: (package_with("BundleUnpackFailed"), (SUB,), "", []),
    Code.PLAN_FAILED: (
        package_with("InstallPlanFailed"), (SUB, PLAN), "when InstallPlan install-1 is deleted",
        ["kubectl -n ns delete installplan install-1"],
    ),
    Code.PLAN_DELETED: (package_with("InstallPlanMissing"), (SUB,), "", []),
    Code.APPROVAL_NEEDED: (
        package_with("InstallPlanPending", "RequiresApproval"), (SUB, PLAN), "", ["olmf approve install-1 -n ns"],
    ),
    Code.PLAN_UNFINISHED: (package_with("InstallPlanPending"), (SUB, PLAN), "", []),
    Code.PERMISSIONS_LACKING: (
        a_package(
            a_subscription(("InstallPlanPending", "Installing", DENIED), installPlanRef={"name": PLAN.name}),
            context=NamespaceContext(groups=(a_group(serviceAccountName="limited"),)),
        ),
        (SUB, PLAN, OPERATOR_GROUP.ref("mine", "ns"), SERVICE_ACCOUNT.ref("limited", "ns")),
        "when ServiceAccount ns/limited is given what it lacks", ["olmf plan --grants -n ns"],
    ),
    Code.STRANDED: (package_with("Stranded", "NotInChannel"), (SUB,), "when its channel changes", []),
    Code.NOT_INSTALLABLE: (package_with("Stranded", "NotInstallable"), (SUB,), RESOLVED, [EXPLAIN]),
    Code.CATALOG_UNHEALTHY: (package_with("CatalogSourcesUnhealthy"), (SUB, CATALOG), "", []),
    Code.UNPACK_REFUSED: (package_with("BundleUnpacking", "UnpackingRefused"), (SUB,), "", []),
    Code.UNPACKING: (package_with("BundleUnpacking"), (SUB,), "", []),
    Code.INSTALLING: (version("Installing", "InstallWaiting"), (CSV,), "", []),
    Code.VERSION_FAILED: (version("Failed", "InstallCheckFailed"), (CSV,), "", []),
    Code.REQUIREMENTS_UNMET: (version("Pending", "RequirementsNotMet"), (CSV,), "", []),
    Code.PREDECESSOR_STUCK: (
        waiting(), (CSV, CLUSTER_SERVICE_VERSION.ref("a.v0", "ns")), "when a.v0 is installed, replaced or deleted",
        ["kubectl -n ns delete csv a.v0"],
    ),
    Code.INSTALL_MODE_UNSUPPORTED: (
        version("Failed", "UnsupportedOperatorGroup", NamespaceContext(groups=(a_group(),))),
        (CSV, OPERATOR_GROUP.ref("mine", "ns")), "when OperatorGroup mine changes", [""],
    ),
    Code.API_CONFLICT: (version("Failed", "InterOperatorGroupOwnerConflict"), (CSV,), "", []),
    Code.NO_OPERATOR_GROUP: (version("Failed", "NoOperatorGroup"), (CSV,), GROUPS, []),
    Code.TOO_MANY_OPERATOR_GROUPS: (version("Failed", "TooManyOperatorGroups"), (CSV,), GROUPS, []),
}  # fmt: skip
"""Code to what was read, and the evidence, the end of the wait and the commands that are wanted."""


@pytest.mark.parametrize("code", CASES)
def test_each_reason_is_decided_with_its_evidence_and_fixes(code: Code) -> None:
    package, evidence, until, commands = CASES[code]
    status = decide(package)
    assert (status.code, status.evidence, status.until) == (code, evidence, until)
    assert [str(one.command or "") for one in status.fixes] == commands


@pytest.mark.parametrize("is_read", [True, False])
def test_what_an_account_may_not_do_is_told_shortly(*, is_read: bool) -> None:
    package = CASES[Code.PERMISSIONS_LACKING][0]
    found = decide(package if is_read else replace(package, context=NamespaceContext()))
    who = "ServiceAccount ns/limited, which OperatorGroup mine names," if is_read else "ServiceAccount ns/limited"
    assert found.message == f"{who} may not create services in namespace ns"
    assert found.next_try == "when ServiceAccount ns/limited is given what it lacks"


@pytest.mark.parametrize("more", ["", "; no such API"])
def test_a_version_that_its_account_may_not_install_is_told_shortly_with_what_else_it_says(more: str) -> None:
    failed: Manifest = a_csv("Failed", f"{DENIED}{more}", reason="InstallComponentFailed")
    found = decide(a_package(a_subscription(currentCSV="a.v1"), failed))
    assert (found.code, found.message) == (
        Code.PERMISSIONS_LACKING, f"ServiceAccount ns/limited may not create services in namespace ns{more}",
    )  # fmt: skip
    assert [str(one.command) for one in found.fixes] == ["olmf plan --grants -n ns"]


@pytest.mark.parametrize(
    ("groups", "command"),
    [
        pytest.param((), "olmf install etcd-package -n ns", id="no group: installing makes one that suits"),
        pytest.param(("new", "old"), "kubectl -n ns delete operatorgroup new", id="two groups: the older one stays"),
        pytest.param(("old",), EXPLAIN, id="one group by now: something else prevents it"),
    ],
)
def test_what_gives_a_namespace_its_one_group_is_advised_at_once(groups: tuple[str, ...], command: str) -> None:
    made = {"new": "2026-02-02T00:00:00Z", "old": "2026-01-01T00:00:00Z"}
    meta = ({"name": name, "namespace": "ns", "creationTimestamp": made[name]} for name in groups)
    context = NamespaceContext(groups=tuple(OperatorGroup({"metadata": one}) for one in meta))
    found = decide(replace(package_with("ResolutionFailed", "ErrorPreventedResolution"), context=context))
    assert [str(one.command) for one in found.fixes] == [command]


@pytest.mark.parametrize("is_installing", [False, True])
def test_an_account_that_is_not_there_is_to_be_made(*, is_installing: bool) -> None:
    """The group says so: of what the plan or the version waits for, the message alone knows."""
    missing = {"type": "OperatorGroupServiceAccount", "status": "True", "reason": "ServiceAccountNotFound"}
    group = OperatorGroup({**a_group(serviceAccountName="ghost").raw, "status": {"conditions": [missing]}})
    read = NamespaceContext(groups=(group,))
    waits = package_with("InstallPlanPending", "Installing")
    found = decide(version("Failed", "x", read) if is_installing else replace(waits, context=read))
    assert [str(one.command) for one in found.fixes] == ["kubectl -n ns create serviceaccount ghost"]
    assert found.until == found.next_try == "when ServiceAccount ns/ghost is there"
    assert {OPERATOR_GROUP.ref("mine", "ns"), SERVICE_ACCOUNT.ref("ghost", "ns")} < set(found.evidence)


@pytest.mark.parametrize("is_installing", [False, True])
@pytest.mark.parametrize(
    ("selector", "command"),
    [
        pytest.param({"matchLabels": {"team": "x"}}, "kubectl label namespace ns team=x --overwrite", id="labels"),
        pytest.param({"matchLabels": {names.NAMESPACE_NAME: "gone"}}, "", id="the name of a namespace"),
        pytest.param(
            {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}, "", id="no label will do"
        ),
    ],
)
def test_a_group_whose_selector_matches_no_namespace_is_named(
    selector: Manifest, command: str, *, is_installing: bool
) -> None:
    """What OLM says of the plan, that no group manages the namespace, stands before it."""
    group = OperatorGroup({"metadata": a_group().metadata, "spec": {"selector": selector}})
    read = NamespaceContext(groups=(group,))
    waits = replace(package_with("InstallPlanPending", "Installing"), context=read)
    found = decide(version("Failed", "NoTargetNamespaces", read) if is_installing else waits)
    text = "no; OperatorGroup mine selects namespaces by labels, and has found none so far"
    assert found.message.removeprefix("Installing: ") == text
    assert [str(one.command or "") for one in found.fixes] == [command]
    assert OPERATOR_GROUP.ref("mine", "ns") in found.evidence
    assert all("in place of other values" in one.what for one in found.fixes if one.command)
    chosen = OperatorGroup({**group.raw, "status": {"namespaces": ["a"]}})
    assert not decide(replace(waits, context=NamespaceContext(groups=(chosen,)))).fixes


def test_what_the_version_below_may_not_do_is_to_be_given_before_it_is_deleted() -> None:
    package = version("Pending", "InstallWaiting", replaces="a.v0")
    older: Manifest = {**a_csv("Failed", DENIED), "metadata": {"name": "a.v0", "namespace": "ns"}}
    found = decide(replace(package, context=NamespaceContext(csvs=(Csv(older),))))
    assert found.code is Code.PREDECESSOR_STUCK
    assert [str(one.command) for one in found.fixes] == ["olmf plan --grants -n ns"]
    assert found.until == "when ServiceAccount ns/limited is given what it lacks"


def test_no_reason_is_without_a_case() -> None:
    assert set(CASES) | OF_EXTENSIONS == set(Code)
    assert {rule.code for rule in (*OF_CSV.values(), *OF_CONDITION.values())} <= set(CASES)


OF_EXTENSIONS = {
    Code.RETRYING, Code.CONFIGURATION_INVALID, Code.ROLLOUT_REFUSED, Code.ROLLOUT_BLOCKED, Code.ROLLOUT_LATE,
    Code.UNAVAILABLE, Code.DELETING, Code.DOUBLED,
}  # fmt: skip
"""Those that `test_extension` and `test_generations` have cases of."""

STUCK = {Code.CSV_DELETED, Code.UNSATISFIABLE, Code.INSTALL_MODE_UNSUPPORTED}


@pytest.mark.parametrize("code", CASES)
def test_only_what_a_person_can_help_is_stuck(code: Code) -> None:
    assert decide(CASES[code][0]).is_stuck == (code in STUCK)


def test_a_plan_that_would_lose_what_is_stored_is_not_advised_to_be_approved() -> None:
    condition = ("InstallPlanPending", "RequiresApproval", "A ns/one")
    unsafe = {"type": "CRDUpgradeSafe", "status": "False", "message": "A ns/one"}
    meta, status_of_plan = {"name": PLAN.name}, {"phase": "RequiresApproval", "conditions": [unsafe]}
    plan = InstallPlan({"metadata": meta, "status": status_of_plan})
    package = a_package(a_subscription(condition, installPlanRef=meta))
    status = decide(replace(package, context=NamespaceContext(plans=(plan,))))
    assert "A ns/one" in status.message
    assert [str(one.command) for one in status.fixes] == ["olmf plan -n ns"]


@pytest.mark.parametrize("reason", ["ErrorPreventedResolution", "ConstraintsNotSatisfiable"])
@pytest.mark.parametrize("csv", [None, a_csv("Succeeded")])
def test_the_fix_in_a_stored_message_is_left_to_who_tries_it_anew(reason: str, csv: Manifest | None) -> None:
    stored = "no\nfix: have one of the OperatorGroups a, b; to keep a: kubectl -n ns delete operatorgroup b"
    status = decide(a_package(a_subscription(("ResolutionFailed", reason, stored), currentCSV="a.v1"), csv))
    assert "kubectl" not in status.message
    assert [str(one.command) for one in status.advised] == [EXPLAIN]


def test_groups_that_stop_everybody_end_the_wait_of_what_cannot_be_resolved() -> None:
    package = package_with("ResolutionFailed", "ErrorPreventedResolution")
    status = decide(replace(package, context=NamespaceContext(groups=(a_group(), a_group()))))
    assert (status.until, status.is_stuck) == (GROUPS, True)
    assert OPERATOR_GROUP.ref("mine", "ns") in status.evidence
