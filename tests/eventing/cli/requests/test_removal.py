"""What goes when a package is uninstalled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.removal import remove
from eventing.cli.requests.request import PackageError
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest, uid_of
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION, Kind, Ref
from shared.names import COPIED_FROM, MADE_FOR, PROPERTIES
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def an_object(kind: Kind, name: str, uid: str, labels: dict[str, str] | None = None, **fields: object) -> Manifest:
    meta = {"name": name, "namespace": "one", "uid": uid, "labels": labels or {}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


SUBSCRIBED = an_object(SUBSCRIPTION, "tide", "s", spec={"name": "tide"}, status={"installedCSV": "tide.v1"})
INSTALLED = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", "a", spec={})
COPY = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", "b", {COPIED_FROM: "two"}, spec={})


class Deleting(FakeCluster):
    """A cluster in which another object, if any, takes the name of a deleted version at once."""

    def __init__(self, *successors: Manifest, holds: bool = False) -> None:
        super().__init__([SUBSCRIBED, INSTALLED])
        self._successors, self._holds = successors, holds

    def delete(self, ref: Ref, *, uid: str = "") -> None:
        if uid != uid_of(self.objects[ref]):
            raise ApiError(409, "Conflict", "another uid")
        if not self._holds:
            del self.objects[ref]
        if ref.kind == INSTALLED["kind"] and not self._holds:
            self.objects |= {Ref.of(one): one for one in self._successors}


MADE = an_object(OPERATOR_GROUP, "one", "g")
MADE["metadata"]["annotations"] = {MADE_FOR: "tide"}
STAYS = "OperatorGroup one, which was made for tide, stays; `kubectl -n one delete operatorgroup one` removes it"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        pytest.param([MADE], [STAYS], id="nobody else needs the group that install made"),
        pytest.param([MADE, an_object(SUBSCRIPTION, "b", "x", spec={"name": "b"})], [], id="somebody is subscribed"),
        pytest.param([MADE, an_object(CLUSTER_SERVICE_VERSION, "b.v1", "x", spec={})], [], id="another version"),
        pytest.param([an_object(OPERATOR_GROUP, "one", "g")], [], id="a group that a person made"),
    ],
)
def test_a_group_that_stays_is_told(others: list[Manifest], message: list[str]) -> None:
    cluster = Deleting()
    cluster.objects |= {Ref.of(one): one for one in others}
    assert removed(cluster) == [*GONE, *message]


def removed(cluster: Deleting) -> list[str]:
    return list(remove(cast("KubeClient", cluster), "one", "tide", timeout=timedelta(seconds=0.1)))


GONE = [
    "deleted Subscription tide",
    "deleted ClusterServiceVersion tide.v1; its definitions and their objects stay",
]


@pytest.mark.parametrize(
    ("successors", "message"),
    [
        pytest.param([], [], id="nothing takes its name"),
        pytest.param([COPY], ["the copy of tide.v1 that is here now is that of two"], id="a copy takes its name"),
        pytest.param([{**INSTALLED, "metadata": {**INSTALLED["metadata"], "uid": "c"}}], [], id="it is made again"),
    ],
)
def test_a_version_is_gone_whatever_takes_its_name(successors: list[Manifest], message: list[str]) -> None:
    assert removed(Deleting(*successors)) == [*GONE, *message]


class Late(Deleting):
    """A cluster in which a copy took the place of the version after it was listed."""

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        found = super().list(kind, namespace, labels=labels, most=most)
        if kind == CLUSTER_SERVICE_VERSION:
            self.objects[Ref.of(COPY)] = COPY
        return found


def test_what_is_replaced_before_it_is_deleted_stays() -> None:
    cluster = Late()
    assert removed(cluster)[-1].endswith("is that of two")
    assert cluster.objects[Ref.of(COPY)] == COPY


def test_what_stays_is_named() -> None:
    with pytest.raises(
        PackageError, match=r"tide\.v1 is still being deleted; `olmf why ClusterServiceVersion/tide\.v1"
    ):
        removed(Deleting(holds=True))


class Installing(Deleting):
    """A cluster in which a plan brings the version while its Subscription is deleted, as long as the plan is there."""

    def __init__(self, *owners: str) -> None:
        super().__init__()
        plan = an_object(INSTALL_PLAN, "install-a", "p", spec={}, status={"phase": "Installing"})
        plan["metadata"]["ownerReferences"] = [{"kind": "Subscription", "name": one, "uid": one} for one in owners]
        self.plan = Ref.of(plan)
        self.objects[self.plan] = plan
        del self.objects[Ref.of(INSTALLED)]

    def delete(self, ref: Ref, *, uid: str = "") -> None:
        super().delete(ref, uid=uid)
        if ref.kind == "Subscription":
            self.objects[Ref.of(INSTALLED)] = INSTALLED


def test_what_a_plan_brings_meanwhile_goes_with_the_plan() -> None:
    cluster = Installing("s")
    assert removed(cluster) == GONE
    assert cluster.objects == {}


def test_all_subscriptions_of_the_package_go_with_the_plans_of_theirs() -> None:
    cluster = Installing("s", "t")
    again = an_object(SUBSCRIPTION, "again", "t", spec={"name": "tide"})
    other = an_object(SUBSCRIPTION, "tides", "o", spec={"name": "other"})
    cluster.objects |= {Ref.of(one): one for one in (again, other)}
    assert removed(cluster) == ["deleted Subscription again", *GONE]
    assert list(cluster.objects.values()) == [other]


def test_a_subscription_that_has_the_name_of_another_package_stays() -> None:
    cluster = Deleting()
    other = an_object(SUBSCRIPTION, "a", "o", spec={"name": "other"})
    misleading = {**SUBSCRIBED, "spec": {"name": "other"}}
    mine = an_object(SUBSCRIPTION, "mine", "t", spec={"name": "tide"}, status={"installedCSV": "tide.v1"})
    cluster.objects |= {Ref.of(one): one for one in (other, {**misleading, "status": {}}, mine)}
    assert removed(cluster) == ["deleted Subscription mine", GONE[1]]


class Keeping(Deleting):
    """A cluster in which finalizers keep the Subscription."""

    def delete(self, ref: Ref, *, uid: str = "") -> None:
        if ref.kind != SUBSCRIPTION.kind:
            super().delete(ref, uid=uid)


def test_who_keeps_a_subscription_is_told() -> None:
    cluster = Keeping()
    kept = {**SUBSCRIBED, "metadata": {**SUBSCRIBED["metadata"], "finalizers": ["example.com/a", "example.com/b"]}}
    cluster.objects[Ref.of(SUBSCRIBED)] = kept
    first, *rest = removed(cluster)
    assert first == "Subscription tide is being deleted, and waits for its finalizers: example.com/a, example.com/b"
    assert rest == GONE[1:]


class InFlight(Installing):
    """A cluster in which a plan that was deleted still brings its version, at the second look after that."""

    looks = 0

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        self.looks += kind == CLUSTER_SERVICE_VERSION and self.plan not in self.objects
        if self.looks == 2:
            self.objects[Ref.of(INSTALLED)] = INSTALLED
        return super().list(kind, namespace, labels=labels, most=most)

    def delete(self, ref: Ref, *, uid: str = "") -> None:
        Deleting.delete(self, ref, uid=uid)


def test_what_a_deleted_plan_has_begun_to_bring_goes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventing.cli.requests.removal.POLL_SECONDS", 0.001)
    cluster = InFlight("s")
    assert removed(cluster) == GONE
    assert cluster.objects == {}


def test_a_plan_of_somebody_else_too_goes_on() -> None:
    cluster = Installing("s", "other")
    assert removed(cluster) == GONE
    assert set(cluster.objects) == {cluster.plan}


THING = {"name": "things.example.com", "version": "v1", "kind": "Thing"}
NEEDED = {**INSTALLED, "spec": {"customresourcedefinitions": {"owned": [THING]}}}
REEF = an_object(CLUSTER_SERVICE_VERSION, "reef.v1", "r", spec={"customresourcedefinitions": {"required": [THING]}})
TO_REEF = an_object(SUBSCRIPTION, "to-reef", "o", spec={"name": "reef"}, status={"installedCSV": "reef.v1"})
OTHER = an_object(CLUSTER_SERVICE_VERSION, "other.v1", "t", spec=NEEDED["spec"])
UNREADABLE = an_object(CLUSTER_SERVICE_VERSION, "wrong.v1", "w", spec={})
UNREADABLE["metadata"]["annotations"] = {PROPERTIES: "{"}
COMES_BACK = (
    "tide.v1 comes back: Subscription to-reef (reef.v1) needs kind Thing of example.com/v1; "
    "`olmf uninstall reef -n one` uninstalls what needs it"
)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        pytest.param([REEF, TO_REEF], [COMES_BACK], id="a Subscription needs it"),
        pytest.param([REEF], [], id="nobody subscribes to what needs it"),
        pytest.param([REEF, TO_REEF, OTHER], [], id="another one has it, too"),
        pytest.param([REEF, TO_REEF, UNREADABLE], [], id="nothing is resolved there"),
    ],
)
def test_a_dependency_comes_back(others: list[Manifest], message: list[str]) -> None:
    cluster = Deleting()
    cluster.objects |= {Ref.of(one): one for one in (NEEDED, *others)}
    assert removed(cluster) == [*GONE, *message]
