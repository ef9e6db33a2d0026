"""Removes a package: its Subscriptions, and every CSV of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.commands import quoted
from eventing.cli.requests.dependents import needed_by
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import POLL_SECONDS, existing_subscription
from eventing.diagnosis.offers import subscriptions_of
from eventing.diagnosis.status.chain import chain, claimed, originals, package_named_by
from eventing.diagnosis.status.package_status import ref_of
from shared import names
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import ReadOnly, name_of, uid_of
from shared.api.views import Csv, InstallPlan, OperatorGroup, Subscription
from shared.domain.command import kubectl, olmf
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION, Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

IN_FLIGHT_SECONDS = 3.0
"""For how long whoever carries a plan out may write, after the plan was deleted, what it has begun to write."""


def remove(cluster: KubeClient, namespace: str, package: str, *, timeout: timedelta) -> Iterator[str]:
    """Delete its Subscriptions and its versions, also older ones of an update that is stuck; wait until they are gone.

    Without any time it does not wait. Versions that an earlier Subscription left behind go, too, and what a plan that
    was being carried out still brings. PackageError when there is nothing to delete.
    """
    subscriptions = subscriptions_of(cluster, namespace, package)
    if not subscriptions and not _versions(cluster, namespace, package, subscriptions):
        existing_subscription(cluster, namespace, package)
    for subscription in subscriptions:
        delete(cluster, ref := SUBSCRIPTION.ref(name_of(subscription), namespace), uid_of(subscription))
        yield _farewell(Subscription.of(cluster.get(ref)), ref, uid_of(subscription))
    is_under_way = bool(subscriptions) and _stop_plans(cluster, namespace, {uid_of(one) for one in subscriptions})
    deadline = time.monotonic() + timeout.total_seconds()
    until = min(deadline, time.monotonic() + IN_FLIGHT_SECONDS) if is_under_way else time.monotonic()
    versions = list[Csv]()
    for csv in _coming(lambda: _versions(cluster, namespace, package, subscriptions), until):
        delete(cluster, ref_of(CLUSTER_SERVICE_VERSION, csv), csv.uid)
        versions.append(csv)
    for csv in versions if timeout else ():
        while _is_there(cluster, csv):
            if time.monotonic() > deadline:
                hint = quoted(olmf("why", f"ClusterServiceVersion/{csv.name}", namespace=namespace))
                raise PackageError(f"{csv.name} is still being deleted; {hint} shows more")
            time.sleep(POLL_SECONDS)
    if versions:
        did = "deleted" if timeout else "is deleting"
        gone = ", ".join(csv.name for csv in versions)
        yield f"{did} ClusterServiceVersion {gone}; its definitions and their objects stay"
        yield from _copies(cluster, versions)
        yield from _needed(cluster, namespace, versions, {uid_of(one) for one in subscriptions})
    yield from _unused_group(cluster, namespace, package)


def _farewell(left: Subscription | None, ref: Ref, uid: str) -> str:
    """That the Subscription of that uid is gone, or who keeps it."""
    if left is None or left.uid != uid or not left.finalizers:
        return f"deleted Subscription {ref.name}"
    return f"Subscription {ref.name} is being deleted, and waits for its finalizers: {', '.join(left.finalizers)}"


def _stop_plans(cluster: KubeClient, namespace: str, subscriptions: Set[str]) -> bool:
    """Delete the plans that only these Subscriptions (uids) own; returns whether one was being carried out."""
    plans = InstallPlan.each(cluster.list(INSTALL_PLAN, namespace))
    theirs = [plan for plan in plans if plan.owners and {owner.uid for owner in plan.owners} <= subscriptions]
    for plan in theirs:
        delete(cluster, ref_of(INSTALL_PLAN, plan), plan.uid)
    return any(plan.phase == "Installing" for plan in theirs)


def _coming(versions: Callable[[], Iterable[Csv]], until: float) -> Iterator[Csv]:
    """Each version that is there, and each that comes until then."""
    seen = set[str]()
    while True:
        for csv in versions():
            if csv.uid not in seen:
                seen.add(csv.uid)
                yield csv
        if time.monotonic() >= until:
            return
        time.sleep(POLL_SECONDS)


def _is_there(cluster: KubeClient, csv: Csv) -> bool:
    """Whether a version still exists; a copy that took its name has another uid."""
    found = Csv.of(cluster.get(ref_of(CLUSTER_SERVICE_VERSION, csv)))
    return found is not None and found.uid == csv.uid


def _copies(cluster: KubeClient, versions: Sequence[Csv]) -> Iterator[str]:
    """The copies of what other namespaces installed, which the versions kept out."""
    for csv in versions:
        found = Csv.of(cluster.get(ref_of(CLUSTER_SERVICE_VERSION, csv)))
        if found and (namespace := found.label(names.COPIED_FROM)):
            yield f"the copy of {csv.name} that is here now is that of {namespace}"


def _needed(cluster: KubeClient, namespace: str, versions: Sequence[Csv], gone: Set[str]) -> Iterator[str]:
    """The Subscriptions, but those that are gone (uids), that need the versions."""
    staying = originals(Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)))
    others = [one for one in Subscription.each(cluster.list(SUBSCRIPTION, namespace)) if one.uid not in gone]
    yield from needed_by(versions, staying, others)


def _unused_group(cluster: KubeClient, namespace: str, package: str) -> Iterator[str]:
    """The group that an install made for the package, when nothing else in the namespace needs it."""
    csvs = originals(Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)))
    if cluster.list(SUBSCRIPTION, namespace) or any(not one.is_deleted for one in csvs):
        return
    for one in OperatorGroup.each(cluster.list(OPERATOR_GROUP, namespace)):
        if one.annotations.get(names.MADE_FOR) == package:
            command = quoted(kubectl("delete", "operatorgroup", one.name, namespace=namespace))
            yield f"OperatorGroup {one.name}, which was made for {package}, stays; {command} removes it"


def _versions(cluster: KubeClient, namespace: str, package: str, subscriptions: Sequence[ReadOnly]) -> list[Csv]:
    """What the package has installed in the namespace, and nothing that other Subscriptions have."""
    csvs = originals(Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)))
    ours = {uid_of(one) for one in subscriptions}
    others = [one for one in cluster.list(SUBSCRIPTION, namespace) if uid_of(one) not in ours]
    mine = {csv.name for csv in csvs if package_named_by(csv) == package}
    roots = mine | claimed(Subscription.each(subscriptions))
    desired = chain(csvs, roots) - claimed(Subscription.each(others))
    return sorted((csv for csv in csvs if csv.name in desired), key=lambda csv: csv.name)


def delete(cluster: KubeClient, ref: Ref, uid: str) -> None:
    """Delete the object of that uid, unless it is gone."""
    try:
        cluster.delete(ref, uid=uid)
    except ApiError as error:
        if not (error.is_not_found or error.is_conflict):
            raise
