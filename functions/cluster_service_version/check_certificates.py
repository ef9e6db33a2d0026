"""Look whether the Secrets of serving certificates are as they were made: no event tells where none may be watched.

Reads:  the rights that each Deployment that serves has, for where they are; the versions there; their Secrets, and
        Deployments.
Writes: nothing.
Emits:  `io.olmf.requirement.changed` for each version whose Secret was deleted or edited, or is to be rotated.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import kinds, names
from shared.api.views import Csv, Deployment, RoleBinding
from shared.domain.endpoints.certificates import is_harmed
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.sharing import serving_namespaces
from shared.ports import Clock, Cluster, Keys
from shared.step import Emit, Outcome, Ref


def check_certificates(_: Ref, cluster: Cluster, clock: Clock, *, keys: Keys) -> Outcome:
    """Emit an event for each version that works, and has a certificate that does not (key: anything)."""
    bindings = RoleBinding.each(cluster.list(kinds.CLUSTER_ROLE_BINDING, labels={names.MANAGED: "true"}))
    found = [csv for csv in _serving(cluster, bindings) if _is_harmed(csv, cluster, clock, keys)]
    emits = tuple(Emit(names.REQUIREMENT_CHANGED, Ref.of(csv)) for csv in found)
    return Outcome(emits=emits, summary=f"the certificates of {len(found)} versions were harmed, or end")


def _serving(cluster: Cluster, bindings: tuple[RoleBinding, ...]) -> Iterator[Csv]:
    """Versions in other phases are looked at anyway."""
    for namespace in serving_namespaces(bindings):
        for csv in Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, namespace)):
            if csv.phase == "Succeeded" and not csv.is_copy and not csv.is_deleted:
                yield csv


def _is_harmed(csv: Csv, cluster: Cluster, clock: Clock, keys: Keys) -> bool:
    return any(
        is_harmed(
            kinds.SECRET.look_up(keys.stored, one.secret, csv.namespace),
            Deployment.of(kinds.DEPLOYMENT.look_up(cluster.get, one.deployment, csv.namespace)),
            one.hosts,
            clock.now(),
        )
        for one in endpoints_of(csv)
    )
