"""Lists what is installed and what catalogs offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from eventing.diagnosis.catalogs import catalogs_for
from eventing.diagnosis.status.chain import chain, claimed, originals, package_named_by
from eventing.diagnosis.status.fixes import UNRESOLVED, ListedOnce, fix_for, until_groups
from eventing.diagnosis.status.progress import PackageStatus, package_status, unclaimed
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.domain.catalog.graph import defect, heads
from shared.domain.catalog.model import Package
from shared.domain.image_source import ImageSource
from shared.domain.objects.subscription import current_csv, installed_csv
from shared.domain.resolver.explain.findings import in_one_line
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, NAMESPACE, SUBSCRIPTION, Ref
from shared.ports import Unavailable

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed
    from shared.adapters.kube import KubeClient
    from shared.ports import Catalogs, Cluster


Row = dict[str, object]
_UNTIL = {
    "NotInChannel": "when its channel changes",
    "ConstraintsNotSatisfiable": "when a Subscription, version or catalog changes",
    "ClusterServiceVersionDeleted": "when the Subscription is created again",
}
"""What ends a wait, by its reason."""
Failing: TypeAlias = "Mapping[Ref, Listed]"
"""The jobs whose last run failed, by what they look at."""


def installed(cluster: Cluster, namespace: str = "", jobs: Iterable[Listed] = ()) -> list[Row]:
    """One row per Subscription, with the standing of its package; then one per version without a Subscription.

    `jobs` is what the work queue holds: it knows what fails before a status can say so, and when it is tried next.
    """
    cluster = ListedOnce(cluster)
    csvs = originals(cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    subscriptions = cluster.list(SUBSCRIPTION, namespace)
    places = {namespace_of(each) for each in (*csvs, *subscriptions)}
    rows: list[Row] = []
    left: list[Row] = []
    known = failing(jobs)
    for place in sorted(places):
        there = {name_of(csv): csv for csv in csvs if namespace_of(csv) == place}
        mine = [each for each in subscriptions if namespace_of(each) == place]
        found = ((each, package_status_among(each, there)) for each in mine)
        rows += [
            _with_failure(_row(each, now, there.get(now.version), cluster), _refs(each, now), known)
            for each, now in found
        ]
        orphans = there.keys() - chain(there.values(), claimed(mine))
        left += [_with_failure(_orphan(there[name], cluster), [Ref.of(there[name])], known) for name in sorted(orphans)]
    return rows + left


def _refs(subscription: ReadOnly, now: PackageStatus) -> Iterator[Ref]:
    """What a package consists of; a package that works does not mind what is decided for its namespace."""
    place, plan = namespace_of(subscription), (subscription.get("status") or {}).get("installPlanRef") or {}
    versions = dict.fromkeys(filter(None, (now.version, installed_csv(subscription))))
    named = (*(CLUSTER_SERVICE_VERSION.ref_or_none(name, place) for name in versions),
             INSTALL_PLAN.ref_or_none(plan.get("name"), place))  # fmt: skip
    yield from filter(None, named)
    yield SUBSCRIPTION.ref(name_of(subscription), place)
    if now.phase != "Succeeded":
        yield NAMESPACE.ref(place)


def _with_failure(row: Row, refs: Iterable[Ref], known: Failing) -> Row:
    """The row with what fails and when that is tried next, unless its status says the same."""
    job = first_failing(refs, known)
    if job is None:
        return {**row, "nextTry": ""}
    error, says = error_of(job), str(row["says"])
    return {
        **row,
        "says": says if error in says else "; ".join(filter(None, (says, error))),
        "nextTry": next_try_of(job),
    }


def package_status_among(subscription: ReadOnly, csvs: Mapping[str, ReadOnly]) -> PackageStatus:
    """Where a Subscription stands with the versions (no copies) of its namespace."""
    current, kept = current_csv(subscription), installed_csv(subscription)
    return package_status(subscription, csvs.get(current), csvs.get(kept) if kept != current else None)


def _row(subscription: ReadOnly, now: PackageStatus, csv: ReadOnly | None, cluster: Cluster) -> Row:
    spec = subscription["spec"]
    return {
        "namespace": namespace_of(subscription),
        "subscription": name_of(subscription),
        "package": spec.get("name"),
        "channel": spec.get("channel") or "",
        "installed": installed_csv(subscription),
        "version": now.version,
        "phase": now.phase,
        "approval": spec.get("installPlanApproval") or "Automatic",
        "catalog": f"{spec.get('sourceNamespace')}/{spec.get('source')}",
        "plan": now.plan,
        "held": now.held,
        **_told(now, csv, namespace_of(subscription), cluster),
    }


def _told(now: PackageStatus, csv: ReadOnly | None, namespace: str, cluster: Cluster) -> Row:
    """Why a package does not go on, since when, until when and what helps."""
    found = fix_for(csv, cluster)
    is_stopped = now.reason == UNRESOLVED
    until = found.until or (until_groups(namespace, cluster) if is_stopped else _UNTIL.get(now.reason, ""))
    says = "; ".join(filter(None, (now.says, found.says)))
    return {"reason": now.reason, "since": now.since, "until": until, "says": says}


def _orphan(csv: ReadOnly, cluster: Cluster) -> Row:
    now = unclaimed(csv)
    nothing = dict.fromkeys(("channel", "approval", "catalog", "plan", "held"), "")
    return {
        "namespace": namespace_of(csv),
        "subscription": "",
        "package": package_named_by(csv),
        **nothing,
        "installed": now.version,
        "version": now.version,
        "phase": now.phase,
        **_told(now, csv, namespace_of(csv), cluster),
    }


def offered(
    cluster: KubeClient, catalogs: Catalogs | None = None, sources: Iterable[ReadOnly] | None = None
) -> list[Row]:
    """One row per channel of each package of every catalog, or of `sources`: its newest version, or what is wrong.

    Without a channel a row says why a package, or without a package why a catalog, cannot be read.
    """
    reader = catalogs or _reader(cluster)
    rows: list[Row] = []
    for source in cluster.list(CATALOG_SOURCE) if sources is None else sources:
        reference, image = content_of(source)
        catalog = f"{namespace_of(source)}/{name_of(source)}"
        found = reader.packages(reference, image) if reference else ()
        if not isinstance(found, tuple):
            rows.append(_offer(catalog, says=found.message))
            continue
        for name in found:
            rows += _offers(catalog, name, reader.package(reference, name, image))
    return rows


def _offers(catalog: str, name: str, package: Package | Unavailable | None) -> Iterator[Row]:
    if isinstance(package, Unavailable):
        yield _offer(catalog, name, says=package.message)
    elif package:
        for channel in package.channels:
            why = f"the channel is broken: {broken}" if (broken := defect(channel)) else ""
            newest = ", ".join(entry.name for entry in heads(channel))
            is_default = channel.name == package.default_channel
            yield _offer(catalog, name, channel.name, version=newest, is_default=is_default, says=why)


def _offer(
    catalog: str, package: str = "", channel: str = "", *, version: str = "", is_default: bool = False, says: str
) -> Row:
    return {
        "package": package,
        "channel": channel,
        "default": is_default,
        "version": version,
        "catalog": catalog,
        "says": says,
    }


def package_of(cluster: KubeClient, subscription: ReadOnly, catalogs: Catalogs | None = None) -> Package | None:
    """What the catalog of a Subscription offers as its package; None when it does not, or cannot be read."""
    found = looked_up(cluster, subscription["spec"], catalogs)
    return found if isinstance(found, Package) else None


def looked_up(cluster: KubeClient, spec: ReadOnly, catalogs: Catalogs | None = None) -> Package | Unavailable | None:
    """The package that the spec of a Subscription names; None when its catalog was read and has none of that name."""
    source = CATALOG_SOURCE.look_up(cluster.get, spec.get("source"), spec.get("sourceNamespace"))
    reference, image = content_of(source or {"metadata": {}, "spec": {}})
    if not reference:
        return Unavailable("NotFound", "the catalog was not read yet")
    return (catalogs or _reader(cluster)).package(reference, str(spec.get("name")), image)


def content_of(source: ReadOnly) -> tuple[str, ImageSource]:
    """The image of a catalog by digest (empty: it was not read yet), and how it is pulled."""
    reference = str(((source.get("status") or {}).get("connectionState") or {}).get("address") or "")
    secrets = tuple(filter(None, source["spec"].get("secrets") or ()))
    image = ImageSource(str(source["spec"].get("image") or reference), namespace_of(source), secrets)
    return (reference if "@" in reference else ""), image


def _reader(cluster: KubeClient) -> Catalogs:
    return catalogs_for(cluster)


def subscription_of(cluster: KubeClient, namespace: str, package: str) -> ReadOnly | None:
    """The Subscription to a package, or of that name."""
    found = cluster.list(SUBSCRIPTION, namespace)
    return next((each for each in found if package in (each["spec"].get("name"), name_of(each))), None)


def failing(jobs: Iterable[Listed]) -> Failing:
    """Those of the queue; of several on one object the one that failed most often."""
    return {job.ref: job for job in sorted(jobs, key=lambda job: job.attempts) if job.error}


def first_failing(refs: Iterable[Ref], known: Failing) -> Listed | None:
    """The failing job of the first of these objects that has one."""
    return next((known[ref] for ref in refs if ref in known), None)


def error_of(job: Listed) -> str:
    """Its last error in one line, without the name of what it looks at."""
    return in_one_line(job.error.removeprefix(f"{job.ref}: "))


def next_try_of(job: Listed) -> str:
    """When it runs again: a time, at once, or by which command."""
    if job.state == "dead":
        return "`olmf queue retry`"
    return job.due.isoformat(timespec="seconds") if job.state == "delayed" and job.due else "now"
