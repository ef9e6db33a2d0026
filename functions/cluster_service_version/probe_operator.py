"""Check that the Deployments of a ClusterServiceVersion match its install strategy and are available.

Reads:  the version and its neighbours; its group if it has failed; the Subscriptions of its namespace; its Deployments.
Writes: its status; its Deployments where only annotations differ, or the name of its OperatorCondition is missing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api.manifest import is_deleted
from shared.domain.csv import observation, retirement
from shared.domain.csv.admission import is_unsuited
from shared.domain.csv.deployments import annotated, desired_deployments, with_condition_name
from shared.domain.csv.health import first_problem
from shared.domain.csv.phases import status_of
from shared.domain.csv.preparation import unserved
from shared.domain.objects.csv import is_copied
from shared.domain.objects.ownership import owner_labels
from shared.ports import Clock, Cluster, Policy
from shared.step import NOTHING, Outcome, Ref, Replace


def probe_operator(ref: Ref, cluster: Cluster, clock: Clock, policy: Policy) -> Outcome:
    """Write the phase that follows from the health of the Deployments."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or is_deleted(csv):
        return NOTHING
    status = status_of(csv, clock.now())
    if not observation.is_observed(status):
        return NOTHING
    if other := is_unsuited(csv, status) or unserved(csv, status) or observation.outgrown(csv, status):
        return outcome_of(csv, other)
    if status.phase != "Installing":
        neighbours = cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace)
        groups = cluster.list(kinds.OPERATOR_GROUP, ref.namespace) if status.phase == "Failed" else ()
        if replaced := retirement.begin(csv, neighbours, groups, status):
            return outcome_of(csv, replaced)
    desired = desired_deployments(csv, cluster.list(kinds.SUBSCRIPTION, ref.namespace))
    labelled = cluster.list(kinds.DEPLOYMENT, ref.namespace, labels=owner_labels(csv))
    find = partial(kinds.DEPLOYMENT.look_up, cluster.get, namespace=ref.namespace)
    problem = first_problem(csv, desired, labelled, find)
    is_outdated = observation.is_outdated(status, problem)
    if changed := annotated(desired, labelled) if is_outdated else with_condition_name(csv, labelled):
        return Outcome(tuple(map(Replace, changed)), verdict="its pods get what they lack")
    transition = observation.decide(status, problem, policy.install_timeout)
    if transition.status.phase == "Succeeded" != status.phase:
        # The version that it replaces may be deleted now, and the one that replaces it may be installed.
        neighbours = cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace)
        transition = replace(transition, rings=retirement.related(csv, neighbours))
    return outcome_of(csv, transition)
