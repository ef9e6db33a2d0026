"""The decider: what was read in, the status of a package out; each rule of its tables is tried."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from eventing.diagnosis.status.decider import RETRY, decide
from eventing.diagnosis.status.package_status import Package, PackageStatus
from eventing.diagnosis.why.facts import LastRun
from eventing.workqueue import Listed, State
from shared.api.manifest import Manifest
from shared.api.views import Csv, Subscription
from shared.domain.command import Command
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SUBSCRIPTION

DUE = datetime(2026, 5, 5, tzinfo=UTC)
DUE_TEXT = "2026-05-05T00:00:00+00:00"


def a_subscription(*conditions: tuple[str, str, str], hold: str = "", **status: Any) -> Manifest:
    listed = [{"type": kind, "status": "True", "reason": reason, "message": text} for kind, reason, text in conditions]
    annotations = {"olmf.io/hold": hold} if hold else {}
    meta = {"name": "etcd", "namespace": "ns", "annotations": annotations}
    spec = {"name": "etcd-package", "source": "local", "sourceNamespace": "olm"}
    kind = SUBSCRIPTION
    status = {**status, "conditions": listed}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec, "status": status}


def a_csv(phase: str, message: str = "", *, spec: Manifest | None = None, **status: object) -> Manifest:
    kind, meta = CLUSTER_SERVICE_VERSION, {"name": "a.v1", "namespace": "ns"}
    status = {"phase": phase, "message": message, **status}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec or {}, "status": status}


def healthy(*names: str) -> list[Manifest]:
    """What a Subscription says of catalogs that can be read."""
    return [{"catalogSourceRef": {"namespace": "olm", "name": name}, "healthy": True} for name in names]


FIELDS = ("version", "phase", "message", "held", "pinned", "stranded", "plan", "is_done", "is_stuck")


def a_status(version: str, phase: str, message: str = "", **more: object) -> dict[str, object]:
    return {**dict.fromkeys(FIELDS[3:7], ""), "is_done": False, "is_stuck": False, "version": version, "phase": phase,
            "message": message, **more}  # fmt: skip


def a_package(subscription: Manifest | None, csv: Manifest | None = None, **more: Any) -> Package:
    return Package(Subscription.of(subscription), Csv.of(csv), **more)


def package_status(subscription: Manifest, csv: Manifest | None) -> PackageStatus:
    return decide(a_package(subscription, csv))


def brief(status: PackageStatus) -> dict[str, object]:
    return {field: getattr(status, field) for field in FIELDS}


@pytest.mark.parametrize(
    ("subscription", "csv", "want"),
    [
        pytest.param(a_subscription(), None, a_status("", "Resolving"), id="nothing known yet"),
        pytest.param(
            a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", "no such package")), None,
            a_status("", "ResolutionFailed", "no such package", is_stuck=True),
            id="not resolvable",
        ),
        pytest.param(
            a_subscription(("InstallPlanPending", "RequiresApproval", ""), state="UpgradePending", currentCSV="a.v1"),
            None, a_status("a.v1", "InstallPlanPending", "RequiresApproval"), id="waits for approval",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "targeted catalogsource olm/local unhealthy"),
                ("InstallPlanPending", "RequiresApproval", ""), currentCSV="a.v1",
            ),
            None, a_status("a.v1", "InstallPlanPending", "RequiresApproval"), id="approval before catalogs",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "targeted catalogsource olm/local unhealthy"), currentCSV="a.v1",
                catalogHealth=healthy("other"),
            ),
            None, a_status("a.v1", "CatalogSourcesUnhealthy", "x: targeted catalogsource olm/local unhealthy"),
            id="its own catalog is ill",
        ),
        pytest.param(
            a_subscription(
                ("CatalogSourcesUnhealthy", "x", "sick catalogs: olm/sick"),
                currentCSV="a.v1", installedCSV="a.v1", catalogHealth=healthy("local"),
            ),
            a_csv("Succeeded"), a_status("a.v1", "Succeeded", is_done=True), id="a catalog of others is ill",
        ),
        pytest.param(
            a_subscription(("InstallPlanPending", "Installing", "no such API"), currentCSV="a.v1"),
            a_csv("Pending", "requirements not yet checked"),
            a_status("a.v1", "Pending", "Installing: no such API"), id="its plan is tried again",
        ),
        pytest.param(
            a_subscription(("InstallPlanFailed", "InstallComponentFailed", "no such API"), currentCSV="a.v1"),
            a_csv("Pending", requirementStatus=[{"kind": "CRD", "name": "c", "status": "NotPresent"}]),
            a_status("a.v1", "Pending", "InstallComponentFailed: no such API"), id="its plan failed",
        ),
        pytest.param(
            a_subscription(("InstallPlanFailed", "x", "no such API"), ("Blocked", "x", "delete it"), currentCSV="a.v1"),
            None, a_status("a.v1", "InstallPlanFailed", "x: no such API; delete it"),
            id="what a failed plan blocks",
        ),
        pytest.param(
            a_subscription(("BundleUnpacking", "x", ""), ("BundleUnpackFailed", "y", "z")), None,
            a_status("", "BundleUnpackFailed", "y: z"), id="the gravest condition is told",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1"),
            a_csv("Pending", "requirements", requirementStatus=[{"kind": "CRD", "name": "x", "status": "NotPresent"}]),
            a_status("a.v1", "Pending", "CRD x: NotPresent"), id="an unmet requirement is named",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1", installedCSV="a.v1", hold="audit"), a_csv("Succeeded"),
            a_status("a.v1", "Succeeded", "held: audit", held="a.v1: audit", is_done=True), id="held",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v1", hold="audit"), a_csv("Installing", "waiting"),
            a_status("a.v1", "Installing", "waiting; held: audit", held="no version yet: audit"),
            id="held while something comes",
        ),
        pytest.param(
            a_subscription(hold="audit"), None,
            a_status("", "Resolving", "held: audit", held="no version yet: audit", is_stuck=True),
            id="held before anything is installed",
        ),
        pytest.param(
            a_subscription(currentCSV="a.v2", installedCSV="a.v1"), a_csv("Succeeded"),
            a_status("a.v2", "Succeeded"), id="a version that the Subscription has not seen yet is not done",
        ),
        pytest.param(
            a_subscription(
                ("ResolutionFailed", "ErrorPreventedResolution", "later"), currentCSV="a.v1", installedCSV="a.v1"
            ),
            a_csv("Succeeded"),
            a_status("a.v1", "Succeeded", "the next version cannot be resolved: ErrorPreventedResolution: later"),
            id="what works is not done while its next version cannot be decided",
        ),
        pytest.param(
            a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", "no v2"), currentCSV="a.v1"),
            a_csv("Installing", "waiting"), a_status("a.v1", "Installing", "waiting"),
            id="what is being installed is not stuck, whatever comes after it",
        ),
        pytest.param(
            a_subscription(
                ("InstalledCSVMissing", "ClusterServiceVersionDeleted", "gone"), currentCSV="a.v1", installedCSV="a.v1"
            ),
            None,
            a_status("a.v1", "InstalledCSVMissing", "ClusterServiceVersionDeleted: gone", is_stuck=True),
            id="a version that somebody deleted",
        ),
    ],
)  # fmt: skip
def test_where_a_package_stands(subscription: Manifest, csv: Manifest | None, want: dict[str, object]) -> None:
    assert brief(package_status(subscription, csv)) == want


def test_a_pin_is_reported_while_its_annotation_is_there() -> None:
    reported = ("Pinned", "PinnedByAnnotation", "pinned to 1.0.0; a.v2 is there")
    subscription = a_subscription(reported, currentCSV="a.v1", installedCSV="a.v1")
    assert package_status(subscription, a_csv("Succeeded")).message == ""
    subscription["metadata"]["annotations"] = {"olmf.io/version": "1.0.0"}
    now = package_status(subscription, a_csv("Succeeded"))
    assert (now.message, now.pinned, now.reason, now.is_done) == (reported[2], reported[2], "PinnedByAnnotation", True)
    subscription["status"]["conditions"] = []
    now = package_status(subscription, a_csv("Succeeded"))
    assert (now.message, now.pin, now.pinned) == ("pinned to 1.0.0", "1.0.0", ""), "before anything newer is there, too"


@pytest.mark.parametrize(
    ("since", "want"),
    [
        pytest.param("2026-05-05T00:00:05Z", "", id="the plan was carried out"),
        pytest.param("2026-05-05T00:00:15Z", "Installing: no group", id="the plan is newer than the version"),
    ],
)
def test_a_plan_that_made_a_version_work_does_not_wait(since: str, want: str) -> None:
    subscription = a_subscription(("InstallPlanPending", "Installing", "no group"), currentCSV="a.v1")
    subscription["status"]["conditions"][0]["lastTransitionTime"] = since
    csv = a_csv("Succeeded", lastTransitionTime="2026-05-05T00:00:10Z")
    assert package_status(subscription, csv).message == want


FAILED_PLAN = ("InstallPlanFailed", "x", "no such API")
BLOCKING = ("Blocked", "InstallPlanFailed", "Delete it: kubectl delete installplan install-1")


@pytest.mark.parametrize(
    ("conditions", "csv", "message", "fix", "next_try"),
    [
        pytest.param(
            (FAILED_PLAN, BLOCKING), None,
            "x: no such API; nothing else is installed while InstallPlan install-1 exists",
            "mend what it names, and delete the plan for a new one", "when InstallPlan install-1 is deleted",
            id="before its version is there",
        ),
        pytest.param(
            (FAILED_PLAN,), a_csv("Pending"), "x: no such API",
            "mend what it names, then uninstall and install etcd-package again", "when etcd-package is installed again",
            id="after its version came",
        ),
    ],
)  # fmt: skip
def test_a_plan_that_failed_is_not_tried_again(
    conditions: tuple[tuple[str, str, str], ...], csv: Manifest | None, message: str, fix: str, next_try: str
) -> None:
    subscription = a_subscription(*conditions, currentCSV="a.v1", installPlanRef={"name": "install-1"})
    status = decide(a_package(subscription, csv, due="2026-01-01T00:00:00+00:00"))
    assert (status.message, [one.what for one in status.fixes], status.next_try) == (message, [fix], next_try)


def test_a_version_that_fails_says_why_beside_the_plan_that_is_tried_again() -> None:
    subscription = a_subscription(("InstallPlanPending", "Installing", "retrying execution"), currentCSV="a.v1")
    status = package_status(subscription, a_csv("Failed", "rule invalid", reason="InvalidStrategy"))
    assert status.message == "Installing: retrying execution; a.v1 is Failed: rule invalid"


CONFLICT = ("a cannot be satisfied, because all of this is so:", "- one", "- two", "fix: do x: olmf x")


@pytest.mark.parametrize(
    ("lines", "installed", "brief"),
    [
        pytest.param(CONFLICT, "", "a cannot be satisfied, because all of this is so: one; two", id="a conflict"),
        pytest.param(
            CONFLICT, "a.v1",
            "the next version cannot be resolved: a cannot be satisfied, because all of this is so: one; two",
            id="beside what works",
        ),
        pytest.param((CONFLICT[0], f"- {'long ' * 99}"), "", f"{CONFLICT[0]} {'long ' * 49}…", id="a long one"),
        pytest.param((), "", "", id="nothing but OLM's words"),
        pytest.param((CONFLICT[-1],), "", "", id="OLM's words say it all"),
    ],
)  # fmt: skip
def test_a_row_has_a_refusal_in_one_sentence(lines: tuple[str, ...], installed: str, brief: str) -> None:
    stored = "\n".join(("constraints not satisfiable: x", *lines))
    reported = ("ResolutionFailed", "ConstraintsNotSatisfiable", stored)
    subscription = a_subscription(reported, currentCSV=installed, installedCSV=installed)
    status = package_status(subscription, a_csv("Succeeded") if installed else None)
    assert status.brief == brief
    assert status.row_message == (brief or status.message)
    assert "constraints not satisfiable: x" in status.message


def test_since_when_is_no_change() -> None:
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
def test_a_deleted_plan_is_reported_in_a_sentence(installed: str, phase: str | None, says: str) -> None:
    gone = ("InstallPlanMissing", "ReferencedInstallPlanNotFound", "")
    subscription = a_subscription(gone, currentCSV="a.v1", installedCSV=installed)
    now = package_status(subscription, a_csv(phase) if phase else None)
    assert (now.message, now.reason) == (says, "ReferencedInstallPlanNotFound")


def test_what_is_wrong_is_reported_before_what_keeps_the_version() -> None:
    subscription = a_subscription(
        ("Pinned", "x", "pinned to 1.0.0; a.v2 is there"), currentCSV="a.v1", installedCSV="a.v1"
    )
    subscription["metadata"]["annotations"] = {"olmf.io/version": "1.0.0"}
    says = package_status(subscription, a_csv("Pending", "CRD is not present")).message
    assert says == "CRD is not present; pinned to 1.0.0; a.v2 is there"


def test_a_message_of_a_condition_is_shown_as_it_is() -> None:
    """No program reads it: the lines below OLM's are for people, and `explain` finds out more."""
    message = "constraints not satisfiable: x\nSubscription c cannot be satisfied:\n- no c\nfix: ask a"
    now = package_status(a_subscription(("ResolutionFailed", "ConstraintsNotSatisfiable", message), hold="audit"), None)
    assert (now.reason, now.message) == ("ConstraintsNotSatisfiable", f"{message}; held: audit")


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        pytest.param(("BundleUnpacking", "BundleUnpacking", "Job 7"), "Job 7", id="its type is its reason"),
        pytest.param(("BundleUnpacking", "UnpackingRefused", "no"), "UnpackingRefused: no", id="it is not"),
    ],
)
def test_a_reason_that_is_the_phase_is_not_reported_again(condition: tuple[str, str, str], want: str) -> None:
    assert package_status(a_subscription(condition), None).message == want


