"""The metrics that the watcher tells are OLM's, and follow what the API has."""

from __future__ import annotations

import pytest

from eventing.events.event import Event
from eventing.metrics.exposition import text
from eventing.watch.following import Following
from eventing.watch.known_objects import KnownObjects
from eventing.watch.object_metrics import COUNTED, Counting, ObjectMetrics
from eventing.watch.skips import Skips
from shared.api.manifest import Manifest
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    SUBSCRIPTION,
    Kind,
)


def an_object(kind: Kind, name: str = "a", version: int = 1, **fields: object) -> Manifest:
    labels = fields.pop("labels", {})
    meta = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version), "labels": labels}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def a_csv(phase: str, version: int = 1, *, name: str = "a", **fields: object) -> Manifest:
    status = {"phase": phase, "reason": f"Because{phase}"}
    return an_object(
        CLUSTER_SERVICE_VERSION, name, version, **{"spec": {"version": "1.2.3"}, "status": status, **fields}
    )


def a_subscription(version: int = 1, *, installed: str = "") -> Manifest:
    spec = {"name": "etcd", "channel": "alpha", "installPlanApproval": "Manual"}
    return an_object(SUBSCRIPTION, "sub", version, spec=spec, status={"installedCSV": installed} if installed else {})


def reported(metrics: ObjectMetrics) -> set[str]:
    """The lines with a value."""
    return {
        line for line in text(metrics.values()).splitlines() if not line.startswith("#") and not line.endswith(" 0.0")
    }


def after(kind: Kind, *manifests: Manifest) -> set[str]:
    metrics = ObjectMetrics()
    for manifest in manifests:
        metrics.put(kind, manifest)
    return reported(metrics)


A = 'name="a",namespace="ns"'
V = 'version="1.2.3"'


@pytest.mark.parametrize(
    ("csvs", "want"),
    [
        pytest.param(
            [a_csv("Pending"), a_csv("Succeeded", 2)], {"csv_count 1.0", f"csv_succeeded{{{A},{V}}} 1.0"},
            id="csv.md 14.1: Succeeded; the series of the phase before is gone",
        ),
        pytest.param(
            [a_csv("Failed")],
            {"csv_count 1.0", f'csv_abnormal{{{A},phase="Failed",reason="BecauseFailed",{V}}} 1.0'},
            id="csv.md 14.1: not Succeeded, with phase and reason",
        ),
        pytest.param(
            [a_csv("Failed", spec={})],
            {
                "csv_count 1.0",
                'csv_abnormal{name="a",namespace="ns",phase="Failed",reason="BecauseFailed",version="0.0.0"} 1.0',
            },
            id="csv.md 18.9 row 162: no version is 0.0.0",
        ),
        pytest.param([a_csv("")], {"csv_count 1.0"}, id="csv.md 14.1: nothing before the first status"),
        pytest.param(
            [a_csv("Succeeded", labels={"olm.copiedFrom": "x"})], set(), id="csv.md 14.1: a copy is not counted"
        ),
        pytest.param(
            [a_csv("Succeeded"), a_csv("Replacing", 2), a_csv("Replacing", 3)],
            {
                "csv_count 1.0",
                "csv_upgrade_count 1.0",
                f'csv_abnormal{{{A},phase="Replacing",reason="BecauseReplacing",{V}}} 1.0',
            },
            id="csv.md 14.1: an upgrade counts once",
        ),
        pytest.param(
            [a_csv("Succeeded"), a_csv("Succeeded", 2, labels={"olm.copiedFrom": "x"})], set(),
            id="csv.md 14.1: what becomes a copy is no longer told",
        ),
    ],
)  # fmt: skip
def test_versions(csvs: list[Manifest], want: set[str]) -> None:
    assert after(CLUSTER_SERVICE_VERSION, *csvs) == want


def test_a_succeeded_series_reports_0_while_it_is_not_csv_md_14_1() -> None:
    metrics = ObjectMetrics()
    metrics.put(CLUSTER_SERVICE_VERSION, a_csv("Installing"))
    assert f"csv_succeeded{{{A},{V}}} 0.0" in text(metrics.values()).splitlines()


@pytest.mark.parametrize(
    ("state", "value"),
    [
        pytest.param("READY", 1.0, id="catalog.md 6: READY"),
        pytest.param("TRANSIENT_FAILURE", 0.0, id="catalog.md 8.13.167: any other state"),
    ],
)
def test_catalogs(state: str, value: float) -> None:
    metrics = ObjectMetrics()
    metrics.put(CATALOG_SOURCE, an_object(CATALOG_SOURCE, status={"connectionState": {"lastObservedState": state}}))
    assert f'catalogsource_ready{{name="a",namespace="ns"}} {value}' in text(metrics.values()).splitlines()


@pytest.mark.parametrize(("status", "value"), [("True", 1.0), ("False", 0.0)])
def test_cluster_catalogs(status: str, value: float) -> None:
    metrics = ObjectMetrics()
    entry = {"conditions": [{"type": "Serving", "status": status}]}
    metrics.put(CLUSTER_CATALOG, an_object(CLUSTER_CATALOG, status=entry))
    assert f'olmf_cluster_catalog_serving{{name="a"}} {value}' in text(metrics.values()).splitlines()


