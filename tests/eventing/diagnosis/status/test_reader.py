"""What is read: one status per Subscription, and the versions that belong to none; what `uninstall` takes away."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.removal import remove
from eventing.cli.requests.request import PackageError
from eventing.diagnosis.status.chain import chain
from eventing.diagnosis.status.decider import RETRY
from eventing.diagnosis.status.reader import Sources, detailed, package_statuses
from eventing.workqueue import Listed, State
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.progress import Progress
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, NAMESPACE, SUBSCRIPTION, Ref
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

SOON = timedelta(seconds=5)


class Deleting(FakeCluster):
    """A cluster that deletes at once."""

    def delete(self, ref: Ref, *, uid: str = "") -> None:
        if self.objects.pop(ref, None) is None:
            raise ApiError(404, "NotFound", f"{ref} is gone")

    def client(self) -> KubeClient:
        return cast("KubeClient", self)

    def versions(self) -> list[str]:
        return sorted(ref.name for ref in self.objects if ref.kind == CLUSTER_SERVICE_VERSION.kind)


def a_csv(name: str, replaces: str = "", phase: str = "Pending", labels: Iterable[str] = ()) -> Manifest:
    kind = CLUSTER_SERVICE_VERSION
    meta = {"name": name, "namespace": "ns", "uid": name, "labels": dict.fromkeys(labels, "")}
    status = {"phase": phase, "message": "webhooks wait for something: a"}
    spec = {"replaces": replaces}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec, "status": status}


def a_subscription(name: str, current: str, had: str = "", *conditions: Manifest) -> Manifest:
    meta = {"name": name, "namespace": "ns"}
    spec = {"name": name, "source": "local", "sourceNamespace": "olm"}
    words = {"currentCSV": current, "installedCSV": had or current, "installPlanRef": {"name": "install-1"}}
    status = {**words, "conditions": list(conditions)}
    api, kind = SUBSCRIPTION.api_version, SUBSCRIPTION.kind
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec, "status": status}


CHAIN = (a_csv("a.v1", phase="Replacing"), a_csv("a.v2", "a.v1", "Replacing"), a_csv("a.v3", "a.v2"))
OTHER = (a_csv("b.v1", phase="Succeeded"), a_subscription("b", "b.v1"))


@pytest.mark.parametrize(
    ("root", "want"),
    [
        pytest.param("a.v3", {"a.v1", "a.v2", "a.v3"}, id="downwards"),
        pytest.param("a.v1", {"a.v1", "a.v2", "a.v3"}, id="upwards"),
        pytest.param("b.v1", {"b.v1"}, id="alone"),
        pytest.param("gone", set(), id="what is not there"),
    ],
)
def test_a_chain_is_followed_both_ways(root: str, want: set[str]) -> None:
    assert chain(Csv.each([*CHAIN, OTHER[0]]), [root]) == want


def test_uninstall_takes_the_whole_chain_and_nothing_of_others() -> None:
    cluster = Deleting([*CHAIN, a_subscription("a", "a.v3"), *OTHER])
    output = list(remove(cluster.client(), "ns", "a", timeout=SOON))
    assert output == [
        "deleted Subscription a",
        "deleted ClusterServiceVersion a.v1, a.v2, a.v3; its definitions and their objects stay",
    ]
    assert cluster.versions() == ["b.v1"]


def test_uninstall_does_not_mind_what_goes_by_itself_meanwhile() -> None:
    class Replacing(Deleting):
        """The functions remove a replaced version just before we do."""

        def delete(self, ref: Ref, *, uid: str = "") -> None:
            self.objects.pop(CLUSTER_SERVICE_VERSION.ref("a.v1", "ns"), None)
            super().delete(ref, uid=uid)

    cluster = Replacing([*CHAIN, a_subscription("a", "a.v3")])
    assert len(list(remove(cluster.client(), "ns", "a", timeout=SOON))) == 2
    assert cluster.versions() == []


def test_uninstall_takes_what_an_earlier_subscription_left() -> None:
    label = "operators.coreos.com/a.ns"
    cluster = Deleting([a_csv("a.v2", "a.v1", labels=[label]), *OTHER])
    assert [row.package for row in package_statuses(Sources(cluster), "ns")] == ["b", "a"]
    assert len(list(remove(cluster.client(), "ns", "a", timeout=SOON))) == 1
    assert cluster.versions() == ["b.v1"]
    with pytest.raises(PackageError, match="nothing subscribes to 'a' in ns"):
        list(remove(cluster.client(), "ns", "a", timeout=SOON))


def test_a_version_without_a_subscription_is_listed() -> None:
    cluster = Deleting([*CHAIN, *OTHER, a_subscription("a", "a.v3"), a_csv("old.v1")])
    rows = package_statuses(Sources(cluster))
    assert [(row.subscription, row.version) for row in rows] == [("a", "a.v3"), ("b", "b.v1"), ("", "old.v1")]
    assert rows[-1].message == "no Subscription; webhooks wait for something: a"


def test_why_the_installed_version_is_stuck_is_reported_while_the_next_waits_for_approval() -> None:
    pending = {"type": "InstallPlanPending", "status": "True", "reason": "RequiresApproval"}
    sick = {"type": "CatalogSourcesUnhealthy", "status": "True", "message": "other catalogs than that: olm/x"}
    subscription = a_subscription("a", "a.v2", "a.v1", pending, sick)
    own = {"catalogSourceRef": {"namespace": "olm", "name": "local"}, "healthy": True}
    subscription["status"]["catalogHealth"] = [own]
    cluster = Deleting([a_csv("a.v1"), subscription])
    (row,) = package_statuses(Sources(cluster))
    assert (row.phase, row.plan, row.reason) == ("InstallPlanPending", "install-1", "RequiresApproval")
    assert row.message == ("RequiresApproval: InstallPlan install-1; a.v1 is Pending: webhooks wait for something: a")


REFUSED = "write 0 (v1/Secret/ns/s) was refused, forbidden: no"
DUE = datetime(2026, 5, 5, tzinfo=UTC)


def a_job(ref: Ref, error: str = REFUSED, state: State = "delayed") -> Listed:
    return Listed("a/step", ref, "direct", state, attempts=6, error=error, due=DUE)


@pytest.mark.parametrize(
    ("job", "want"),
    [
        pytest.param(a_job(CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")), (REFUSED, DUE.isoformat()), id="of its version"),
        pytest.param(a_job(INSTALL_PLAN.ref("install-1", "ns")), (REFUSED, DUE.isoformat()), id="of its plan"),
        pytest.param(a_job(SUBSCRIPTION.ref("a", "ns")), (REFUSED, DUE.isoformat()), id="of itself"),
        pytest.param(a_job(NAMESPACE.ref("ns")), (REFUSED, DUE.isoformat()), id="of its namespace"),
        pytest.param(a_job(NAMESPACE.ref("other")), ("", "at the next event"), id="not of another namespace"),
        pytest.param(a_job(NAMESPACE.ref("ns"), ""), ("", DUE.isoformat()), id="what only waits is no failure"),
        pytest.param(a_job(NAMESPACE.ref("ns"), state="running"), (REFUSED, "now"), id="while it runs again"),
        pytest.param(a_job(NAMESPACE.ref("ns"), state="dead"), (REFUSED, RETRY), id="once given up"),
    ],
)
def test_what_fails_is_reported_with_its_next_try(job: Listed, want: tuple[str, object]) -> None:
    csv = a_csv("a.v1")
    del csv["status"]
    cluster = Deleting([csv, a_subscription("a", "a.v1")])
    (row,) = package_statuses(Sources(cluster, (job,)))
    assert (row.message, row.next_try) == want


def test_what_a_status_reports_already_is_not_reported_twice_and_what_works_does_not_mind_its_namespace() -> None:
    refused = a_job(SUBSCRIPTION.ref("b", "ns"), "no such API")
    pending = {"type": "InstallPlanPending", "status": "True", "reason": "Installing", "message": "no such API"}
    cluster = Deleting(
        [a_csv("a.v1", phase="Succeeded"), a_subscription("a", "a.v1"), a_subscription("b", "", "", pending)]
    )
    first, second = package_statuses(Sources(cluster, (refused, a_job(NAMESPACE.ref("ns")))))
    assert (first.message, first.next_try) == ("", "")
    assert (second.message, second.next_try) == ("Installing: no such API", DUE.isoformat())


def test_a_version_without_a_subscription_that_fails_reports_it() -> None:
    (row,) = package_statuses(
        Sources(Deleting([a_csv("old.v1")]), (a_job(CLUSTER_SERVICE_VERSION.ref("old.v1", "ns")),))
    )
    assert row.message == f"no Subscription; webhooks wait for something: a; {REFUSED}"


def test_a_pull_that_goes_on_is_named_with_its_progress() -> None:
    progress = Progress(2, 9, 60, "pulling", bytes=12_300_000, bytes_total=40_000_000, layers=1, layers_total=3)
    catalog = CATALOG_SOURCE.ref("local", "olm")
    jobs = (Listed("catalog_source/snapshot_catalog", catalog, "long", "running", attempts=2, progress=progress),)
    sick = {"type": "CatalogSourcesUnhealthy", "status": "True", "reason": "x", "message": "missing"}
    (waits,) = package_statuses(Sources(Deleting([a_subscription("a", "", "", sick)]), jobs))
    assert (waits.code, waits.message) == (
        "PullingCatalog", f"its catalog: {progress}; x: missing"
    )  # fmt: skip
    works = Deleting([a_csv("a.v1", phase="Succeeded"), a_subscription("a", "a.v1")])
    (well,) = package_statuses(Sources(works, jobs))
    assert (well.code, well.message) == ("Installed", ""), "what works does not mind"


def test_a_status_can_be_read_again_by_sources_that_know_more() -> None:
    cluster = Deleting([a_csv("old.v1"), a_csv("a.v1"), a_subscription("a", "a.v1")])
    jobs = (a_job(SUBSCRIPTION.ref("a", "ns")), a_job(CLUSTER_SERVICE_VERSION.ref("old.v1", "ns")))
    brief = package_statuses(Sources(cluster))
    assert [one.is_failing for one in brief] == [False, False]
    assert [detailed(Sources(cluster, jobs), one).is_failing for one in brief] == [True, True]
    gone = Sources(Deleting([]))
    assert [detailed(gone, one) for one in brief] == brief
