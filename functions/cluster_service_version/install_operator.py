"""Write the Deployments of a ClusterServiceVersion that is ready to be installed.

Reads:  the version; the Subscriptions and Deployments of its namespace.
Writes: Deployments that are missing or differ; deletes Deployments that the version no longer names; its status.
"""

from __future__ import annotations

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api.manifest import is_deleted, name_of, uid_of
from shared.domain.csv import installation, preparation
from shared.domain.csv.admission import is_unsuited
from shared.domain.csv.deployments import changes, desired_deployments
from shared.domain.csv.phases import status_of
from shared.domain.csv.strategy import UnknownStrategy, strategy_of
from shared.domain.objects.csv import is_copied, phase_of
from shared.ports import Attempt, Clock, Cluster
from shared.refs import misnamed
from shared.step import NOTHING, Create, Delete, Outcome, Ref, Replace, Write

_REFUSED = ("forbidden", "invalid")


def install_operator(ref: Ref, cluster: Cluster, clock: Clock, attempt: Attempt) -> Outcome:
    """Write the Deployments of a version in InstallReady, and set it to Installing."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or is_deleted(csv) or phase_of(csv) != "InstallReady":
        return NOTHING
    status = status_of(csv, clock.now())
    if unfit := is_unsuited(csv, status) or preparation.unserved(csv, status):
        return outcome_of(csv, unfit)
    strategy = strategy_of(csv)
    if isinstance(strategy, UnknownStrategy):
        return outcome_of(csv, preparation.unrecognized(status, strategy.message))
    failure = attempt.failure
    # Another client changed or deleted a Deployment meanwhile: read again instead of failing.
    if failure and failure.ref.kind == kinds.DEPLOYMENT.kind and failure.kind in _REFUSED:
        return outcome_of(csv, installation.refused(status, failure.message, is_forbidden=failure.kind == "forbidden"))
    desired = desired_deployments(csv, cluster.list(kinds.SUBSCRIPTION, ref.namespace))
    if why := next(filter(None, map(misnamed, desired)), ""):
        return outcome_of(csv, installation.refused(status, why, is_forbidden=False))
    found = changes(csv, desired, cluster.list(kinds.DEPLOYMENT, ref.namespace))
    orphans = (kinds.DEPLOYMENT.ref(name_of(item), ref.namespace) for item in found.orphans)
    writes: tuple[Write, ...] = (
        *map(Create, found.created),
        *map(Replace, found.replaced),
        *(Delete(orphan, uid_of(item), "Foreground") for orphan, item in zip(orphans, found.orphans, strict=True)),
    )
    return outcome_of(csv, installation.started(status), before=writes)