def test_the_rule_that_is_not_granted_is_named() -> None:
    rules = [{"status": "NotSatisfied", "message": f"cluster rule:{n}"} for n in (1, 2)]
    lacking = {"kind": "ServiceAccount", "name": "a", "status": "PresentNotSatisfied", "message": "Policy rule no"}
    granted = {"status": "Satisfied", "message": "cluster rule:0"}
    csv = a_csv("Pending", requirementStatus=[{**lacking, "dependents": [granted, *rules]}])
    now = package_status(a_subscription(currentCSV="a.v1"), csv)
    assert now.message == "ServiceAccount a: Policy rule no (cluster rule:1 and 1 more)"


def test_an_annotation_that_nobody_knows_is_reported() -> None:
    subscription = a_subscription(currentCSV="a.v1", installedCSV="a.v1")
    subscription["metadata"]["annotations"] = {"olmf.io/versoin": "1.0.0"}
    reported = "annotation olmf.io/versoin is not known on a Subscription and has no effect (known is olmf.io/version)"
    assert brief(package_status(subscription, a_csv("Succeeded"))) == a_status(
        "a.v1", "Succeeded", reported, is_done=True
    )


def a_listed(state: State = "delayed", error: str = "no", *, due: datetime | None = DUE) -> Listed:
    return Listed("a/step", SUBSCRIPTION.ref("etcd", "ns"), "direct", state, attempts=6, error=error, due=due)


