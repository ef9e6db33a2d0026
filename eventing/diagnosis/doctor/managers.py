"""Whether two programs manage the same objects, and what a manager left behind that is gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Finding
from eventing.diagnosis.leftovers import leftovers, running
from shared.api.views import Deployment
from shared.domain.command import Fix, kubectl, olmf
from shared.kinds import DEPLOYMENT, Ref
from shared.names import OLM_PROGRAMS, V1_PROGRAMS
from shared.ports import Cluster

_OTHERS: Final = {
    **dict.fromkeys(OLM_PROGRAMS, "classic OLM"),
    **{name: name.removesuffix("-controller-manager") for name in V1_PROGRAMS},
}
"""Deployments of others that write the objects that we write."""
_OURS: Final = "olmf-"
_MOST_NAMED: Final = 5


def check_managers(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """OLM's programs where ours manage the cluster, and what they left where they are gone."""
    classic = running(cluster)
    found = [one for one in Deployment.each(cluster.list(DEPLOYMENT)) if one.name in V1_PROGRAMS]
    for one in (*classic, *(each for each in found if each.wanted_replicas)):
        words = ("scale", f"deployment/{one.name}", "--replicas=0")
        fix = Fix(f"stop {_OTHERS[one.name]}, or do not run us here", kubectl(*words, namespace=one.namespace))
        yield Finding(Ref.of(one.raw), f"{_OTHERS[one.name]} runs", "two managers of the same objects fight", fix)
    if not classic:
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
    """One finding for each catalog, and for OLM itself, however many objects there are."""
    by_owner: dict[str, list[Ref]] = defaultdict(list)
    for one in leftovers(cluster):
        if not one.kept:
            by_owner[one.made_for].append(one.ref)
    for made_for, (first, *others) in by_owner.items():
        named = ", ".join(f"{ref.kind} {ref.name}" for ref in others[:_MOST_NAMED])
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        state = f"was made by classic OLM for {made_for}{f', like {named}{more}' if named else ''}"
        fix = Fix("look at all of it, and remove it with --apply", olmf("leftovers"))
        yield Finding(first, state, "nobody needs it, and it keeps its memory and its rights", fix)
