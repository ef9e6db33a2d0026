"""Enqueue the versions whose webhooks are for the namespaces of an OperatorGroup: it selects others, or was made again.

Reads:  the ClusterServiceVersions of its namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import Csv
from shared.domain.endpoints.webhooks import admission
from shared.kinds import CLUSTER_SERVICE_VERSION
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_webhook_users(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each version in the namespace of the OperatorGroup at `ref` that has admission webhooks."""
    found = [one for one in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, ref.namespace)) if not one.is_copy]
    emits = tuple(Emit(names.CONFIG_CHANGED, Ref.of(one)) for one in found if admission(one))
    return Outcome(emits=emits, summary=f"concerns {len(emits)} versions")
