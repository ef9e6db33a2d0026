"""What counts as the version of a package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.carry_on import narrow_group, upgrade
from eventing.cli.requests.follow import (
    ABSENT_SECONDS,
    STABLE_SECONDS,
    Goal,
    NotReadyError,
    Observation,
    check,
    observations,
    stand,
)
from eventing.cli.requests.request import PackageError
from eventing.diagnosis.status.chain import originals
from eventing.diagnosis.status.reader import Sources, package_statuses
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION, Kind, Ref
from shared.names import MADE_FOR
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


MOMENT = timedelta(milliseconds=700)


def an_object(kind: Kind, name: str, labels: dict[str, str] | None = None, **fields: object) -> Manifest:
    meta = {"name": name, "namespace": "two", "labels": labels or {}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def followed(cluster: KubeClient, timeout: timedelta) -> None:
    """Only reads, until it cannot go on or the time is over."""
    goal = Goal("two", "tide", timeout)
    for look in observations(cluster, goal):
        check(cluster, look, goal)


@pytest.mark.parametrize(
    ("labels", "phase", "is_done"),
    [
        pytest.param({}, "Succeeded", True, id="the version itself"),
        pytest.param({"olm.copiedFrom": "one"}, "Resolving", False, id="a copy of what another namespace installed"),
    ],
)
def test_stand(labels: dict[str, str], phase: str, *, is_done: bool) -> None:
    subscription = an_object(
        SUBSCRIPTION, "tide", spec={"name": "tide"}, status={"currentCSV": "tide.v1", "installedCSV": "tide.v1"}
    )
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", labels, status={"phase": "Succeeded"})
    now = stand(cast("KubeClient", FakeCluster([subscription, csv])), "two", "tide")
    assert (now.phase, now.is_done) == (phase, is_done)


def test_what_nobody_subscribes_to_is_not_followed() -> None:
    with pytest.raises(PackageError, match="nothing subscribes to 'tide' in two"):
        next(observations(cast("KubeClient", FakeCluster([])), Goal("two", "tide", timedelta(0))))


def test_what_is_not_ready_in_time_is_reported_with_what_helps() -> None:
    subscription = an_object(SUBSCRIPTION, "tide", spec={"name": "tide"}, status={"currentCSV": "tide.v1"})
    status = {"phase": "Failed", "reason": "UnsupportedOperatorGroup", "message": "no such mode"}
    modes = {"installModes": [{"type": "MultiNamespace", "supported": True}]}
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", spec=modes, status=status)
    group = an_object(OPERATOR_GROUP, "mine", spec={}, status={"namespaces": ["two"]})
    cluster = cast("KubeClient", FakeCluster([subscription, csv, group]))
    output = (
        "tide is not ready after 0 s: Failed, no such mode; OperatorGroup mine selects two; "
        "tide.v1 supports MultiNamespace; fix: let spec.targetNamespaces name"
    )
    with pytest.raises(NotReadyError, match=output):
        followed(cluster, timedelta(0))


class Moving(FakeCluster):
    """The channel of its Subscription is another one at each look, which no line tells."""

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        found = super().list(kind, namespace, labels=labels, most=most)
        if kind == SUBSCRIPTION:
            self.looks = getattr(self, "looks", 0) + 1
            return tuple({**one, "spec": {**one["spec"], "channel": f"c{self.looks}"}} for one in found)
        return found


def test_what_is_not_in_the_line_is_not_reported_twice() -> None:
    done = {"currentCSV": "tide.v1", "installedCSV": "tide.v1"}
    subscription = an_object(SUBSCRIPTION, "tide", spec={"name": "tide"}, status=done)
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", spec={}, status={"phase": "Succeeded"})
    cluster = cast("KubeClient", Moving([subscription, csv]))
    looks = islice(observations(cluster, Goal("two", "tide", MOMENT)), 3)
    assert [one.is_new for one in looks] == [True, True, True]
    assert [*upgrade(cluster, "two", "tide", timeout=MOMENT)] == ["tide: tide.v1 Succeeded"]


def test_what_works_is_not_reproached_for_a_time_that_is_over() -> None:
    done = {"currentCSV": "tide.v1", "installedCSV": "tide.v1"}
    subscription = an_object(SUBSCRIPTION, "tide", spec={"name": "tide"}, status=done)
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", spec={}, status={"phase": "Succeeded"})
    cluster = cast("KubeClient", FakeCluster([subscription, csv]))
    lines = upgrade(cluster, "two", "tide", timeout=timedelta(0))
    assert list(lines) == ["tide: tide.v1 Succeeded"]
    leaving = upgrade(cluster, "two", "tide", timeout=timedelta(0), leaving="tide.v1")
    with pytest.raises(NotReadyError, match=r"still is at tide\.v1"):
        list(leaving)


def stopped(*groups: Manifest, reason: str = "UnsupportedOperatorGroup", modes: str = "MultiNamespace") -> FakeCluster:
    """A package that waits, whose catalog was read."""
    desired = {"name": "tide", "source": "c", "sourceNamespace": "olm"}
    subscription = an_object(SUBSCRIPTION, "tide", spec=desired, status={"currentCSV": "tide.v1"})
    catalog = an_object(CATALOG_SOURCE, "c", spec={}, status={"connectionState": {"lastObservedState": "READY"}})
    catalog["metadata"]["namespace"] = "olm"
    csv = an_object(
        CLUSTER_SERVICE_VERSION, "tide.v1", spec={"installModes": [{"type": modes, "supported": True}]},
        status={"phase": "Failed", "reason": reason, "message": "no such mode"},
    )  # fmt: skip
    return FakeCluster([subscription, catalog, csv, *groups])


THING = "Thing.v1.example.com"


def conflicting_groups(reason: str, *, theirs: str = "", **spec: object) -> FakeCluster:
    """A package that provides an API, in a group that meets another one."""
    mine = an_object(OPERATOR_GROUP, "mine", spec=spec, status={"namespaces": [""]})
    other = an_object(OPERATOR_GROUP, "other", spec={}, status={"namespaces": [""]})
    other["metadata"] |= {"namespace": "far", "annotations": {"olm.providedAPIs": theirs}}
    cluster = stopped(mine, other, reason=reason)
    csv = cluster.objects[CLUSTER_SERVICE_VERSION.ref("tide.v1", "two")]
    owned = [{"name": "things.example.com", "version": "v1", "kind": "Thing"}]
    csv["spec"]["customresourcedefinitions"] = {"owned": owned}
    return cluster


@pytest.mark.parametrize(
    ("cluster", "is_stopped"),
    [
        pytest.param(stopped(an_object(OPERATOR_GROUP, "mine", spec={})), True, id="a group that selects too much"),
        pytest.param(
            stopped(an_object(OPERATOR_GROUP, "mine", spec={}), an_object(OPERATOR_GROUP, "other", spec={})), True,
            id="two groups",
        ),
        pytest.param(stopped(), True, id="no group"),
        pytest.param(
            stopped(an_object(OPERATOR_GROUP, "mine", spec={"targetNamespaces": ["two"]}), modes="OwnNamespace"), False,
            id="a group that was changed just now",
        ),
        pytest.param(
            stopped(an_object(OPERATOR_GROUP, "mine", spec={}), reason="RequirementsNotMet"), False, id="something else"
        ),
        pytest.param(
            stopped(
                an_object(OPERATOR_GROUP, "mine", spec={"selector": {"a": "b"}}, status={"namespaces": ["1", "3"]})
            ),
            False, id="a selector that finds what is supported",
        ),
        pytest.param(
            conflicting_groups("InterOperatorGroupOwnerConflict", theirs=THING), True, id="another group has its API"
        ),
        pytest.param(
            conflicting_groups("InterOperatorGroupOwnerConflict"), False, id="another group gave up its API just now"
        ),
        pytest.param(
            conflicting_groups("CannotModifyStaticOperatorGroupProvidedAPIs", staticProvidedAPIs=True), True,
            id="a static group without its API",
        ),
    ],
)  # fmt: skip
def test_what_groups_stop_is_not_waited_for(cluster: FakeCluster, *, is_stopped: bool) -> None:
    (status,) = package_statuses(Sources(cluster), "two")
    assert status.is_stuck is is_stopped


class Writable(FakeCluster):
    """A cluster that remembers what is merged into its objects."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        super().__init__(objects)
        self.merged: list[tuple[str, object]] = []

    def merge(self, ref: Ref, patch: object) -> None:
        self.merged.append((ref.name, patch))


