"""What the doctor finds of packages and catalogs: what `olmf why` says of them, and nothing of what is well."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from eventing.cli.why_catalog import catalog_paragraphs
from eventing.diagnosis.doctor.catalogs import check_catalogs, check_cluster_catalogs
from eventing.diagnosis.doctor.finding import Check, Finding
from eventing.diagnosis.doctor.packages import check_doubled, check_extensions, check_packages
from eventing.diagnosis.status.reader import Sources, package_statuses
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.catalog_source import REMARKS
from shared.domain.csv.phases import Phase, Status
from shared.kinds import Kind
from tests.kit.cluster import FakeCluster

CONFLICT = "no\nSubscriptions s, t cannot be satisfied, because all of this is so:\n- one\n- two"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
LONG_AGO, JUST_NOW = "2026-01-01T22:00:00Z", "2026-01-01T23:59:00Z"


def an_object(kind: Kind, name: str, **more: Any) -> Manifest:
    meta = {"name": name, **({"namespace": "ns"} if kind.is_namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def a_subscription(*conditions: Manifest, **status: Any) -> Manifest:
    healthy = [{"catalogSourceRef": {"namespace": "olm", "name": "cat"}, "healthy": True}]
    return an_object(
        kinds.SUBSCRIPTION, "s", spec={"name": "p", "source": "cat", "sourceNamespace": "olm"},
        status={"conditions": list(conditions), "catalogHealth": healthy, **status},
    )  # fmt: skip


def a_condition(kind: str, reason: str, message: str = "", *, since: str = JUST_NOW, status: str = "True") -> Manifest:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}


def a_version(phase: str, reason: str = "", message: str = "", since: str = JUST_NOW) -> Manifest:
    status = {"phase": phase, "reason": reason, "message": message, "lastTransitionTime": since}
    return an_object(kinds.CLUSTER_SERVICE_VERSION, "p.v1", status=status)


DEPRECATED = a_condition("BundleDeprecated", "", "olm.bundle/p.v1: use q")
UNSATISFIABLE = a_condition("ResolutionFailed", "ConstraintsNotSatisfiable", "no such package")
APPROVAL = a_condition("InstallPlanPending", "RequiresApproval")
HERE = {"currentCSV": "p.v1", "installedCSV": "p.v1"}


def findings(check: Check, *objects: Manifest) -> list[Finding]:
    return [one for one in check(FakeCluster(objects), NOW) if isinstance(one, Finding)]


@pytest.mark.parametrize(
    ("objects", "reason", "state", "effect"),
    [
        pytest.param(
            [a_subscription(UNSATISFIABLE)],
            "Unsatisfiable", "is ResolutionFailed: no such package", "nothing is installed",
            id="a Subscription that cannot be satisfied",
        ),
        pytest.param(
            [a_subscription(UNSATISFIABLE, **HERE), a_version("Succeeded")],
            "Unsatisfiable", "runs p.v1: the next version cannot be resolved: no such package",
            "p.v1 works, and nothing newer is installed",
            id="an upgrade that cannot be",
        ),
        pytest.param(
            [a_subscription(DEPRECATED, **HERE), a_version("Succeeded")],
            "Deprecated", "is deprecated: olm.bundle/p.v1: use q",
            "it may get no newer version, and may leave its catalog",
            id="what its catalog advises to leave",
        ),
        pytest.param(
            [a_subscription(UNSATISFIABLE, DEPRECATED, **HERE), a_version("Succeeded")],
            "Unsatisfiable",
            "runs p.v1: the next version cannot be resolved: no such package; deprecated: olm.bundle/p.v1: use q",
            "p.v1 works, and nothing newer is installed",
            id="a troubled one that is deprecated, too",
        ),
        pytest.param(
            [a_subscription(APPROVAL, currentCSV="p.v1", installPlanRef={"name": "install-1"})],
            "ApprovalNeeded", "is InstallPlanPending: RequiresApproval: InstallPlan install-1", "p.v1 is not installed",
            id="a plan that waits for approval",
        ),
        pytest.param(
            [a_subscription(a_condition("InstallPlanFailed", "InstallComponentFailed", "no"), currentCSV="p.v1")],
            "PlanFailed", "is InstallPlanFailed: InstallComponentFailed: no", "p.v1 is not installed",
            id="a plan that failed",
        ),
        pytest.param(
            [a_subscription(**HERE), a_version("Failed", "ComponentFailed", "broken")],
            "VersionFailed", "is Failed: broken", "p.v1 does not work",
            id="a version that failed",
        ),
        pytest.param(
            [a_version("Pending", "NoOperatorGroup", "no group")],
            "NoOperatorGroup", "is Pending: no Subscription; no group", "p.v1 does not work",
            id="a version without a Subscription",
        ),
        pytest.param(
            [a_subscription(currentCSV="p.v2", installedCSV="p.v1"), a_version("Replacing"),
             {**a_version("Failed", "ComponentFailed", "no"), "metadata": {"name": "p.v2", "namespace": "ns"}}],
            "VersionFailed", "is Failed: no", "p.v1 is not upgraded",
            id="an upgrade that failed",
        ),
        pytest.param(
            [a_subscription(**HERE), a_version("Installing", "InstallWaiting", "waits for Pods", LONG_AGO)],
            "Installing", "is Installing: waits for Pods", "p.v1 does not work",
            id="an installation that takes too long",
        ),
    ],
)  # fmt: skip
def test_a_package_that_is_not_as_wanted(objects: list[Manifest], reason: str, state: str, effect: str) -> None:
    (found,) = findings(check_packages(), *objects)
    assert (found.reason, found.state, found.effect) == (reason, state, effect)
    (status,) = package_statuses(Sources(FakeCluster(objects)))
    assert (found.fix, *found.more_fixes) == status.fixes or not status.fixes, "the fixes of `olmf why`"
    assert {found.ref, *found.evidence} == {found.ref, *status.evidence}
    assert found.fix.command


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="nothing"),
        pytest.param([a_subscription(**HERE), a_version("Succeeded")], id="it works"),
        pytest.param(
            [a_subscription(a_condition("InstallPlanMissing", "ReferencedInstallPlanNotFound"), **HERE),
             a_version("Succeeded")], id="its plan was deleted afterwards",
        ),
        pytest.param([a_subscription(**HERE), a_version("Installing", "InstallWaiting", "")], id="just begun"),
        pytest.param([a_subscription()], id="not resolved yet"),
    ],
)  # fmt: skip
def test_a_package_that_is_as_wanted_or_under_way(objects: list[Manifest]) -> None:
    assert findings(check_packages(), *objects) == []


def tried(*phases: tuple[str, timedelta]) -> Manifest:
    """A version with the history that our steps write: each phase, and how long before NOW it began."""
    status = Status({}, NOW)
    for phase, before in phases:
        status = replace(status, now=NOW - before).to(cast("Phase", phase), "InstallWaiting", "")
    return an_object(kinds.CLUSTER_SERVICE_VERSION, "p.v1", status=status.manifest)


MINUTE = timedelta(minutes=1)
LOOP = [
    (phase, (5 * round_ + 1) * MINUTE) for round_ in range(4, -1, -1) for phase in ("Failed", "Pending", "Installing")
]
"""Five timeouts, the last of them a minute ago."""


def test_a_version_that_is_tried_again_every_five_minutes_does_not_work_all_the_while() -> None:
    (found,) = findings(check_packages(), a_subscription(**HERE), tried(("Installing", 26 * MINUTE), *LOOP))
    assert (found.reason, found.state) == ("Installing", "is Installing")
    assert str(found.fix.command) == "olmf why Subscription/s -n ns"


def test_a_version_that_worked_and_is_tried_again_since() -> None:
    (found,) = findings(check_packages(), a_subscription(**HERE), tried(("Succeeded", 40 * MINUTE), *LOOP))
    assert found.reason == "Installing"


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(tried(("Pending", 2 * MINUTE), ("Installing", MINUTE)), id="just begun"),
        pytest.param(tried(*LOOP[:-3], ("Succeeded", 4 * MINUTE), ("Installing", MINUTE)), id="worked a minute ago"),
        pytest.param(tried(*LOOP[-3:]), id="its history goes back a minute"),
        pytest.param(tried(*LOOP, ("Succeeded", MINUTE)), id="works at last"),
    ],
)
def test_a_version_that_just_began_or_worked_until_now(version: Manifest) -> None:
    assert findings(check_packages(), a_subscription(**HERE), version) == []


TIDE = '{"properties": [{"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}'


def a_copy(name: str, properties: str = TIDE) -> Manifest:
    labels, annotations = {"olm.copiedFrom": "wide"}, {"operatorframework.io/properties": properties}
    meta = {"name": name, "namespace": "ns", "labels": labels, "annotations": annotations}
    return {**a_version("Succeeded"), "metadata": meta}


def an_original(name: str = "p.v1") -> Manifest:
    labels = {"operators.coreos.com/p.ns": ""}
    return {**a_version("Succeeded"), "metadata": {"name": name, "namespace": "ns", "labels": labels}}


def test_a_version_beside_that_of_another_namespace() -> None:
    (found,) = findings(check_doubled, an_original(), a_copy("p.v2"))
    assert found.ref.name == "p.v1"
    assert found.state == "works beside p.v2, which namespace wide installed for this namespace, too"
    assert str(found.fix.command) == "olmf uninstall p -n ns"


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([an_original()], id="alone"),
        pytest.param([a_copy("p.v2"), a_copy("p.v1")], id="only copies"),
        pytest.param([an_original(), a_copy("q.v1", TIDE.replace('"p"', '"q"'))], id="of another package"),
        pytest.param([an_original(), a_copy("p.v2", "{")], id="properties that nobody can read"),
        pytest.param([an_original(), a_copy("p.v2", '{"properties": [{"type": "olm.package", "value": 1}]}')],
                     id="a package that is none"),
    ],
)  # fmt: skip
def test_a_version_that_is_the_only_one_of_its_package(objects: list[Manifest]) -> None:
    assert findings(check_doubled, *objects) == []


def test_an_extension_that_only_an_edit_helps() -> None:
    spec = {"namespace": "ns", "source": {"catalog": {"packageName": "p"}}}
    conditions = [a_condition("Progressing", "Blocked", "no such thing", status="False")]
    extension = an_object(kinds.CLUSTER_EXTENSION, "e", spec=spec, status={"conditions": conditions})
    (found,) = findings(check_extensions(), extension)
    assert (found.ref.name, found.reason, found.state) == ("e", "RolloutBlocked", "is Blocked: no such thing")
    assert str(found.fix.command) == "kubectl edit clusterextension e"


def a_catalog(state: str = "", *, since: str = LONG_AGO, **status: Any) -> Manifest:
    connection = {"connectionState": {"lastObservedState": state, "lastConnect": since}} if state else {}
    return an_object(kinds.CATALOG_SOURCE, "cat", status={**connection, **status})


@pytest.mark.parametrize(
    ("catalog", "state"),
    [
        pytest.param(
            a_catalog("TRANSIENT_FAILURE", message="nobody answers"),
            "is TRANSIENT_FAILURE: nobody answers",
            id="not reached",
        ),
        pytest.param(a_catalog(reason="SpecInvalidError", message="no image"), "is SpecInvalidError: no image",
                     id="a spec that is refused"),
        pytest.param(a_catalog("READY", reason="RegistryServerError", message="poll failed"), "is READY: poll failed",
                     id="a poll that failed"),
        pytest.param(a_catalog("CONNECTING"), "is CONNECTING", id="connecting for two hours"),
    ],
)  # fmt: skip
def test_a_catalog_that_cannot_be_read(catalog: Manifest, state: str) -> None:
    (found,) = findings(check_catalogs, catalog)
    assert (found.state, found.effect) == (state, "nothing can be installed from it; no Subscription names it")
    assert str(found.fix.command) == "olmf why CatalogSource/cat -n ns"


def test_a_catalog_that_was_read_before_and_who_uses_it() -> None:
    read = [a_condition("ResolvedContent", "Read", "r/cat@sha256:1")]
    users = [a_subscription_of("s", "cat"), a_subscription_of("t", "other")]
    (found,) = findings(check_catalogs, a_catalog("TRANSIENT_FAILURE", conditions=read), *users)
    assert found.effect == "nothing newer is installed from it"
    assert [one.name for one in found.evidence] == ["s"]


@pytest.mark.parametrize("reason", REMARKS)
def test_what_a_catalog_that_is_served_lacks_is_found_and_told_of_it(reason: str) -> None:
    catalog = a_catalog("READY", reason=reason, message="wrong in the catalog: b/tide/1.2.0: line 57")
    (found,) = findings(check_catalogs, catalog)
    assert (found.reason, found.state) == (reason, "is READY: wrong in the catalog: b/tide/1.2.0: line 57")
    paragraphs = list(catalog_paragraphs(found.ref, FakeCluster([catalog]), NOW))
    assert paragraphs == [f"status: {found.state}\n  so {found.effect}", "fix: mend what it names"]


def test_a_catalog_of_a_folder_that_is_served_no_longer_can_be_deleted() -> None:
    catalog = a_catalog("TRANSIENT_FAILURE", message="not there") | {"spec": {"publisher": names.LOCAL_PUBLISHER}}
    (found,) = findings(check_catalogs, catalog)
    assert [str(one.command) for one in found.more_fixes] == ["kubectl -n ns delete catalogsource cat"]
    told = list(catalog_paragraphs(found.ref, FakeCluster([catalog]), NOW))
    assert [one for one in told if "olmf why" in one] == [], "it is asked already"
    assert "kubectl -n ns delete catalogsource cat" in told[-1]


def a_subscription_of(name: str, source: str) -> Manifest:
    return an_object(kinds.SUBSCRIPTION, name, spec={"name": "p", "source": source, "sourceNamespace": "ns"})


@pytest.mark.parametrize(
    "catalog",
    [
        pytest.param(a_catalog("READY"), id="read"),
        pytest.param(a_catalog("CONNECTING", since=JUST_NOW), id="just begun"),
        pytest.param(a_catalog(), id="nobody looked yet"),
    ],
)
def test_a_catalog_that_is_well(catalog: Manifest) -> None:
    assert findings(check_catalogs, catalog) == []


SERVED = a_condition("Serving", "Available", "Serving desired content from resolved source")
DONE = a_condition("Progressing", "Succeeded")


def a_cluster_catalog(*conditions: Manifest, created: str = LONG_AGO, **spec: Any) -> Manifest:
    found = an_object(kinds.CLUSTER_CATALOG, "cat", spec=spec, status={"conditions": list(conditions)})
    return {**found, "metadata": {"name": "cat", "creationTimestamp": created}}


@pytest.mark.parametrize(
    ("catalog", "state", "effect"),
    [
        pytest.param(
            a_cluster_catalog(a_condition("Progressing", "Retrying", "no answer")),
            "is Retrying: no answer", "no extension gets anything from it", id="never read",
        ),
        pytest.param(
            a_cluster_catalog(SERVED, a_condition("Progressing", "Blocked", "no such image")),
            "is Blocked: no such image", "extensions get nothing newer from it", id="nothing newer",
        ),
        pytest.param(
            a_cluster_catalog(a_condition("Serving", "Unavailable", status="False"), DONE),
            "is Unavailable", "no extension gets anything from it", id="not served",
        ),
        pytest.param(
            a_cluster_catalog(), "is not read yet", "no extension gets anything from it", id="not begun for two hours"
        ),
    ],
)  # fmt: skip
def test_a_cluster_catalog_that_serves_nothing_or_nothing_newer(catalog: Manifest, state: str, effect: str) -> None:
    (found,) = findings(check_cluster_catalogs, catalog)
    assert (found.state, found.effect, str(found.fix.command)) == (state, effect, "olmf why ClusterCatalog/cat")


@pytest.mark.parametrize(
    "catalog",
    [
        pytest.param(a_cluster_catalog(SERVED, DONE), id="served"),
        pytest.param(a_cluster_catalog(created=JUST_NOW), id="just made"),
        pytest.param(a_cluster_catalog(availabilityMode="Unavailable"), id="not to be served"),
    ],
)
def test_a_cluster_catalog_that_is_well(catalog: Manifest) -> None:
    assert findings(check_cluster_catalogs, catalog) == []


def test_a_package_that_both_generations_run_is_one_finding_about_both() -> None:
    spec = {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}}}
    extension = an_object(kinds.CLUSTER_EXTENSION, "e", spec=spec)
    revision = an_object(kinds.CLUSTER_OBJECT_SET, "e-1", spec={"lifecycleState": "Active", "revision": 1})
    revision["metadata"] |= {"labels": {names.V1_OWNER_NAME: "e"}, "annotations": {names.V1_BUNDLE_NAME: "p.v1"}}
    [found] = findings(check_extensions(), extension, revision, a_subscription(**HERE), a_version("Succeeded"))
    assert (found.ref.name, found.reason) == ("e", "InstalledTwice")
    assert "Subscription ns/s runs p, too" in found.state
    assert [one.name for one in found.evidence] == ["e-1", "s"]
    assert found.effect == "only one of them can have the objects that both want"
    commands = [str(one.command) for one in (found.fix, *found.more_fixes)]
    assert commands == ["olmf uninstall p -n ns", "olmf extension uninstall e"]


@pytest.mark.parametrize("message", [CONFLICT, "constraints not satisfiable: subscriptions s and t exist"])
def test_a_conflict_is_explained_once(message: str) -> None:
    one = a_subscription(a_condition("ResolutionFailed", "ConstraintsNotSatisfiable", message))
    other = {**one, "metadata": {"name": "t", "namespace": "ns"}}
    states = [each.state for each in findings(check_packages(), one, other)]
    assert states == [f"is ResolutionFailed: {message}", "is ResolutionFailed: for the same reason as Subscription s"]