def waited(what: str = "", *, next_try: datetime | None = None, attempts: int = 0) -> LastRun:
    return LastRun("a/step", "said", DUE, waits_for=what, since="then", next_try=next_try, attempts=attempts)


BLOCKED = a_subscription(("ResolutionFailed", "ErrorPreventedResolution", "later"))
TO_APPROVE = a_subscription(("InstallPlanPending", "RequiresApproval", ""), installPlanRef={"name": "install-1"})
UNTIL = a_subscription(("Stranded", "NotInChannel", "nowhere"))


@pytest.mark.parametrize(
    ("package", "want"),
    [
        pytest.param(a_package(a_subscription(currentCSV="a.v1"), a_csv("Succeeded")), "", id="nothing to wait for"),
        pytest.param(a_package(BLOCKED), "at the next event", id="nothing known"),
        pytest.param(a_package(UNTIL), "when its channel changes", id="what ends the wait"),
        pytest.param(a_package(TO_APPROVE), "when approved", id="a plan"),
        pytest.param(a_package(BLOCKED, job=a_listed()), DUE_TEXT, id="the failing job"),
        pytest.param(a_package(TO_APPROVE, job=a_listed()), DUE_TEXT, id="the failing job before the plan"),
        pytest.param(a_package(BLOCKED, job=a_listed("ready")), "now", id="a failing job that is about to run"),
        pytest.param(a_package(BLOCKED, job=a_listed("dead")), RETRY, id="a job that was given up"),
        pytest.param(a_package(BLOCKED, last=(waited(attempts=8),)), RETRY, id="given up, as the journal has it"),
        pytest.param(a_package(BLOCKED, due=DUE_TEXT), DUE_TEXT, id="what the queue runs next"),
        pytest.param(a_package(UNTIL, due=DUE_TEXT), "when its channel changes", id="what ends the wait before that"),
        pytest.param(a_package(BLOCKED, last=(waited("x", next_try=DUE),)), DUE_TEXT, id="what the journal knows"),
        pytest.param(a_package(BLOCKED, last=(waited(next_try=DUE),)), DUE_TEXT, id="of a step that waits for another"),
        pytest.param(a_package(BLOCKED, catalog_due=DUE_TEXT), DUE_TEXT, id="its catalog"),
    ],
)
def test_when_it_is_tried_again(package: Package, want: str | Command) -> None:
    assert decide(package).next_try == want