@pytest.mark.parametrize(
    ("others", "want"),
    [
        pytest.param([], [("mine", {"spec": {"targetNamespaces": ["two"]}})], id="alone"),
        pytest.param(
            [an_object(CLUSTER_SERVICE_VERSION, "other.v1", spec={}, status={"phase": "Succeeded"})], [],
            id="beside an operator without a Subscription",
        ),
        pytest.param([an_object(SUBSCRIPTION, "other", spec={"name": "other"})], [], id="beside a Subscription"),
    ],
)  # fmt: skip
def test_a_group_of_an_install_is_narrowed_only_where_nobody_else_lives(
    others: list[Manifest], want: list[tuple[str, object]]
) -> None:
    group = an_object(OPERATOR_GROUP, "mine", spec={}, status={"namespaces": [""]})
    group["metadata"]["annotations"] = {MADE_FOR: "tide"}
    cluster = Writable([*stopped(group, modes="OwnNamespace").objects.values(), *others])
    assert bool(narrow_group(cast("KubeClient", cluster), "two", "tide", "tide.v1")) is bool(want)
    assert cluster.merged == want


def test_who_follows_changes_nothing_and_who_upgrades_narrows_the_group() -> None:
    group = an_object(OPERATOR_GROUP, "mine", spec={}, status={"namespaces": [""]})
    group["metadata"]["annotations"] = {MADE_FOR: "tide"}
    cluster = Writable(stopped(group, modes="OwnNamespace").objects.values())
    client = cast("KubeClient", cluster)
    with pytest.raises(NotReadyError):
        followed(client, timedelta(0))
    assert cluster.merged == []
    with pytest.raises(NotReadyError):
        list(upgrade(client, "two", "tide", timeout=timedelta(0)))
    assert cluster.merged == [("mine", {"spec": {"targetNamespaces": ["two"]}})]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({}, ["tide.v1"], id="an original"),
        pytest.param({"status": {"phase": "Succeeded", "reason": "Copied"}}, [], id="a copy that lost its label"),
        pytest.param({"annotations": {"olm.operatorNamespace": "one"}}, [], id="a copy by its annotation"),
    ],
)
def test_copies_are_recognised_by_one_rule(fields: Manifest, want: list[str]) -> None:
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", spec={}, status=fields.get("status", {}))
    csv["metadata"]["annotations"] = fields.get("annotations", {})
    assert [one.name for one in originals([Csv(csv)])] == want


