"""Reads what the decider needs, of all packages or of one: the only module between a cluster and the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from eventing.diagnosis.status.chain import chain, claimed, originals
from eventing.diagnosis.status.decider import decide, topics
from eventing.diagnosis.status.fixes import conflicting_groups
from eventing.diagnosis.status.package_status import NamespaceContext, Package, PackageStatus, ref_of
from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, OperatorGroup, Subscription
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    NAMESPACE,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Kind,
    Ref,
)

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.diagnosis.why.facts import LastRun
    from eventing.journal import JournalIndex
    from eventing.workqueue import Listed
    from shared.ports import Cluster


@dataclass(frozen=True, slots=True)
class Sources:
    """Where answers come from: a cluster or a capture, of which everything is listed once, the queue, the journal."""

    cluster: Cluster
    jobs: tuple[Listed, ...] = ()
    """What the work queue holds: it knows what fails before a status can say so, and when it is tried next."""
    index: JournalIndex | None = None
    """None: not read, because it is large; it says what no status says."""
    _lists: dict[tuple[Kind, str], tuple[Manifest, ...]] = field(default_factory=dict)
    _by_ref: dict[Ref, list[Listed]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for job in sorted(self.jobs, key=lambda one: -one.attempts):
            self._by_ref.setdefault(job.ref, []).append(job)

    def jobs_about(self, refs: Iterable[Ref]) -> list[Listed]:
        """The jobs about these objects in their order; of several about one, that which failed most often first."""
        return [job for ref in refs for job in self._by_ref.get(ref, ())]

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        """The objects of a kind, in a namespace or everywhere: many packages may ask for the same ones."""
        if (kind, namespace) not in self._lists:
            self._lists[kind, namespace] = self.cluster.list(kind, namespace)
        return self._lists[kind, namespace]


def package_statuses(sources: Sources, namespace: str = "") -> list[PackageStatus]:
    """The status of each Subscription, of a namespace or everywhere; then of each version without a Subscription."""
    csvs = originals(Csv.each(sources.list(CLUSTER_SERVICE_VERSION, namespace)))
    subscriptions = Subscription.each(sources.list(SUBSCRIPTION, namespace))
    found: list[PackageStatus] = []
    unclaimed: list[PackageStatus] = []
    for place in sorted({each.namespace for each in (*csvs, *subscriptions)}):
        there = {csv.name: csv for csv in csvs if csv.namespace == place}
        mine = [each for each in subscriptions if each.namespace == place]
        found += [status_of(sources, each, there) for each in mine]
        orphans = there.keys() - chain(there.values(), claimed(mine))
        unclaimed += [_decided(sources, Package(None, there[name])) for name in sorted(orphans)]
    return found + unclaimed


def status_of(sources: Sources, subscription: Subscription, csvs: Mapping[str, Csv]) -> PackageStatus:
    """The status of one Subscription with the versions (no copies) of its namespace, with everything that helps."""
    return _decided(sources, package_among(subscription, csvs))


def detailed(sources: Sources, status: PackageStatus) -> PackageStatus:
    """The status of the same package by these sources, which may know more; the given one when the package is gone."""
    there = {csv.name: csv for csv in originals(Csv.each(sources.list(CLUSTER_SERVICE_VERSION, status.namespace)))}
    for each in Subscription.each(sources.list(SUBSCRIPTION, status.namespace)):
        if each.name == status.subscription:
            return status_of(sources, each, there)
    csv = there.get(status.version)
    return status if status.subscription or csv is None else _decided(sources, Package(None, csv))


def package_among(subscription: Subscription, csvs: Mapping[str, Csv]) -> Package:
    """A Subscription and its versions, and nothing beside them."""
    current, kept = subscription.current_csv, subscription.installed_csv
    return Package(subscription, csvs.get(current), csvs.get(kept) if kept != current else None)


def _decided(sources: Sources, package: Package) -> PackageStatus:
    asked = topics(package)
    jobs = sources.jobs_about(_refs(package))
    catalog = _catalog(package)
    return decide(
        replace(
            package,
            context=_context(sources, package, asked),
            job=next((job for job in jobs if job.error), None),
            due=min((job.due.isoformat(timespec="seconds") for job in jobs if job.due), default=""),
            pull=next((job.progress for job in sources.jobs_about([catalog] if catalog else []) if job.progress), None),
            last=tuple(_last_runs(sources, package)),
            catalog_due=_catalog_due(sources, catalog) if "catalog" in asked else "",
        )
    )


def _context(sources: Sources, package: Package, asked: frozenset[str]) -> NamespaceContext:
    """What the rules of the package ask for."""
    place = _place(package)
    found = NamespaceContext(
        csvs=Csv.each(sources.list(CLUSTER_SERVICE_VERSION, place) if "csvs" in asked else ()),
        plans=InstallPlan.each(sources.list(INSTALL_PLAN, place) if "plans" in asked else ()),
        groups=OperatorGroup.each(sources.list(OPERATOR_GROUP, place)) if "groups" in asked else None,
        all_groups=OperatorGroup.each(sources.list(OPERATOR_GROUP) if "all_groups" in asked else ()),
    )
    if "providers" not in asked or package.csv is None:
        return found
    conflicting = dict.fromkeys(one.namespace for one in conflicting_groups(package.csv, found.all_groups))
    return replace(
        found, providers=tuple(Csv(csv) for one in conflicting for csv in sources.list(CLUSTER_SERVICE_VERSION, one))
    )


def _place(package: Package) -> str:
    return (package.subscription or package.csv or Csv({})).namespace


def _refs(package: Package) -> Iterator[Ref]:
    """What a package consists of; a package that works does not mind what is decided for its namespace."""
    subscription = package.subscription
    if subscription is None:
        yield from (ref_of(CLUSTER_SERVICE_VERSION, package.csv),) if package.csv else ()
        return
    place = subscription.namespace
    versions = dict.fromkeys((subscription.current_csv, subscription.installed_csv))
    named = [CLUSTER_SERVICE_VERSION.ref_or_none(name, place) for name in versions]
    yield from filter(None, (*named, INSTALL_PLAN.ref_or_none(subscription.plan, place)))
    yield SUBSCRIPTION.ref(subscription.name, place)
    if decide(package).phase != "Succeeded":
        yield NAMESPACE.ref(place)


def _catalog(package: Package) -> Ref | None:
    found = package.subscription
    return CATALOG_SOURCE.ref_or_none(found.source, found.source_namespace) if found else None


def _last_runs(sources: Sources, package: Package) -> Iterable[LastRun]:
    """Where the steps left its version, then its Subscription."""
    if sources.index is None or decide(package).is_well:
        return
    subscription = package.subscription
    version = subscription.current_csv if subscription else (package.csv or Csv({})).name
    refs = (
        CLUSTER_SERVICE_VERSION.ref_or_none(version, _place(package)),
        ref_of(SUBSCRIPTION, subscription) if subscription else None,
    )
    for ref in filter(None, refs):
        yield from last_of(sources.index, ref, sources.jobs)


def _catalog_due(sources: Sources, catalog: Ref | None) -> str:
    """When the catalog is tried again, if it waits for something; one that can be read is only polled."""
    if sources.index is None or catalog is None:
        return ""
    last = last_of(sources.index, catalog, sources.jobs)
    due = next((one.next_try for one in last if one.waits_for), None)
    return due.isoformat(timespec="seconds") if due else ""


def last_of(index: JournalIndex, ref: Ref, jobs: Iterable[Listed]) -> tuple[LastRun, ...]:
    """Where each step left an object, as the journal has it."""
    from eventing.diagnosis.why.explain import why

    return why(index, ref, jobs, writes=0).last
