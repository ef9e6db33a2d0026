"""Set a ClusterServiceVersion to InstallReady when all its requirements exist, else report what is missing.

In every phase: set it to Failed when its OperatorGroup no longer supports it, to Pending when we do not support it.

Reads:  the version and its neighbours; OperatorGroups; the InstallPlans of its namespace while it is young; what it
        requires (CustomResourceDefinitions, APIs, ServiceAccounts, roles); the condition of its predecessor.
Writes: its annotations and finalizer once; its status; deletes its Deployments when another group owns its APIs.
"""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api.manifest import Manifest, is_deleted, name_of, namespace_of, uid_of
from shared.domain.csv import preparation, requirements, retirement
from shared.domain.csv.admission import EXPELLED, is_barred
from shared.domain.csv.phases import NO_RETRY, status_of
from shared.domain.csv.requirements import Facts
from shared.domain.objects.authorizer import Grants
from shared.domain.objects.csv import is_copied
from shared.domain.objects.ownership import owner_labels
from shared.domain.unsupported import VERSION, unsupported
from shared.ports import Clock, Cluster, Discovery
from shared.step import NOTHING, Delete, Outcome, Ref

_CHECKED = ("", "Pending", "Failed", "Succeeded")
_WITNESSES = (kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)


def check_requirements(ref: Ref, cluster: Cluster, discovery: Discovery, clock: Clock) -> Outcome:
    """Write the next phase of a version that is not being installed."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or is_deleted(csv):
        return NOTHING
    status = status_of(csv, clock.now())
    if status.reason == NO_RETRY:
        witnesses = [item for kind in _WITNESSES for item in cluster.list(kind, ref.namespace)]
        return outcome_of(csv, preparation.try_again(status, witnesses))
    groups = cluster.list(kinds.OPERATOR_GROUP)
    if barred := is_barred(csv, groups, status):
        is_expelled = barred.status.reason in EXPELLED and not unsupported(VERSION, csv)
        return outcome_of(csv, barred, after=_expelled(csv, cluster) if is_expelled else ())
    if status.phase not in _CHECKED:
        return NOTHING
    plans = cluster.list(kinds.INSTALL_PLAN, ref.namespace) if preparation.is_young(csv, status.now) else ()
    if waiting := preparation.applied_by(csv, plans, status):
        return outcome_of(csv, waiting)
    if unserved := preparation.unserved(csv, status):
        return outcome_of(csv, unserved)
    neighbours = cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace)
    if replaced := retirement.begin(csv, neighbours, groups, status):
        return outcome_of(csv, replaced)
    return outcome_of(csv, preparation.decide(csv, _facts(csv, cluster, discovery, neighbours), status))


def _facts(csv: Manifest, cluster: Cluster, discovery: Discovery, neighbours: tuple[Manifest, ...]) -> Facts:
    facts = Facts(
        neighbours,
        {wanted: cluster.get(wanted) for wanted in requirements.wanted_objects(csv, neighbours)},
        frozenset(api for api in requirements.wanted_apis(csv) if discovery.find(*api)),
        discovery.version() if requirements.wants_version(csv) else "",
    )
    # The roles that an InstallPlan made for this version usually suffice; only otherwise all roles are read.
    for granting, labels in ((requirements.own_grants(csv), owner_labels(csv)), (kinds.RBAC, None)):
        if requirements.is_permitted(csv, facts):
            break
        places = {kind: namespace_of(csv) if kind.is_namespaced else "" for kind in granting}
        found = {kind: cluster.list(kind, place, labels=labels) for kind, place in places.items()}
        facts = replace(facts, grants=Grants(*(found.get(kind, ()) for kind in kinds.RBAC)))
    return facts


def _expelled(csv: Manifest, cluster: Cluster) -> tuple[Delete, ...]:
    """Delete its Deployments: they must not continue to serve APIs that belong to another group."""
    ours = cluster.list(kinds.DEPLOYMENT, namespace_of(csv), labels=owner_labels(csv))
    living = (item for item in ours if not is_deleted(item))
    return tuple(Delete(kinds.DEPLOYMENT.ref(name_of(item), namespace_of(item)), uid_of(item)) for item in living)
