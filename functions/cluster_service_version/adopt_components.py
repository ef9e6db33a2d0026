"""Label what belongs to a version as components of its Operators, so that these list it (csv.md §12.3).

Reads:  the version; what is marked as ours in its namespace or labelled as its own, the definitions that it owns.
Writes: the labels that are missing.
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.views import Csv, Object
from shared.domain.objects.ownership import owner_labels
from shared.domain.subscription import operators
from shared.kinds import Ref
from shared.ports import Cluster, Listing
from shared.step import NOTHING, Merge, Outcome

NAMESPACED = (
    kinds.DEPLOYMENT, kinds.SERVICE, kinds.CONFIG_MAP, kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING,
)  # fmt: skip
CLUSTER_SCOPED = (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING, kinds.API_SERVICE)


def adopt_components(ref: Ref, cluster: Cluster) -> Outcome:
    """Key: the version. A copy has no components, and neither has a version without component labels."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_leaving or not operators.names_of(csv.labels):
        return NOTHING
    managed = {names.MANAGED: "true"}
    listings = [
        *(Listing(kind, ref.namespace, managed) for kind in NAMESPACED),
        *(Listing(kind, labels=managed | owner_labels(csv)) for kind in CLUSTER_SCOPED),
    ]
    defined = (kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none(one.name) for one in csv.owned_definitions)
    named = [kinds.OPERATOR_CONDITION.ref(ref.name, ref.namespace), *filter(None, defined)]
    found = [*(one for objects in cluster.list_all(listings) for one in objects), *cluster.get_all(named)]
    patches = operators.adoptable(csv, Object.each(filter(None, found)))
    writes = tuple(Merge(one, patch) for one, patch in patches)
    return Outcome(writes, summary=f"{len(writes)} of its objects lacked a component label")
