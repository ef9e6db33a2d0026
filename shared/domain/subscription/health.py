"""The health of the catalogs that a Subscription may use (catalog.md §3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of, resource_version_of, timestamp, uid_of
from shared.domain.catalog_source import is_healthy
from shared.domain.conditions import Condition, find
from shared.domain.subscription.conditions import CATALOGS_UNHEALTHY

UNHEALTHY = "UnhealthyCatalogSourceFound"
_OTHERS = "other catalogsources are unhealthy: "


def visible(sources: Iterable[ReadOnly], namespace: str, global_namespace: str) -> tuple[ReadOnly, ...]:
    """The catalogs of the namespace and the global ones, in OLM's order."""
    found = [source for source in sources if namespace_of(source) in (namespace, global_namespace)]
    return tuple(sorted(found, key=lambda source: namespace_of(source) + name_of(source)))


def condition(subscription: ReadOnly, sources: Sequence[ReadOnly]) -> Condition:
    """`CatalogSourcesUnhealthy`, always present; `sources` are those visible to the Subscription."""
    spec = subscription.get("spec") or {}
    target = (str(spec.get("sourceNamespace") or ""), str(spec.get("source") or ""))
    sick = [_key(source) for source in sources if not is_healthy(source)]
    if not sources:
        return _unhealthy("NoCatalogSourcesFound", "dependency resolution requires at least one catalogsource")
    if target not in map(_key, sources):
        return _unhealthy(UNHEALTHY, f"targeted catalogsource {'/'.join(target)} missing")
    if target in sick:
        return _unhealthy(UNHEALTHY, f"targeted catalogsource {'/'.join(target)} unhealthy")
    if sick:
        named = ", ".join("/".join(key) for key in sick)
        return _unhealthy(UNHEALTHY, f"{_OTHERS}{named}")
    healthy = "all available catalogsources are healthy"
    return Condition(CATALOGS_UNHEALTHY, "False", "AllCatalogSourcesHealthy", healthy)


def concerns(told: ReadOnly) -> bool:
    """Whether the condition is about the catalog of its Subscription, and not only about others."""
    return told.get("status") == "True" and not str(told.get("message") or "").startswith(_OTHERS)


def catalog_health(status: ReadOnly, sources: Sequence[ReadOnly], now: datetime) -> list[Manifest]:
    """`catalogHealth`: the old list while it has the same catalogs with the same health, else a new one."""
    old: list[Manifest] = list(status.get("catalogHealth") or [])
    new = [
        {"catalogSourceRef": _reference(source), "lastUpdated": timestamp(now), "healthy": is_healthy(source)}
        for source in sources
    ]
    return old if list(map(_known, old)) == list(map(_known, new)) else new


def would_change(subscription: ReadOnly, sources: Sequence[ReadOnly]) -> bool:
    """Whether the status of the Subscription about its catalogs is out of date."""
    status = subscription.get("status") or {}
    seen = [(uid_of(source), is_healthy(source)) for source in sources]
    wanted = condition(subscription, sources)
    said = find(status, CATALOGS_UNHEALTHY) or {}
    is_same = (said.get("status"), said.get("message")) == (wanted.status, wanted.message)
    return not is_same or seen != list(map(_known, status.get("catalogHealth") or ()))


def _known(entry: ReadOnly) -> tuple[str, bool]:
    return str((entry.get("catalogSourceRef") or {}).get("uid") or ""), bool(entry.get("healthy"))


def _key(source: ReadOnly) -> tuple[str, str]:
    return namespace_of(source), name_of(source)


def _reference(source: ReadOnly) -> Manifest:
    return {
        "apiVersion": kinds.CATALOG_SOURCE.api_version,
        "kind": kinds.CATALOG_SOURCE.kind,
        "namespace": namespace_of(source),
        "name": name_of(source),
        "uid": uid_of(source),
        "resourceVersion": resource_version_of(source),
    }


def _unhealthy(reason: str, message: str) -> Condition:
    return Condition(CATALOGS_UNHEALTHY, "True", reason, message)