def test_what_no_status_reports_is_reported_as_its_steps_reported_it() -> None:
    now = decide(a_package(a_subscription(currentCSV="a.v1"), a_csv("Installing"), last=(waited("its Deployments"),)))
    assert (now.message, now.since) == ("its Deployments", "then")
    assert decide(a_package(BLOCKED, last=(waited("other"),))).message == "ErrorPreventedResolution: later"


def test_an_error_that_the_status_reports_is_not_reported_twice() -> None:
    assert decide(a_package(BLOCKED, job=a_listed(error="later"))).message == "ErrorPreventedResolution: later"
    assert decide(a_package(BLOCKED, job=a_listed(error="a\n b"))).message == "ErrorPreventedResolution: later; a b"
    retried = ("InstallPlanPending", "Installing", "retrying execution due to error: no such API")
    package = a_package(a_subscription(retried, installPlanRef={"name": "install-1"}))
    of_plan = replace(a_listed(error="no such API"), ref=INSTALL_PLAN.ref("install-1", "ns"))
    assert decide(replace(package, job=of_plan)).message == f"Installing: {retried[2]}"
    assert decide(replace(package, job=a_listed())).message == f"Installing: {retried[2]}; no"


def test_of_a_version_that_is_left_for_the_next_one_what_its_account_lacks_is_told_shortly() -> None:
    where = 'cannot create resource "deployments" in API group "apps" in the namespace "ns"'
    former = Csv(a_csv("Failed", f'deployments.apps is forbidden: User "system:serviceaccount:ns:few" {where}'))
    pending = ("InstallPlanPending", "RequiresApproval", "")
    subscription = a_subscription(pending, installedCSV="a.v1", currentCSV="a.v2")
    status = decide(a_package(subscription, kept=former))
    lacks = "a.v1 is Failed: ServiceAccount ns/few may not create deployments.apps in namespace ns"
    assert status.message == f"RequiresApproval; {lacks}"