INSTALLED = ("Installed", "True", "Succeeded")
SETTLED = ("Progressing", "True", "Succeeded")


@pytest.mark.parametrize(
    ("conditions", "installed", "abnormal"),
    [
        pytest.param((INSTALLED, SETTLED, ("Available", "True", "ProbesSucceeded")), 1.0, "", id="well"),
        pytest.param((INSTALLED, SETTLED, ("Available", "False", "ProbeFailure")), 1.0, "ProbeFailure", id="broken"),
        pytest.param((INSTALLED, ("Progressing", "True", "Retrying")), 1.0, "Retrying", id="no upgrade"),
        pytest.param((("Progressing", "True", "RollingOut"),), 0.0, "RollingOut", id="on its way"),
        pytest.param((), 0.0, "", id="new"),
    ],
)
def test_cluster_extensions(conditions: tuple[tuple[str, str, str], ...], installed: float, abnormal: str) -> None:
    metrics = ObjectMetrics()
    entry = [dict(zip(("type", "status", "reason"), one, strict=True)) for one in conditions]
    spec = {"source": {"catalog": {"packageName": "etcd"}}}
    metrics.put(CLUSTER_EXTENSION, an_object(CLUSTER_EXTENSION, spec=spec, status={"conditions": entry}))
    lines = text(metrics.values()).splitlines()
    assert f'olmf_cluster_extension_installed{{name="a",package="etcd"}} {installed}' in lines
    found = [line for line in lines if line.startswith("olmf_cluster_extension_abnormal{")]
    desired = f'olmf_cluster_extension_abnormal{{name="a",package="etcd",reason="{abnormal}"}} 1.0'
    assert found == ([desired] if abnormal else [])


def test_new_contents_of_a_catalog_are_counted_csv_md_14_2_and_catalog_md_6() -> None:
    def connected(version: int, at: str) -> Manifest:
        status = {"connectionState": {"lastObservedState": "READY", "lastConnect": at}}
        return an_object(CATALOG_SOURCE, version=version, status=status)

    metrics = ObjectMetrics()
    for version, at, count in ((1, "1:00", 0), (2, "1:00", 0), (3, "2:00", 1), (4, "3:00", 2)):
        metrics.put(CATALOG_SOURCE, connected(version, at))
        line = f'catalog_source_snapshots_total{{name="a",namespace="ns"}} {count}.0'
        assert line in text(metrics.values()).splitlines()
    metrics.drop(CATALOG_SOURCE, "ns", "a")
    assert "catalog_source_snapshots_total{" not in text(metrics.values())


def test_subscriptions_are_counted_per_label_catalog_md_6_and_8_13_167() -> None:
    labels = 'approval="Manual",channel="alpha",installed="{}",name="sub",package="etcd"'
    twice = after(SUBSCRIPTION, a_subscription(1), a_subscription(1), a_subscription(2))
    assert twice == {"subscription_count 1.0", f"subscription_sync_total{{{labels.format('')}}} 2.0"}
    edited = after(SUBSCRIPTION, a_subscription(1), a_subscription(2), a_subscription(3, installed="etcd.v1"))
    assert edited == {"subscription_count 1.0", f"subscription_sync_total{{{labels.format('etcd.v1')}}} 1.0"}


@pytest.mark.parametrize("kind", COUNTED, ids=lambda kind: str(kind.kind))
def test_what_is_gone_is_not_reported_any_more_csv_md_14_1_and_catalog_md_6(kind: Kind) -> None:
    metrics = ObjectMetrics()
    counting = Following(KnownObjects(kind, "https://api"), Counting(kind, metrics), kind, Skips())
    listed: set[tuple[str, str]] = set()
    counting.page([an_object(kind, "a"), an_object(kind, "b")], listed)
    counting.settle(listed)
    counting.observe("MODIFIED", an_object(kind, "c"))
    assert f"{COUNTED[kind].name} 3.0" in reported(metrics)
    counting.observe("DELETED", an_object(kind, "a"))
    assert f"{COUNTED[kind].name} 2.0" in reported(metrics)
    counting.settle(set())
    assert reported(metrics) == set()


def test_events_are_those_of_the_observer_behind_it() -> None:
    def events(observer: KnownObjects | Following) -> list[Event]:
        listed: set[tuple[str, str]] = set()
        found = [*observer.page(iter([an_object(INSTALL_PLAN)]), listed), *observer.settle(listed)]
        return [*found, *observer.observe("DELETED", an_object(INSTALL_PLAN, version=2))]

    plain = events(KnownObjects(INSTALL_PLAN, "api"))
    assert [event.id for event in plain] == ["uid-a.1.add", "uid-a.2.delete"]
    counting = Counting(INSTALL_PLAN, ObjectMetrics())
    assert events(Following(KnownObjects(INSTALL_PLAN, "api"), counting, INSTALL_PLAN, Skips())) == plain
