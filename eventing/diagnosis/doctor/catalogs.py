"""Whether catalogs can be read: those of Subscriptions, and those of ClusterExtensions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Finding
from eventing.diagnosis.doctor.packages import PATIENCE
from shared import names
from shared.api.views import CatalogSource, ClusterCatalog, Subscription
from shared.domain.catalog_source import CONNECTING, CONTENT_LEFT_OUT, INTERVAL_INVALID, READY, REMARKS, is_healthy
from shared.domain.cluster_catalog import PROGRESSING, SERVING
from shared.domain.command import Fix, kubectl, olmf
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, SUBSCRIPTION, Ref
from shared.ports import Cluster

_WELL: Final = "Succeeded"
"""The reason of `Progressing` when the content was read."""
_LEFT_OUT: Final = {
    CONTENT_LEFT_OUT: "that is not offered, and everything else is",
    INTERVAL_INVALID: "it is not looked at anew as often as wanted",
}


def check_catalogs(cluster: Cluster, now: datetime) -> Iterator[Finding]:
    """CatalogSources that cannot be read, with the Subscriptions that name them."""
    subscriptions = Subscription.each(cluster.list(SUBSCRIPTION))
    for one in CatalogSource.each(cluster.list(CATALOG_SOURCE)):
        state = one.connection.state or one.reason
        began = one.connection.since or one.created or now
        if one.reason in REMARKS and is_healthy(one):
            yield _remarked(one)
        if is_healthy(one) or (state in ("", CONNECTING) and now - began < PATIENCE):
            continue
        users = [each for each in subscriptions if (each.source_namespace, each.source) == (one.namespace, one.name)]
        ref = CATALOG_SOURCE.ref(one.name, one.namespace)
        yield Finding(
            ref, _state(state, one.message), _effect(one, users), _look(ref), _unserved(one), reason=one.reason,
            evidence=tuple(SUBSCRIPTION.ref(each.name, each.namespace) for each in users),
        )  # fmt: skip


def _remarked(catalog: CatalogSource) -> Finding:
    """A catalog that is served, and says what of it, or of its settings, is not."""
    ref = CATALOG_SOURCE.ref(catalog.name, catalog.namespace)
    fix = Fix("mend what it names")
    return Finding(ref, _state(READY, catalog.message), _LEFT_OUT[catalog.reason], fix, reason=catalog.reason)


def _unserved(catalog: CatalogSource) -> tuple[Fix, ...]:
    """What helps a catalog of a folder that a later `olmf up` was not given."""
    if catalog.publisher != names.LOCAL_PUBLISHER:
        return ()
    delete = kubectl("delete", "catalogsource", catalog.name, namespace=catalog.namespace)
    return (Fix("if the last `olmf up` was not given its folder: give it again, or delete the catalog", delete),)


def _effect(catalog: CatalogSource, users: list[Subscription]) -> str:
    lacks = "nothing newer is installed from it" if catalog.content else "nothing can be installed from it"
    return lacks if users else f"{lacks}; no Subscription names it"


def check_cluster_catalogs(cluster: Cluster, now: datetime) -> Iterator[Finding]:
    """ClusterCatalogs that serve nothing, or nothing newer."""
    for one in ClusterCatalog.each(cluster.list(CLUSTER_CATALOG)):
        serving, progressing = one.condition(SERVING), one.condition(PROGRESSING)
        is_new = not progressing.reason and now - (one.created or now) < PATIENCE
        if one.is_disabled or is_new or (serving.is_true and progressing.reason == _WELL):
            continue
        troubled = progressing if progressing.reason != _WELL else serving
        lacks = "extensions get nothing newer from it" if serving.is_true else "no extension gets anything from it"
        ref = CLUSTER_CATALOG.ref(one.name)
        yield Finding(ref, _state(troubled.reason, troubled.message), lacks, _look(ref), reason=troubled.reason)


def _state(word: str, message: str) -> str:
    return ": ".join(filter(None, (f"is {word or 'not read yet'}", message)))


def _look(ref: Ref) -> Fix:
    command = olmf("why", f"{ref.kind}/{ref.name}", namespace=ref.namespace)
    return Fix("mend what it says; see what was tried, and when it is tried next", command)
