"""What `install` and `upgrade` do while they follow a package: approve plans, narrow the OperatorGroup made for it.

Decision: an install makes the group by the install modes that the catalog states, else for all namespaces, and narrows
it when the ClusterServiceVersion requires that: many catalogs state no install modes, and the bundle is not pulled yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.commands import quoted
from eventing.cli.requests.follow import (
    Goal,
    NotReadyError,
    Observation,
    change_of,
    check,
    is_reached,
    kept,
    observations,
    to_approve,
)
from eventing.cli.requests.request import Request
from eventing.cli.requests.subscribing import Made, approve_plan, subscribe
from eventing.diagnosis.status.fixes import same_namespace_csvs
from shared import names
from shared.api.manifest import annotations_of, name_of
from shared.api.views import Csv
from shared.domain.command import olmf
from shared.domain.objects.csv import UNSUPPORTED_GROUP
from shared.domain.operator_groups.install_modes import supports
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def install(cluster: KubeClient, request: Request, *, timeout: timedelta) -> Iterator[str]:
    """Subscribe to a package and follow it, unless there is no time for that. What it made stays, and is named."""
    made: list[str] = []
    for done in subscribe(cluster, request):
        made += [done.what] if isinstance(done, Made) else []
        yield str(done)
    if not timeout:
        return
    try:
        yield from _carried_on(cluster, Goal(request.namespace, request.package, timeout), lambda _: ())
    except NotReadyError as error:
        command = quoted(olmf("uninstall", request.package, namespace=request.namespace))
        left = f"; it made {', '.join(made)}: {command} takes the Subscription away" if made else ""
        raise NotReadyError(f"{error}{left}") from error


def upgrade(
    cluster: KubeClient, namespace: str, package: str, *, timeout: timedelta, leaving: str = ""
) -> Iterator[str]:
    """Approve the plans of a package until it has the newest version, which is not the one that it is leaving."""
    goal = Goal(namespace, package, timeout, is_newest=True, leaving=leaving)

    def approve(observation: Observation) -> Iterator[str]:
        if why := kept(observation, goal):
            raise NotReadyError(why)
        if observation.plan:
            yield from approve_plan(cluster, namespace, observation.plan)

    return _carried_on(cluster, goal, approve)


def _carried_on(cluster: KubeClient, goal: Goal, act: Callable[[Observation], Iterable[str]]) -> Iterator[str]:
    """Lines for every change of status and everything that was done, until the goal is reached. NotReadyError.

    A plan that waits ends it, too, unless it goes to the newest version.
    """
    last = ""
    for observation in observations(cluster, goal):
        if observation.is_new and (line := change_of(observation, goal)) != last:  # not all of a status is in its line
            yield line
            last = line
        if observation.plan and not goal.is_newest:
            yield to_approve(goal)
            return
        did = [*act(observation)] or [*_narrowed(cluster, observation, goal)]
        yield from did
        if not did and is_reached(observation, goal):
            return
        if observation.is_over or not did:
            check(cluster, observation, goal)


def _narrowed(cluster: KubeClient, observation: Observation, goal: Goal) -> Iterator[str]:
    """Narrow the group of a failed version, where that is ours to do."""
    if observation.status.phase == "Failed" and not observation.plan:
        yield from filter(None, [narrow_group(cluster, goal.namespace, goal.package, observation.status.version)])


def narrow_group(cluster: KubeClient, namespace: str, package: str, version: str) -> str:
    """Make the group select only its own namespace, if it was made for this package; returns a message, or nothing.

    A group that a person made, or that serves another package, too, stays as it is.
    """
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, version, namespace)
    groups = cluster.list(OPERATOR_GROUP, namespace)
    if csv is None or Csv(csv).reason != UNSUPPORTED_GROUP or len(groups) != 1:
        return ""
    (group,) = groups
    is_global = not {"targetNamespaces", "selector"} & set(group.get("spec") or {})
    is_ours = is_global and annotations_of(group).get(names.MADE_FOR) == package
    others = same_namespace_csvs(Csv(csv), Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)))
    is_alone = len(cluster.list(SUBSCRIPTION, namespace)) == 1 and not others
    if not is_ours or not is_alone or supports(Csv(csv).install_modes, namespace, (namespace,)):
        return ""
    cluster.merge(OPERATOR_GROUP.ref(name_of(group), namespace), {"spec": {"targetNamespaces": [namespace]}})
    return f"{version} cannot watch all namespaces: OperatorGroup {name_of(group)} selects {namespace} only"
