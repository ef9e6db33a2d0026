"""What `olmf why` says of a CatalogSource or ClusterCatalog itself: what the doctor finds of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from eventing.cli.commands import fix_text
from eventing.diagnosis.doctor.catalogs import check_catalogs, check_cluster_catalogs
from shared.domain.command import olmf
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, Ref
from shared.ports import Cluster

_CHECKS = {CATALOG_SOURCE.kind: check_catalogs, CLUSTER_CATALOG.kind: check_cluster_catalogs}


def catalog_paragraphs(ref: Ref, cluster: Cluster, now: datetime) -> Iterator[str]:
    """What is wrong with a catalog, and what helps beside asking for what is told here; nothing of other kinds."""
    asked = olmf("why", f"{ref.kind}/{ref.name}", namespace=ref.namespace)
    check = _CHECKS.get(ref.kind)
    for one in check(cluster, now) if check else ():
        if one.ref == ref:
            fixes = [each for each in (one.fix, *one.more_fixes) if each.command != asked]
            yield f"status: {one.state}\n  so {one.effect}"
            yield from (f"fix: {fix_text(each)}" for each in fixes)