def test_an_install_that_groups_stop_ends_with_the_reason_and_what_helps() -> None:
    cluster = cast("KubeClient", stopped(an_object(OPERATOR_GROUP, "mine", spec={}, status={"namespaces": [""]})))
    with pytest.raises(NotReadyError, match=r"tide cannot go on: no such mode; OperatorGroup mine selects all name"):
        followed(cluster, timedelta(hours=1))


def test_what_groups_stop_ends_also_while_its_catalog_is_not_ready() -> None:
    found = conflicting_groups("InterOperatorGroupOwnerConflict", theirs=THING)
    del found.objects[CATALOG_SOURCE.ref("c", "olm")]
    with pytest.raises(NotReadyError, match=r"tide cannot go on: no such mode; OperatorGroup far/other provides Thing"):
        list(upgrade(cast("KubeClient", found), "two", "tide", timeout=timedelta(hours=1)))


def refused(*catalogs: Manifest) -> FakeCluster:
    """A Subscription to a catalog, of which the resolver says that it is not there."""
    desired = {"name": "tide", "source": "c", "sourceNamespace": "olm"}
    why = {
        "type": "ResolutionFailed",
        "status": "True",
        "reason": "ConstraintsNotSatisfiable",
        "message": "no catalog c",
    }
    group = an_object(OPERATOR_GROUP, "mine", spec={}, status={"namespaces": ["two"]})
    subscription = an_object(SUBSCRIPTION, "tide", spec=desired, status={"conditions": [why]})
    return FakeCluster([subscription, group, *catalogs])


def looked(cluster: FakeCluster, unchanged_seconds: float) -> None:
    """One look at a package that has stood still for so long."""
    client, goal = cast("KubeClient", cluster), Goal("two", "tide", timedelta(hours=1))
    check(client, Observation(stand(client, "two", "tide"), "", unchanged_seconds, is_over=False), goal)


def test_a_catalog_that_does_not_come_is_waited_for_half_a_minute() -> None:
    looked(refused(), ABSENT_SECONDS - 1)
    with pytest.raises(NotReadyError, match=r"tide cannot go on: .*no catalog c"):
        looked(refused(), ABSENT_SECONDS)


@pytest.mark.parametrize(("state", "is_waited_for"), [("CONNECTING", True), ("READY", False)])
def test_a_catalog_that_is_read_just_now_is_waited_for(state: str, *, is_waited_for: bool) -> None:
    catalog = an_object(CATALOG_SOURCE, "c", spec={}, status={"connectionState": {"lastObservedState": state}})
    catalog["metadata"]["namespace"] = "olm"
    with nullcontext() if is_waited_for else pytest.raises(NotReadyError, match="tide cannot go on"):
        looked(refused(catalog), STABLE_SECONDS)
