"""Check that the Deployments of a ClusterServiceVersion match its install strategy, are available, and serve.

Reads:  the version and its neighbours; its group if it has failed; the Subscriptions of its namespace; its Deployments;
        the proxy of an OpenShift; what is around its webhooks and aggregated APIs; the account that its group names.
Writes: its status; with the rights of that account its Deployments where only annotations differ, or the name of its
        OperatorCondition is missing, and the next stage of the rotation of its certificates.
"""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_service_version._endpoints import looked_at
from functions.cluster_service_version._limits import limited
from functions.cluster_service_version._outcome import outcome_of, refused
from functions.cluster_service_version._successor import replaced_by_successor
from shared import kinds
from shared.api.views import Csv, Deployment, Proxy, Subscription
from shared.domain.csv import observation, retirement, serving
from shared.domain.csv.admission import unsupported_install_mode
from shared.domain.csv.deployments import annotated, desired_deployments, with_condition_name
from shared.domain.csv.overrides import PROXY
from shared.domain.csv.phases import Status, status_of
from shared.domain.endpoints.certificates import digests
from shared.domain.endpoints.endpoint import has_served
from shared.domain.endpoints.facts import Facts
from shared.domain.objects.ownership import owner_labels
from shared.ports import Attempt, Clock, Cluster, Discovery, Keys, Policy
from shared.reading.deployments import read_problem
from shared.reading.endpoints import facts_of, pairs_of
from shared.step import NOTHING, Outcome, Ref, Replace


def probe_operator(
    ref: Ref, cluster: Cluster, clock: Clock, policy: Policy, *, keys: Keys, discovery: Discovery, attempt: Attempt
) -> Outcome:
    """Write the phase that follows from the health of the Deployments, and of what they serve."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_leaving:
        return NOTHING
    status = status_of(csv, clock.now())
    if not observation.is_observed(status):
        return NOTHING
    if failure := refused(attempt, csv, status):
        return failure
    return limited(_observed(csv, cluster, status, policy, keys=keys, discovery=discovery), csv, status, cluster)


def _observed(
    csv: Csv, cluster: Cluster, status: Status, policy: Policy, *, keys: Keys, discovery: Discovery
) -> Outcome:
    if other := unsupported_install_mode(csv, status) or observation.unchecked_requirements(csv, status):
        return outcome_of(csv, other)
    if replaced := replaced_by_successor(csv, cluster, status):
        return outcome_of(csv, replaced)
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, csv.namespace))
    labelled = Deployment.each(cluster.list(kinds.DEPLOYMENT, csv.namespace, labels=owner_labels(csv)))
    pairs = pairs_of(csv, keys)
    facts = facts_of(csv, cluster, pairs, subscriptions) if status.phase != "Installing" else Facts(pairs)
    if flawed := serving.flawed(csv, status, facts, {one.name: one for one in labelled}):
        return outcome_of(csv, flawed)
    desired = desired_deployments(csv, subscriptions, digests(pairs), proxy=Proxy.of(cluster.get(PROXY)))
    problem = read_problem(csv, desired, labelled, cluster)
    is_outdated = observation.is_outdated(status, problem)
    if changed := annotated(csv, desired, labelled) if is_outdated else with_condition_name(csv, labelled):
        return Outcome(tuple(map(Replace, changed)), summary="its pods get what they lack")
    if (problem is None or problem.is_refused) and (pairs or has_served(csv)):
        facts = facts_of(csv, cluster, pairs, subscriptions) if status.phase == "Installing" else facts
        found = looked_at(csv, status, facts, discovery, refused=problem, deployments=labelled)
        if isinstance(found, Outcome):
            return found
        problem = found
    transition = serving.watched(observation.decide(status, problem, policy.install_timeout), facts)
    if transition.status.phase == "Succeeded" != status.phase:
        # The version that it replaces may be deleted now, and the one that replaces it may be installed.
        namespace_csvs = Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, csv.namespace))
        transition = replace(transition, enqueues=retirement.related(csv, namespace_csvs))
    return outcome_of(csv, transition)
