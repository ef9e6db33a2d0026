"""What a namespace waits for, on one screen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eventing.cli.namespace import paragraphs, show, waiting
from eventing.cli.status_text import is_failing, message_of, next_try_of, row_of
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_statuses
from eventing.events.event import Event
from eventing.journal import JournalIndex, ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision, StatementRecord
from eventing.workqueue import Listed
from shared import names
from shared.api.manifest import Manifest
from shared.domain.command import Fix, olmf
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, NAMESPACE, SUBSCRIPTION, Kind, Ref
from tests.kit.cluster import FakeCluster

SINCE = "2026-01-01T00:00:00+00:00"
LATER = datetime(2026, 1, 2, tzinfo=UTC)
DUE = LATER.isoformat(timespec="seconds")


def an_object(kind: Kind, name: str, **fields: object) -> Manifest:
    return {
        "apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, "namespace": "olm"}, **fields,
    }  # fmt: skip


def a_package(name: str, phase: str = "", message: str = "", *conditions: Manifest, **status: str) -> list[Manifest]:
    """A Subscription, and its version when that has a phase."""
    csv = f"{name}.v1"
    spec = {"name": name, "source": "local", "sourceNamespace": "olm"}
    entry = {"currentCSV": csv if phase else "", "installedCSV": csv if phase else "", "conditions": list(conditions)}
    subscription = an_object(SUBSCRIPTION, name, spec=spec, status=entry)
    if not phase:
        return [subscription]
    version = an_object(CLUSTER_SERVICE_VERSION, csv, spec={}, status={"phase": phase, "message": message, **status})
    return [subscription, version]


def a_condition(kind: str, reason: str, message: str = "") -> Manifest:
    return {
        "type": kind, "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def waited(ref: Ref, what: str) -> JournalIndex:
    decision = Decision([], "outcome", summary=what, wait={"what": what, "since": SINCE, "next_try": None})
    return JournalIndex.of([Recorded(Run("run-1", "a/step", str(ref), 0, 1.0, "0", decisions=[decision]))])


def troubled(objects: list[Manifest], index: JournalIndex | None = None, *jobs: Listed) -> list[PackageStatus]:
    brief = Sources(FakeCluster(objects), jobs)
    return waiting(package_statuses(brief, "olm"), Sources(FakeCluster(objects), jobs, index or JournalIndex()))


def test_what_waits_reports_since_when() -> None:
    index = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    (one,) = troubled([*a_package("etcd", "Installing"), *a_package("atlas", "Succeeded")], index)
    assert (one.since, one.next_try, one.message) == (SINCE, "at the next event", "its Deployments")


def test_the_status_knows_since_when_and_until_when_better_than_an_old_run() -> None:
    index = waited(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"), "its Deployments")
    entry = {"reason": "NoOperatorGroup", "lastTransitionTime": "2026-01-03T00:00:00Z"}
    (one,) = troubled(a_package("etcd", "Failed", "no", **entry), index)
    assert (one.since, one.message) == ("2026-01-03T00:00:00+00:00", "no")
    assert one.next_try == "when the OperatorGroups of the namespace change"


def test_what_was_given_up_reports_how_it_goes_on() -> None:
    ref = SUBSCRIPTION.ref("etcd", "olm")
    dead_letter = Listed("a/step", ref, "direct", "dead", attempts=8)
    entry = a_condition("ResolutionFailed", "ErrorPreventedResolution", "no group")
    (one,) = troubled(a_package("etcd", "", "", entry), waited(ref, "a group"), dead_letter)
    assert (next_try_of(one), one.message) == ("`olmf queue retry`", "ErrorPreventedResolution: no group")


def test_what_no_step_reports_the_status_reports() -> None:
    plan = a_package("etcd", "", "", a_condition("InstallPlanPending", "RequiresApproval"))
    plan[0]["status"]["installPlanRef"] = {"name": "install-1"}
    refused = a_package("atlas", "", "", a_condition("InstallPlanFailed", "x", "no such API"))
    found = {one.subscription: (one.since, one.next_try) for one in troubled([*plan, *refused])}
    assert found == {"etcd": (SINCE, "when approved"), "atlas": (SINCE, "")}


def test_what_waits_for_a_sick_catalog_is_tried_with_it() -> None:
    local, other = (CATALOG_SOURCE.ref(name, "olm") for name in ("local", "other"))
    jobs = [Listed("a/step", ref, "direct", "delayed", due=LATER) for ref in (other, local)]

    def next_try(reason: str, index: JournalIndex) -> object:
        (one,) = troubled(
            a_package("etcd", "", "", a_condition("ResolutionFailed", reason, "unreadable")), index, *jobs
        )
        return one.next_try

    prevented = "ErrorPreventedResolution"
    assert next_try(prevented, waited(local, "its image")) == DUE
    assert next_try(prevented, waited(other, "its image")) != DUE, "another one is sick"
    assert next_try(prevented, JournalIndex()) != DUE, "a healthy one is only polled"
    assert next_try("ConstraintsNotSatisfiable", waited(local, "its image")) != DUE, "it waits for something else"


def test_the_next_try_is_that_of_what_fails() -> None:
    ref = CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm")
    job = Listed("a/step", ref, "direct", "delayed", attempts=1, error="write 0 was refused", due=LATER)
    for index, since in ((waited(ref, "its Deployments"), SINCE), (JournalIndex(), "")):
        (one,) = troubled(a_package("etcd", "Pending"), index, job)
        assert (one.since, one.next_try, one.message) == (since, DUE, "write 0 was refused")


def test_a_step_on_the_namespace_that_names_the_first_package_tries_the_others_too() -> None:
    namespace = NAMESPACE.ref("olm")
    entry = [
        StatementRecord([str(kind.ref(name, "olm")) for kind, name in about], "BundleUnpacking", message)
        for message, about in (
            ("atlas.v1: at work", [(SUBSCRIPTION, "atlas"), (CLUSTER_SERVICE_VERSION, "atlas.v1")]),
            ("etcd.v1: at work", [(SUBSCRIPTION, "etcd"), (CLUSTER_SERVICE_VERSION, "etcd.v1")]),
        )
    ]
    what = "atlas: its bundle is being unpacked"
    wait = {"what": what, "since": SINCE, "next_try": None, "about": entry[0].about}
    reported = Decision([], "outcome", wait=wait, statements=entry)
    seen = [
        ReceivedEvent.of(Event(name, f"{names.RESOURCE_EVENT}add", "api", SUBSCRIPTION.ref(name, "olm")), 0)
        for name in ("atlas", "etcd")
    ]
    index = JournalIndex.of(
        [*seen, Recorded(Run("run-1", "a/step", str(namespace), 0, 1.0, "0", decisions=[reported]))]
    )
    unpacking = a_package("etcd", "", "", a_condition("BundleUnpacking", "BundleUnpacking"))
    job = Listed("a/step", namespace, "direct", "delayed", due=LATER)
    (one,) = troubled(unpacking, index, job)
    assert (one.next_try, one.message) == (DUE, "")


def a_status(name: str, phase: str = "Succeeded", message: str = "", **more: object) -> PackageStatus:
    fields = {"namespace": "olm", "subscription": name, "package": name, "installed": "", "version": f"{name}.v1"}
    return PackageStatus(**{**fields, "phase": phase, "message": message, **more})  # type: ignore[arg-type]  # why: fields


def to_approve(name: str, plan: str, note: str = "") -> PackageStatus:
    fix = Fix(f"approve {plan}{note}", olmf("approve", plan, namespace="olm"))
    return a_status(
        name, "InstallPlanPending", "RequiresApproval", plan=plan, since=SINCE, next_try="when approved", fixes=(fix,)
    )


def test_one_package_reports_what_approves_it_and_since_when() -> None:
    assert list(paragraphs(to_approve("etcd", "install-1"))) == [
        f"status: etcd.v1 is InstallPlanPending: RequiresApproval\n  since {SINCE}, next try: when approved",
        "fix: approve install-1: `olmf approve install-1 -n olm`",
    ]
    assert list(paragraphs(a_status("etcd"))) == ["status: etcd.v1 is Succeeded"]
    locked = a_status("etcd", message="held: audit", fixes=(Fix("let it go"),))
    assert list(paragraphs(locked)) == ["status: etcd.v1 is Succeeded: held: audit"]


def test_a_plan_that_a_hold_came_too_late_for_reports_it() -> None:
    objects = a_package("etcd", "", "", a_condition("InstallPlanPending", "RequiresApproval"))
    objects[0]["status"]["installPlanRef"] = {"name": "install-1"}
    objects[0]["metadata"]["annotations"] = {names.HOLD: "audit"}
    (one,) = troubled(objects)
    assert [fix.what for fix in one.fixes] == [
        "approve install-1 (it is held, which does not stop a plan that is approved)"
    ]


def test_a_version_without_a_subscription_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [
        an_object(CLUSTER_SERVICE_VERSION, "old.v1", spec={}, status={"phase": "Pending", "message": "no. More"})
    ]
    statuses = package_statuses(Sources(FakeCluster(objects)), "olm")
    show("olm", statuses, troubled(objects))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Namespace olm: 0 Subscriptions, 0 waiting; 1 installed without one"
    assert lines[3].endswith("no Subscription; no. More"), "nothing is cut in a pipe"
    assert lines[-1] == "`olmf why ClusterServiceVersion/old.v1 -n olm` shows more"


def test_a_crowd_fits_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    waits = [to_approve(f"bad{number}", f"plan{number}") for number in range(99)]
    show("olm", [*(a_status(f"fine{number}") for number in range(200)), *waits], waits)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Namespace olm: 299 Subscriptions, 99 waiting"
    assert "and 74 more: `olmf list -n olm`" in lines
    assert "fix: approve plan0: `olmf approve plan0 -n olm`" in lines
    assert lines[-1] == "`olmf why Subscription/bad0 -n olm` shows more"
    assert len(lines) <= 40


def test_the_journal_is_asked_about_as_many_as_are_shown() -> None:
    objects = [one for number in range(40) for one in a_package(f"p{number:02}", "Installing")]
    index = waited(CLUSTER_SERVICE_VERSION.ref("p00.v1", "olm"), "its Deployments")
    found = troubled(objects, index)
    assert (found[0].message, found[-1].message, len(found)) == ("its Deployments", "", 40)


def test_where_all_is_well_nothing_else_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    show("olm", [a_status("etcd")], [])
    assert capsys.readouterr().out == "Namespace olm: 1 Subscription, 0 waiting\n\nas wanted: etcd\n"


def test_what_works_and_is_deprecated_is_as_wanted_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    reported = (a_condition(f"{part}Deprecated", "", f"{part} text") for part in ("Bundle", "Package"))
    objects = a_package("etcd", "Succeeded", "", *reported)
    statuses = package_statuses(Sources(FakeCluster(objects)), "olm")
    assert troubled(objects) == []
    show("olm", statuses, [])
    assert capsys.readouterr().out.splitlines()[2:] == [
        "as wanted: etcd", "etcd: deprecated: Package text; Bundle text",
    ]  # fmt: skip
    [status] = statuses
    assert (message_of(status), is_failing(status)) == ("deprecated: Package text; Bundle text", False)
    assert list(paragraphs(status)) == ["status: etcd.v1 is Succeeded: deprecated: Package text; Bundle text"]
    assert (row_of(status)["message"], row_of(status)["deprecated"]) == ("", "Package text; Bundle text")
