"""Write the Deployments of a ClusterServiceVersion that is ready to be installed, and what they need to serve.

Reads:  the version; the Subscriptions and Deployments of its namespace; the proxy of an OpenShift. With webhooks or
        aggregated APIs: certificates, Services and rights around its Deployments, APIServices, configurations, the
        definitions it converts, its group and the ServiceAccount that this names.
Writes: its status; with the rights of that account Deployments that are missing or differ; deletes Deployments that the
        version no longer names; Secrets with certificates, and everything by which the API server finds webhooks, APIs;
        deletes what is left of these under former names. Nothing while OLM v1 controls one of the Deployments.
"""

from __future__ import annotations

from itertools import filterfalse

from functions.cluster_service_version._endpoint_writes import secret_writes, writes_of
from functions.cluster_service_version._former import left_by, left_of_former_names
from functions.cluster_service_version._limits import limited
from functions.cluster_service_version._outcome import outcome_of, refused
from shared import kinds
from shared.api.views import Csv, Deployment, Proxy, Subscription
from shared.domain.csv import installation, preparation, serving
from shared.domain.csv.admission import unsupported_install_mode
from shared.domain.csv.deployments import changes, desired_deployments, refusal
from shared.domain.csv.overrides import PROXY
from shared.domain.csv.phases import status_of
from shared.domain.csv.strategy import UnknownStrategy, strategy_of
from shared.domain.endpoints import work
from shared.domain.endpoints.secret_changes import desired_contents
from shared.ports import Attempt, Clock, Cluster, Keys
from shared.reading.endpoints import facts_of, pairs_of
from shared.step import NOTHING, Create, Delete, Outcome, Ref, Replace


def install_operator(ref: Ref, cluster: Cluster, clock: Clock, attempt: Attempt, *, keys: Keys) -> Outcome:
    """Write what a version in InstallReady runs as, and set it to Installing."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_leaving or csv.phase != "InstallReady":
        return NOTHING
    status = status_of(csv, clock.now())
    if unfit := unsupported_install_mode(csv, status):
        return outcome_of(csv, unfit)
    strategy = strategy_of(csv)
    if isinstance(strategy, UnknownStrategy):
        return outcome_of(csv, preparation.unrecognized(status, strategy.message))
    if failure := refused(attempt, csv, status):
        return failure
    if why := work.unfit(csv):
        return outcome_of(csv, installation.refused(status, why, is_forbidden=False))
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, ref.namespace))
    facts = facts_of(csv, cluster, pairs_of(csv, keys), subscriptions)
    if why := work.refusal(csv, facts):
        return outcome_of(csv, installation.refused(status, why, is_forbidden=False))
    contents = desired_contents(csv, facts, status.now, lambda hosts: keys.issue(hosts, status.now))
    proxy, used = Proxy.of(cluster.get(PROXY)), {name: one.pair.digest for name, one in contents.items()}
    desired = desired_deployments(csv, subscriptions, used, proxy=proxy)
    present = Deployment.each(cluster.list(kinds.DEPLOYMENT, ref.namespace))
    if why := refusal(desired, present):
        return outcome_of(csv, installation.refused(status, why, is_forbidden=False))
    found = changes(csv, desired, present)
    registered = (*work.aggregated(csv, facts, contents), *work.served(csv, facts, contents))
    writes = (
        *secret_writes(csv, facts, contents, status.now),
        *writes_of((*work.around(csv, facts), *filter(work.is_in_force, registered))),
        *map(Create, found.created),
        *map(Replace, found.replaced),
        *writes_of(left_by(csv, found.orphans, facts, cluster)),
        *(Delete(kinds.DEPLOYMENT.ref(one.name, ref.namespace), one.uid, "Foreground") for one in found.orphans),
        *writes_of((*filterfalse(work.is_in_force, registered), *work.surplus(csv, facts))),
        *writes_of(left_of_former_names(csv, cluster, keys)),
    )
    begun = outcome_of(csv, installation.started(serving.certified(status, contents)), before=writes)
    return limited(begun, csv, status, cluster)
