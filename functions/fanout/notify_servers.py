"""Enqueue the versions whose Pods somebody took out of a binding that operators of one name share.

Reads:  both bindings of that name; the ClusterServiceVersions of the namespaces that one of them names alone.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import RoleBinding
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.sharing import bindings, service_behind, torn
from shared.ports import Cluster
from shared.reading.originals import originals
from shared.step import Emit, Outcome, Ref


def notify_servers(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each version that serves behind the Service that the binding at `ref` is named after, and lacks a right.

    When both bindings are gone only the owner of the first knows: its own steps are told.
    """
    service = service_behind(ref.name)
    namespaces = torn(RoleBinding.of(cluster.get(one)) for one in bindings(service))
    found = (csv for csv in originals(namespaces, cluster) if any(one.service == service for one in endpoints_of(csv)))
    emits = tuple(Emit(names.CONFIG_CHANGED, Ref.of(csv)) for csv in found)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} versions")
