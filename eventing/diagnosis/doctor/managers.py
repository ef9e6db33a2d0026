"""Whether two programs manage the same objects, and what a manager left behind that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Finding
from shared.api.views import Deployment
from shared.domain.command import Fix, kubectl
from shared.kinds import DEPLOYMENT, POD, SERVICE, Ref
from shared.names import ANY, OLM_PROGRAMS, V1_PROGRAMS
from shared.ports import Cluster, Listing

_OTHERS: Final = {
    **dict.fromkeys(OLM_PROGRAMS, "classic OLM"),
    **{name: name.removesuffix("-controller-manager") for name in V1_PROGRAMS},
}
"""Deployments of others that write the objects that we write."""
_OURS: Final = "olmf-"
_OF_CATALOGS: Final = "olm.catalogSource"
"""The label of the Pods and Services that OLM makes for a CatalogSource; ours have none."""


def check_managers(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """OLM's programs where ours manage the cluster, and its catalog Pods and Services where it is gone."""
    found = [one for one in Deployment.each(cluster.list(DEPLOYMENT)) if one.name in _OTHERS and one.wanted_replicas]
    for one in found:
        words = ("scale", f"deployment/{one.name}", "--replicas=0")
        fix = Fix(f"stop {_OTHERS[one.name]}, or do not run us here", kubectl(*words, namespace=one.namespace))
        yield Finding(Ref.of(one.raw), f"{_OTHERS[one.name]} runs", "two managers of the same objects fight", fix)
    if not any(one.name in OLM_PROGRAMS for one in found):
        yield from _left_behind(cluster)


def check_programs(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Deployments of ours with fewer Pods available than wanted."""
    for one in Deployment.each(cluster.list(DEPLOYMENT)):
        if not one.name.startswith(_OURS) or one.available_replicas >= one.wanted_replicas:
            continue
        why = next((each.message for each in one.conditions if not each.is_true and each.message), "")
        state = f"has {one.available_replicas} of {one.wanted_replicas} Pods available{f': {why}' if why else ''}"
        pods = kubectl("describe", "pods", "-l", f"app.kubernetes.io/name={one.name}", namespace=one.namespace)
        yield Finding(Ref.of(one.raw), state, "its part of the work waits", Fix("see what keeps its Pods", pods))


def _left_behind(cluster: Cluster) -> Iterator[Finding]:
    labels = {_OF_CATALOGS: ANY}
    pods, services = cluster.list_all([Listing(kind, labels=labels) for kind in (POD, SERVICE)])
    for kind, found in ((POD, pods), (SERVICE, services)):
        for one in found:
            ref = Ref.of(one)
            fix = Fix("delete it", kubectl("delete", kind.kind.lower(), ref.name, namespace=ref.namespace))
            yield Finding(ref, "is what OLM made for a catalog", "it takes memory, and nobody asks it", fix)
