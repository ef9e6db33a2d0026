"""Enqueue the versions that own or require an API that changed, and the groups whose roles depend on it.

Reads:  OperatorGroups, and all ClusterServiceVersions that are no copies.
Writes: nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from shared import names
from shared.api.views import Csv
from shared.domain.csv import dependents
from shared.domain.operator_groups.provision import claims
from shared.kinds import API_SERVICE
from shared.ports import Cluster
from shared.reading.originals import originals_of_groups
from shared.step import Emit, Outcome, Ref


def notify_api_users(ref: Ref, cluster: Cluster) -> Outcome:
    """Key: an APIService, or a CustomResourceDefinition whose name stands for all definitions of that API group."""
    emits = tuple(_emits(ref, cluster))
    return Outcome(emits=emits, summary=f"concerns {len(emits)} objects")


def _emits(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    for groups, csvs in originals_of_groups(cluster):
        for group, csv in product(groups, csvs):
            if _is_user(csv, ref):
                yield Emit(names.REQUIREMENT_CHANGED, Ref.of(csv))
            if _decides_on_roles(csv, ref):
                yield Emit(names.GRANT_DUE, Ref.of(group))


def _is_user(csv: Csv, ref: Ref) -> bool:
    if ref.kind == API_SERVICE.kind:
        return dependents.names_api_service(csv, ref.name)
    return dependents.names_api_group(csv, ref.name)


def _decides_on_roles(csv: Csv, ref: Ref) -> bool:
    """Whether users may get or lose their roles for the APIs of the version.

    They keep them only while the definition says that it is the version's, and nobody else serves the API group: an
    APIService of any version of the group decides on that.
    """
    if ref.kind == API_SERVICE.kind:
        return ref.name.partition(".")[2] in {claim.name.partition(".")[2] for claim in claims(csv)}
    return csv.is_succeeded and bool(claims(csv)) and dependents.names_api_group(csv, ref.name)
