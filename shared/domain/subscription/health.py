"""The health of the catalogs that a Subscription may use (catalog.md §3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from shared import kinds
from shared.api.manifest import Manifest, timestamp
from shared.api.views import CatalogSource, Subscription
from shared.domain.catalog_source import is_healthy
from shared.domain.conditions import Condition
from shared.domain.subscription.conditions import CATALOGS_UNHEALTHY, changed

UNHEALTHY = "UnhealthyCatalogSourceFound"


def visible(sources: Iterable[CatalogSource], namespace: str, global_namespace: str) -> tuple[CatalogSource, ...]:
    """The catalogs of the namespace and the global ones, in OLM's order."""
    found = [source for source in sources if source.namespace in (namespace, global_namespace)]
    return tuple(sorted(found, key=lambda source: source.namespace + source.name))


def condition(subscription: Subscription, sources: Sequence[CatalogSource]) -> Condition:
    """`CatalogSourcesUnhealthy`, always present; `sources` are those visible to the Subscription."""
    target = (subscription.source_namespace, subscription.source)
    sick = [_key(source) for source in sources if not is_healthy(source)]
    if not sources:
        return _unhealthy("NoCatalogSourcesFound", "dependency resolution requires at least one catalogsource")
    if target not in map(_key, sources):
        return _unhealthy(UNHEALTHY, f"targeted catalogsource {'/'.join(target)} missing")
    if target in sick:
        return _unhealthy(UNHEALTHY, f"targeted catalogsource {'/'.join(target)} unhealthy")
    if sick:
        named = ", ".join("/".join(key) for key in sick)
        return _unhealthy(UNHEALTHY, f"other catalogsources are unhealthy: {named}")
    healthy = "all available catalogsources are healthy"
    return Condition(CATALOGS_UNHEALTHY, "False", "AllCatalogSourcesHealthy", healthy)


def concerns(subscription: Subscription) -> bool:
    """Whether the condition is true of the catalog of the Subscription (or of all), and not only of others."""
    if not subscription.condition(CATALOGS_UNHEALTHY).is_true:
        return False
    target = (subscription.source_namespace, subscription.source)
    listed = {(one.namespace, one.name): one.is_healthy for one in subscription.catalog_health}
    return not listed.get(target, False)


def catalog_health(subscription: Subscription, sources: Sequence[CatalogSource], now: datetime) -> list[Manifest]:
    """`catalogHealth`: the old list while it has the same catalogs with the same health, else a new one."""
    old = subscription.catalog_health
    if [(one.uid, one.is_healthy) for one in old] == [(one.uid, is_healthy(one)) for one in sources]:
        return [dict(one.raw) for one in old]
    return [
        {"catalogSourceRef": _reference(source), "lastUpdated": timestamp(now), "healthy": is_healthy(source)}
        for source in sources
    ]


def with_catalogs(
    status: Manifest, subscription: Subscription, sources: Sequence[CatalogSource], now: datetime
) -> Manifest:
    """A status that is to be written, with what it says of the catalogs; as it is when these are not known."""
    if not sources:
        return status
    health = catalog_health(subscription, sources, now)
    return changed(status, now, put=[condition(subscription, sources)], catalogHealth=health) or status


def would_change(subscription: Subscription, sources: Sequence[CatalogSource]) -> bool:
    """Whether the status of the Subscription about its catalogs is out of date."""
    listed = [(source.uid, is_healthy(source)) for source in sources]
    desired = condition(subscription, sources)
    present = subscription.condition(CATALOGS_UNHEALTHY)
    is_same = (present.status, present.message) == (desired.status, desired.message)
    return not is_same or listed != [(one.uid, one.is_healthy) for one in subscription.catalog_health]


def _key(source: CatalogSource) -> tuple[str, str]:
    return source.namespace, source.name


def _reference(source: CatalogSource) -> Manifest:
    return {
        "apiVersion": kinds.CATALOG_SOURCE.api_version,
        "kind": kinds.CATALOG_SOURCE.kind,
        "namespace": source.namespace,
        "name": source.name,
        "uid": source.uid,
        "resourceVersion": source.resource_version,
    }


def _unhealthy(reason: str, message: str) -> Condition:
    return Condition(CATALOGS_UNHEALTHY, "True", reason, message)
