"""Where a package stands, in one line."""

from __future__ import annotations

import pytest

from eventing.diagnosis.status.progress import PackageStatus, package_status
from shared.api.manifest import Manifest


def a_subscription(*conditions: tuple[str, str, str], hold: str = "", **status: str) -> Manifest:
    listed = [{"type": kind, "status": "True", "reason": reason, "message": text} for kind, reason, text in conditions]
    annotations = {"olmf.io/hold": hold} if hold else {}
    return {"metadata": {"name": "etcd", "annotations": annotations}, "status": {**status, "conditions": listed}}


def a_csv(phase: str, message: str = "", **status: object) -> Manifest:
    return {"status": {"phase": phase, "message": message, **status}}


@pytest.mark.parametrize(
    ("subscription", "csv", "want"),
    [
        pytest.param(a_subscription(), None, PackageStatus("", "Resolving"), id="nothing known yet"),
        pytest.param(
            a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", "no such package")), None,
            PackageStatus("", "ResolutionFailed", "no such package", is_stuck=True),
            id="not resolvable",
        ),
        pytest.param(
            a_subscription(("InstallPlanPending", "RequiresApproval", ""), state="UpgradePending", currentCSV="a.v1"),
            None, PackageStatus("a.v1", "InstallPlanPending", "RequiresApproval"), id="waits for approval",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "targeted catalogsource olm/local unhealthy"),
                ("InstallPlanPending", "RequiresApproval", ""), currentCSV="a.v1",
            ),
            None, PackageStatus("a.v1", "InstallPlanPending", "RequiresApproval"), id="approval before catalogs",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "targeted catalogsource olm/local unhealthy"), currentCSV="a.v1"
            ),
            None, PackageStatus("a.v1", "CatalogSourcesUnhealthy", "x: targeted catalogsource olm/local unhealthy"),
            id="its own catalog is ill",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "other catalogsources are unhealthy: olm/sick"),
                currentCSV="a.v1", installedCSV="a.v1",
            ),
            a_csv("Succeeded"), PackageStatus("a.v1", "Succeeded", is_done=True), id="a catalog of others is ill",
        ),
        pytest.param(
            a_subscription(("InstallPlanPending", "Installing", "no such API"), currentCSV="a.v1"),
            a_csv("Pending", "requirements not yet checked"),
            PackageStatus("a.v1", "Pending", "Installing: no such API"), id="its plan is tried again",
        ),
        pytest.param(
            a_subscription(("InstallPlanFailed", "InstallComponentFailed", "no such API"), currentCSV="a.v1"),
            a_csv("Pending", requirementStatus=[{"kind": "CRD", "name": "c", "status": "NotPresent"}]),
            PackageStatus("a.v1", "Pending", "InstallComponentFailed: no such API"), id="its plan failed",
        ),
        pytest.param(
            a_subscription(("InstallPlanFailed", "x", "no such API"), ("Blocked", "x", "delete it"), currentCSV="a.v1"),
            None, PackageStatus("a.v1", "InstallPlanFailed", "x: no such API; delete it"),
            id="what a failed plan blocks",
        ),
        pytest.param(
            a_subscription(("BundleUnpacking", "x", ""), ("BundleUnpackFailed", "y", "z")), None,
            PackageStatus("", "BundleUnpackFailed", "y: z"), id="the gravest condition is told",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1"),
            a_csv("Pending", "requirements", requirementStatus=[{"kind": "CRD", "name": "x", "status": "NotPresent"}]),
            PackageStatus("a.v1", "Pending", "CRD x: NotPresent"), id="an unmet requirement is named",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1", installedCSV="a.v1", hold="audit"), a_csv("Succeeded"),
            PackageStatus("a.v1", "Succeeded", "held: audit", held="a.v1: audit", is_done=True), id="held",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1", hold="audit"), a_csv("Installing", "waiting"),
            PackageStatus("a.v1", "Installing", "waiting; held: audit", held="no version yet: audit"),
            id="held while something comes",
        ),
        pytest.param(
            a_subscription(hold="audit"), None,
            PackageStatus("", "Resolving", "held: audit", held="no version yet: audit", is_stuck=True),
            id="held before anything is installed",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1"),
            a_csv("Pending", "webhooks are not supported yet: a")
            | {"spec": {"webhookdefinitions": [{"generateName": "a"}]}},
            PackageStatus("a.v1", "Pending", "webhooks are not supported yet: a", is_stuck=True),
            id="what cannot be served yet is not waited for",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v2", installedCSV="a.v1"), a_csv("Succeeded"),
            PackageStatus("a.v2", "Succeeded"), id="a version that the Subscription has not seen yet is not done",
        ),
        pytest.param(
            a_subscription(
                ("ResolutionFailed", "ErrorPreventedResolution", "later"), currentCSV="a.v1", installedCSV="a.v1"
            ),
            a_csv("Succeeded"), PackageStatus("a.v1", "Succeeded", "ErrorPreventedResolution: later"),
            id="what works is not done while its next version cannot be decided",
        ),
        pytest.param(
            a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", "no v2"), currentCSV="a.v1"),
            a_csv("Installing", "waiting"), PackageStatus("a.v1", "Installing", "waiting"),
            id="what is being installed is not stuck, whatever comes after it",
        ),
        pytest.param(
            a_subscription(
                ("InstalledCSVMissing", "ClusterServiceVersionDeleted", "gone"), currentCSV="a.v1", installedCSV="a.v1"
            ),
            None,
            PackageStatus("a.v1", "InstalledCSVMissing", "ClusterServiceVersionDeleted: gone", is_stuck=True),
            id="a version that somebody deleted",
        ),
    ],
)  # fmt: skip
def test_standing(subscription: Manifest, csv: Manifest | None, want: PackageStatus) -> None:
    assert package_status(subscription, csv) == want


