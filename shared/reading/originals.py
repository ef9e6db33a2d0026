"""The versions that are no copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from shared.api.views import Csv, OperatorGroup
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.names import COPIED_FROM, NONE
from shared.ports import Cluster


def originals(namespaces: Iterable[str], cluster: Cluster) -> Iterator[Csv]:
    """Those in these namespaces."""
    for namespace in sorted(namespaces):
        yield from (csv for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)) if not csv.is_copy)


def grouped_originals(cluster: Cluster) -> Iterator[Csv]:
    """Those of all namespaces with an OperatorGroup: no other one is installed."""
    for _, csvs in originals_of_groups(cluster):
        yield from csvs


def originals_of_groups(cluster: Cluster) -> Iterator[tuple[tuple[OperatorGroup, ...], tuple[Csv, ...]]]:
    """The groups of each namespace that has some, and its versions.

    All are asked for at once, without copies: a namespace has a copy of each operator that is meant for all.
    """
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP))
    found = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, labels={COPIED_FROM: NONE}))
    by_namespace = {place: tuple(csvs) for place, csvs in groupby(found, lambda csv: csv.namespace)}
    for place, of_it in groupby(groups, lambda group: group.namespace):
        yield tuple(of_it), tuple(csv for csv in by_namespace.get(place, ()) if not csv.is_copy)
