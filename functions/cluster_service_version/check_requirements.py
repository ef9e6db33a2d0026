"""Set a ClusterServiceVersion to InstallReady when all its requirements exist, else report what is missing.

In every phase: set it to Failed when its OperatorGroup no longer supports it.

Reads:  the version and its neighbours; OperatorGroups; the InstallPlans of its namespace while it is young; what it
        requires (CustomResourceDefinitions, APIs, ServiceAccounts, roles); the condition of its predecessor.
Writes: its annotations and finalizer once; its status; deletes its Deployments when another group owns its APIs.
"""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api.views import Csv, Deployment, InstallPlan, OperatorGroup
from shared.domain.csv import preparation, requirements, retirement
from shared.domain.csv.admission import PROVIDED_API_CONFLICTS, not_admitted
from shared.domain.csv.phases import status_of
from shared.domain.csv.requirements import Facts
from shared.domain.objects.authorizer import Grants
from shared.domain.objects.csv import NO_RETRY
from shared.domain.objects.ownership import not_taken, owner_labels
from shared.ports import Clock, Cluster, Discovery, Listing
from shared.reading.identity import witnesses
from shared.step import NOTHING, Delete, Outcome, Ref

_CHECKED = ("", "Pending", "Failed", "Succeeded")


def check_requirements(ref: Ref, cluster: Cluster, discovery: Discovery, clock: Clock) -> Outcome:
    """Write the next phase of a version that is not being installed."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_leaving:
        return NOTHING
    status = status_of(csv, clock.now())
    if status.reason == NO_RETRY:
        return outcome_of(csv, preparation.try_again(csv, status, witnesses(ref.namespace, cluster)))
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP))
    if refusal := not_admitted(csv, groups, status):
        has_api_conflict = refusal.status.reason in PROVIDED_API_CONFLICTS
        return outcome_of(csv, refusal, after=_deployments_of(csv, cluster) if has_api_conflict else ())
    if status.phase not in _CHECKED:
        return NOTHING
    plans = cluster.list(kinds.INSTALL_PLAN, ref.namespace) if preparation.is_young(csv, status.now) else ()
    if waiting := preparation.applied_by(csv, InstallPlan.each(plans), status):
        return outcome_of(csv, waiting)
    namespace_csvs = Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace))
    if replaced := retirement.begin(csv, namespace_csvs, groups, status):
        return outcome_of(csv, replaced)
    return outcome_of(csv, preparation.decide(csv, _facts(csv, cluster, discovery, namespace_csvs), status))


def _facts(csv: Csv, cluster: Cluster, discovery: Discovery, namespace_csvs: tuple[Csv, ...]) -> Facts:
    desired = requirements.required_objects(csv, namespace_csvs)
    facts = Facts(
        namespace_csvs,
        dict(zip(desired, cluster.get_all(desired), strict=True)),
        frozenset(api for api in requirements.required_apis(csv) if discovery.find(*api)),
        discovery.version() if requirements.needs_server_version(csv) else "",
    )
    # The roles that an InstallPlan made for this version usually suffice; only otherwise all roles are read.
    for granting, labels in ((requirements.own_grants(csv), owner_labels(csv)), (kinds.RBAC, None)):
        if requirements.is_permitted(csv, facts):
            break
        places = [Listing(kind, csv.namespace if kind.is_namespaced else "", labels) for kind in granting]
        facts = replace(facts, grants=Grants.read(dict(zip(granting, cluster.list_all(places), strict=True))))
    return facts


def _deployments_of(csv: Csv, cluster: Cluster) -> tuple[Delete, ...]:
    """Delete its Deployments: they must not continue to serve APIs that belong to another group."""
    ours = Deployment.each(cluster.list(kinds.DEPLOYMENT, csv.namespace, labels=owner_labels(csv)))
    living = (one for one in ours if not (one.is_deleted or not_taken(one)))
    return tuple(Delete(kinds.DEPLOYMENT.ref(one.name, one.namespace), one.uid) for one in living)