def test_a_pin_is_told_while_it_is_wanted() -> None:
    told = ("Pinned", "PinnedByAnnotation", "pinned to 1.0.0; a.v2 is there")
    subscription = a_subscription(told, currentCSV="a.v1", installedCSV="a.v1")
    assert package_status(subscription, a_csv("Succeeded")).says == ""
    subscription["metadata"]["annotations"] = {"olmf.io/version": "1.0.0"}
    now = package_status(subscription, a_csv("Succeeded"))
    assert (now.says, now.pinned, now.reason, now.is_done) == (told[2], told[2], "PinnedByAnnotation", True)


def test_since_when_is_no_news() -> None:
    subscription = a_subscription(("InstallPlanFailed", "x", "y"), currentCSV="a.v1")
    before = package_status(subscription, None)
    subscription["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    after = package_status(subscription, None)
    assert (before.since, after.since) == ("", "2026-01-01T00:00:00+00:00")
    assert before == after


@pytest.mark.parametrize(
    ("installed", "phase", "says"),
    [
        pytest.param("a.v1", "Succeeded", "its InstallPlan was deleted; nothing needs to be done", id="it works"),
        pytest.param("", None, "its InstallPlan was deleted", id="it is not there yet"),
    ],
)
def test_a_deleted_plan_is_told_in_a_sentence(installed: str, phase: str | None, says: str) -> None:
    gone = ("InstallPlanMissing", "ReferencedInstallPlanNotFound", "")
    subscription = a_subscription(gone, currentCSV="a.v1", installedCSV=installed)
    now = package_status(subscription, a_csv(phase) if phase else None)
    assert (now.says, now.reason) == (says, "ReferencedInstallPlanNotFound")


def test_what_a_message_says_twice_is_told_once() -> None:
    status = a_subscription(currentCSV="a.v1")
    failed = a_csv("Failed", "install strategy failed: install strategy failed: deployments is forbidden")
    assert package_status(status, failed).says == "install strategy failed: deployments is forbidden"


def test_what_is_wrong_is_told_before_what_keeps_the_version() -> None:
    subscription = a_subscription(
        ("Pinned", "x", "pinned to 1.0.0; a.v2 is there"), currentCSV="a.v1", installedCSV="a.v1"
    )
    subscription["metadata"]["annotations"] = {"olmf.io/version": "1.0.0"}
    says = package_status(subscription, a_csv("Pending", "CRD is not present")).says
    assert says == "CRD is not present; pinned to 1.0.0; a.v2 is there"


def test_a_refusal_is_told_in_one_line_and_once() -> None:
    message = (
        "constraints not satisfiable: no operators found in package c\n"
        "Subscription c cannot be satisfied, because all of this is so:\n- no c\nfix: ask a"
    )
    now = package_status(a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", message), hold="audit"), None)
    assert (now.reason, now.says) == ("ConstraintsNotSatisfiable", "no c; fix: ask a; held: audit")


def test_the_rule_that_is_not_granted_is_named() -> None:
    rules = [{"status": "NotSatisfied", "message": f"cluster rule:{n}"} for n in (1, 2)]
    lacking = {"kind": "ServiceAccount", "name": "a", "status": "PresentNotSatisfied", "message": "Policy rule no"}
    granted = {"status": "Satisfied", "message": "cluster rule:0"}
    csv = a_csv("Pending", requirementStatus=[{**lacking, "dependents": [granted, *rules]}])
    now = package_status(a_subscription(currentCSV="a.v1"), csv)
    assert now.says == "ServiceAccount a: Policy rule no (cluster rule:1 and 1 more)"


def test_an_annotation_that_nobody_knows_is_told() -> None:
    subscription = a_subscription(currentCSV="a.v1", installedCSV="a.v1")
    subscription["metadata"]["annotations"] = {"olmf.io/versoin": "1.0.0"}
    told = "annotation olmf.io/versoin is not known on a Subscription and has no effect (known is olmf.io/version)"
    assert package_status(subscription, a_csv("Succeeded")) == PackageStatus("a.v1", "Succeeded", told, is_done=True)
