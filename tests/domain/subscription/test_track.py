"""What a Subscription says about its plan, its catalogs and deprecations."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Csv, InstallPlan, Object, Subscription
from shared.domain.catalog.model import Channel, Entry, Package
from shared.domain.conditions import Condition
from shared.domain.subscription import components, health, plans, track
from shared.domain.subscription.conditions import changed
from shared.domain.subscription.state import SubscriptionState, waits
from shared.domain.subscription.track import Surroundings, tracked

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 2, tzinfo=UTC)
READY = {"connectionState": {"lastObservedState": "READY", "address": "r@sha256:1"}}


def a_source(name: str = "local", namespace: str = "olm", status: Manifest | None = None) -> Manifest:
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": meta, "status": READY if status is None else status}


def a_subscription(status: Manifest | None = None, **meta: object) -> Manifest:
    spec = {"name": "etcd", "channel": "stable", "source": "local", "sourceNamespace": "olm"}
    return {"metadata": {"name": "etcd", "namespace": "ns", **meta}, "spec": spec, "status": status or {}}


def a_plan(phase: str = "", installed: Manifest | None = None, **status: object) -> Manifest:
    more = {"conditions": [{"type": "Installed", **installed}]} if installed else {}
    return {
        "metadata": {"name": "install-1", "namespace": "ns", "uid": "u"},
        "status": {"phase": phase, **more, **status},
    }


PENDING, FAILED = "InstallPlanPending", "InstallPlanFailed"


@pytest.mark.parametrize(
    ("plan", "want"),
    [
        pytest.param(
            None, ("InstallPlanMissing", "ReferencedInstallPlanNotFound", ""), id="catalog.md 8.6.57: the plan is gone"
        ),
        pytest.param(a_plan(), (PENDING, "InstallPlanNotYetReconciled", ""), id="catalog.md 8.6.60: no phase yet"),
        pytest.param(a_plan("Planning"), (PENDING, "Planning", ""), id="catalog.md 8.6.60: Planning"),
        pytest.param(a_plan("Installing"), (PENDING, "Installing", ""), id="catalog.md 8.6.60: Installing"),
        pytest.param(a_plan("RequiresApproval"), (PENDING, "RequiresApproval", ""), id="catalog.md 8.6.60: waiting"),
        pytest.param(a_plan("Failed"), (FAILED, "InstallPlanFailed", ""), id="catalog.md 8.6.60: Failed, no condition"),
        pytest.param(
            a_plan("RequiresApproval", {"type": "CRDUpgradeSafe", "status": "False", "message": "a does not fit"}),
            (PENDING, "RequiresApproval", "would not be carried out as things are: a does not fit"),
            id="issue 15 1.5: waiting, and not safe",
        ),
        pytest.param(
            a_plan("RequiresApproval", {"type": "CRDUpgradeSafe", "status": "True", "message": "all fits"}),
            (PENDING, "RequiresApproval", ""),
            id="issue 15 1.5: waiting, and safe",
        ),
        pytest.param(
            a_plan("Failed", {"status": "False", "reason": "InstallComponentFailed", "message": "boom"}),
            (FAILED, "InstallComponentFailed", "boom"),
            id="catalog.md 8.6.60: Failed with a condition",
        ),
        pytest.param(a_plan("Complete"), None, id="catalog.md 8.6.60: Complete says nothing"),
        pytest.param(
            a_plan(
                "Installing",
                bundleLookups=[
                    {"conditions": [{"type": "BundleLookupPending", "message": text}]} for text in ("a", "b")
                ],
            ),
            (PENDING, "Installing", "a. b."),
            id="catalog.md 8.6.61: messages of several lookups",
        ),
        pytest.param(
            a_plan(
                "Installing",
                {"status": "False", "message": "no group"},
                bundleLookups=[{"conditions": [{"type": "BundleLookupPending", "message": "a"}]}],
            ),
            (PENDING, "Installing", "no group"),
            id="catalog.md 8.6.61: the Installed condition takes precedence",
        ),
        pytest.param(
            a_plan("Installing", {"status": "Unknown", "message": "?"}, message="retrying"),
            (PENDING, "Installing", "retrying"),
            id="catalog.md 3.6: an unknown Installed condition says nothing; a plan that is retried does",
        ),
    ],
)
def test_the_plan_is_projected(plan: Manifest | None, want: tuple[str, str, str] | None) -> None:
    reported = [(one.type, one.reason, one.message) for one in plans.conditions(InstallPlan.of(plan))]
    assert reported == ([want] if want else [])


SICK = {"reason": "SpecInvalidError", "message": "unknown sourcetype: x"}


@pytest.mark.parametrize(
    ("sources", "want"),
    [
        pytest.param(
            [], ("True", "NoCatalogSourcesFound", "dependency resolution requires at least one catalogsource"),
            id="catalog.md 8.5.50: no catalogs at all",
        ),
        pytest.param(
            [a_source("other")],
            ("True", "UnhealthyCatalogSourceFound", "targeted catalogsource olm/local missing"),
            id="catalog.md 8.5.48: the target is missing",
        ),
        pytest.param(
            [a_source(status=SICK)],
            ("True", "UnhealthyCatalogSourceFound", "targeted catalogsource olm/local unhealthy"),
            id="catalog.md 8.5.49: the target is invalid",
        ),
        pytest.param(
            [a_source(), a_source("other", status=SICK)],
            ("True", "UnhealthyCatalogSourceFound", "other catalogsources are unhealthy: olm/other"),
            id="catalog.md 8.5.54: another one is sick, and is named",
        ),
        pytest.param(
            [a_source(), a_source("other")],
            ("False", "AllCatalogSourcesHealthy", "all available catalogsources are healthy"),
            id="catalog.md 8.5.51: all are well",
        ),
    ],
)  # fmt: skip
def test_catalog_health(sources: list[Manifest], want: tuple[str, str, str]) -> None:
    reported = health.condition(Subscription(a_subscription()), CatalogSource.each(sources))
    assert (reported.status, reported.reason, reported.message) == want
    declared = {"type": reported.type, "status": reported.status, "message": reported.message}
    found = health.catalog_health(Subscription({}), CatalogSource.each(sources), NOW)
    status = {"conditions": [declared], "catalogHealth": found}
    is_concerned = health.concerns(Subscription({**a_subscription(), "status": status}))
    assert is_concerned == (want[0] == "True" and not want[2].startswith("other"))


def test_equal_health_is_not_written_again() -> None:
    """catalog.md 8.5.52: identical condition and health make no write, also when nothing but a version moved."""
    first = tracked(Subscription(a_subscription()), Surroundings([CatalogSource(a_source())]), NOW)
    assert first is not None
    moved = a_source()
    moved["metadata"]["resourceVersion"] = "2"
    assert tracked(Subscription(a_subscription(first)), Surroundings([CatalogSource(moved)]), LATER) is None
    assert not health.would_change(Subscription(a_subscription(first)), [CatalogSource(moved)])
    assert health.would_change(
        Subscription(a_subscription(first)), [CatalogSource(moved), CatalogSource(a_source("new"))]
    )


def test_no_catalogs_make_one_write_not_a_loop() -> None:
    """catalog.md 3.5: OLM writes on every pass."""
    first = tracked(Subscription(a_subscription()), Surroundings([]), NOW)
    assert first is not None
    assert tracked(Subscription(a_subscription(first)), Surroundings([]), LATER) is None


REFERENCE = {
    "installPlanRef": {"name": "install-1", "namespace": "ns", "uid": "u"},
    "installplan": {"name": "install-1"},
}


def test_a_pending_plan_that_is_gone_is_forgotten() -> None:
    """catalog.md 8.6.58 and 59: ref and currentCSV cleared, state empty, whatever the conditions say."""
    status = {**REFERENCE, "state": "UpgradePending", "currentCSV": "etcd.v2", "installedCSV": "etcd.v1"}
    after = tracked(Subscription(a_subscription(status)), Surroundings([CatalogSource(a_source())]), NOW)
    assert after is not None
    assert after["state"] == ""
    assert after["installedCSV"] == "etcd.v1"
    assert not {"installPlanRef", "installplan", "currentCSV"} & after.keys()


def test_a_plan_that_is_gone_after_its_work_is_missing() -> None:
    """catalog.md 8.6.57: not pending, so the reference stays and InstallPlanMissing is said."""
    status = {**REFERENCE, "state": "AtLatestKnown", "currentCSV": "etcd.v1", "installedCSV": "etcd.v1"}
    around = Surroundings([CatalogSource(a_source())], current=Csv({"metadata": {"name": "etcd.v1"}}))
    after = tracked(Subscription(a_subscription(status)), around, NOW)
    assert after is not None
    assert after["installPlanRef"] == REFERENCE["installPlanRef"]
    assert "InstallPlanMissing" in {one["type"] for one in after["conditions"]}


@pytest.mark.parametrize(
    ("state_now", "csvs", "want"),
    [
        pytest.param(SubscriptionState("", "", ""), (), SubscriptionState("", "", ""), id="nothing was planned"),
        pytest.param(
            SubscriptionState("UpgradePending", "", "a.v1"), ("a.v1",),
            SubscriptionState("AtLatestKnown", "a.v1", "a.v1"),
            id="catalog.md 3.7 C.2: the CSV exists",
        ),
        pytest.param(
            SubscriptionState("UpgradePending", "a.v1", "a.v2"), ("a.v1",),
            SubscriptionState("UpgradePending", "a.v1", "a.v2"),
            id="the next version is not there yet",
        ),
        pytest.param(
            SubscriptionState("AtLatestKnown", "a.v1", "a.v1"), (), SubscriptionState("UpgradePending", "a.v1", "a.v1"),
            id="catalog.md 3.10: the CSV was deleted",
        ),
    ],
)  # fmt: skip
def test_standing(state_now: SubscriptionState, csvs: tuple[str, ...], want: SubscriptionState) -> None:
    assert state_now.with_csvs(csvs) == want


def test_without_plan_nothing_is_said_of_one() -> None:
    """catalog.md 8.6.56: ref nil, no condition."""
    after = tracked(Subscription(a_subscription()), Surroundings([CatalogSource(a_source())]), NOW)
    assert after is not None
    assert [one["type"] for one in after["conditions"]] == ["CatalogSourcesUnhealthy"]


def test_what_waits_says_what_for() -> None:
    pending = {**REFERENCE, "state": "UpgradePending", "currentCSV": "etcd.v2", "installedCSV": "etcd.v1"}
    assert waits(Subscription(a_subscription(pending)), ["etcd.v1"]) == "InstallPlan install-1 is under way"
    assert waits(Subscription(a_subscription()), []) == ""
    appeared = a_subscription({"state": "", "currentCSV": "etcd.v1"})
    assert waits(Subscription(appeared), ["etcd.v1"]) == "ClusterServiceVersion etcd.v1 has just appeared or gone"


@pytest.mark.parametrize(
    ("annotation", "installed", "reported"),
    [
        pytest.param("olmf.io/hold", "etcd.v1", "etcd.v1 is held: freeze", id="a hold keeps what is installed"),
        pytest.param("olmf.io/hold", "", "nothing yet is held: freeze", id="a hold keeps what is not installed out"),
        pytest.param("olmf.io/hold-installed", "etcd.v1", "etcd.v1 is held: freeze", id="installed, then held"),
        pytest.param("olmf.io/hold-installed", "", "", id="to be installed, then held"),
    ],
)
def test_what_is_held_reports_it(annotation: str, installed: str, reported: str) -> None:
    words = {"state": "AtLatestKnown", "currentCSV": installed, "installedCSV": installed} if installed else {}
    current = {"metadata": {"name": installed, "namespace": "ns"}} if installed else None
    around = Surroundings([CatalogSource(a_source())], current=Csv.of(current))
    after = tracked(Subscription(a_subscription(words, annotations={annotation: "freeze"})), around, NOW)
    assert after is not None
    assert [one["message"] for one in after["conditions"] if one["type"] == "Held"] == ([reported] if reported else [])


def a_package(**notices: str) -> Package:
    texts = {key.replace("__", "/"): text for key, text in notices.items()}
    return Package("etcd", "stable", (Channel("stable", (Entry("a"),)),), {}, texts)


@pytest.mark.parametrize(
    ("package", "installed", "want"),
    [
        pytest.param(
            a_package(package="old", channel__stable="older", bundle__a="oldest"),
            "a",
            {
                "PackageDeprecated": "olm.package/etcd: old",
                "ChannelDeprecated": "olm.channel/stable: older",
                "BundleDeprecated": "olm.bundle/a: oldest",
                "Deprecated": "olm.package/etcd: old; olm.channel/stable: older; olm.bundle/a: oldest",
            },
            id="catalog.md 8.8.94: package, channel, bundle and their sum",
        ),
        pytest.param(a_package(bundle__a="oldest"), "b", None, id="catalog.md 3.8: unknown version, all stays"),
        pytest.param(a_package(bundle__b="oldest"), "a", {}, id="catalog.md 8.8.95: no longer deprecated"),
    ],
)
def test_deprecations(package: Package, installed: str, want: dict[str, str] | None) -> None:
    reported = track.deprecation_conditions(Subscription(a_subscription()), installed, package)
    assert (None if reported is None else {one.type: one.message for one in reported}) == want


def test_without_channel_no_channel_condition() -> None:
    """catalog.md 8.8.97: an empty spec.channel."""
    subscription = a_subscription()
    subscription["spec"]["channel"] = ""
    assert track.deprecation_conditions(Subscription(subscription), "a", a_package(channel__stable="older")) == ()


def test_a_condition_keeps_its_time_while_its_status_does() -> None:
    first = changed({}, NOW, put=[Condition("T", "True", "A")])
    assert first is not None
    assert changed(first, LATER, put=[Condition("T", "True", "A")]) is None
    second = changed(first, LATER, put=[Condition("T", "True", "B")])
    assert second is not None
    assert second["conditions"] == [
        {"type": "T", "status": "True", "reason": "B", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    ]
    assert second["lastUpdated"] == "2026-01-02T00:00:00Z"


def test_the_component_label_fits_a_label() -> None:
    """catalog.md 3.3: cut to 63 characters, without a trailing separator."""
    assert components.label("x" * 60, "ab-cd") == f"operators.coreos.com/{'x' * 60}.ab"
    assert components.of(Subscription(a_subscription())) == "operators.coreos.com/etcd.ns"
    assert components.of(Subscription({"metadata": {"name": "a", "namespace": "ns"}})) == ""


@pytest.mark.parametrize(
    "package",
    [
        pytest.param("../../etc", id="a path"),
        pytest.param("-etcd", id="it begins with no letter or digit"),
        pytest.param("étcd", id="letters of another alphabet"),
        pytest.param("a b\n", id="blanks"),
        pytest.param("." * 64, id="csv.md 250: only separators"),
        pytest.param("", id="no package"),
    ],
)
def test_a_name_of_which_there_is_no_label_gets_none(package: str) -> None:
    """csv.md 12.1: OLM cannot generate such a label either."""
    assert components.label(package, "ns") == ""
    subscription = {"metadata": {"name": "a", "namespace": "ns"}, "spec": {"name": package}}
    assert components.joined(Object({}), components.of(Subscription(subscription))) == {}, (
        "no patch that the API server would refuse"
    )
    assert components.labels([package, "etcd"], "ns") == {"operators.coreos.com/etcd.ns": ""}


def test_a_component_joins_and_leaves_once() -> None:
    key, other = components.label("etcd", "ns"), components.label("vault", "ns")
    member = {"metadata": {"labels": {key: ""}}}
    assert [components.joined(Object(one), key) for one in ({}, member)] == [member, {}]
    assert components.joined(Object({}), "") == {}
    assert components.left(Object(member), [key, other]) == {"metadata": {"labels": {key: None}}}
    assert components.left(Object(member), [other]) == {}
