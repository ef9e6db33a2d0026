"""Keep an Operator in step with the objects that carry its component label; make it when there is one (csv.md §12.5).

Reads:  the Operator; Subscriptions and versions with its label, and when none is being installed all objects with its
        label, of most kinds their metadata alone. Secrets are none of them, and neither is what is not marked as ours
        where a cluster has many of a kind: not every change of those makes an event, so who left would stay listed.
Writes: the Operator, and its status when it differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.api.manifest import ReadOnly
from shared.api.views import Object
from shared.domain.subscription import operators
from shared.kinds import HIGH_CARDINALITY, Kind, Ref
from shared.names import ANY, MANAGED
from shared.ports import Clock, Cluster, Inventory, Listing
from shared.step import NOTHING, Create, Outcome, SetStatus, Write


def update_operator(ref: Ref, cluster: Cluster, inventory: Inventory, clock: Clock) -> Outcome:
    """Key: the Operator, which need not exist. While a version is being installed, that is waited for."""
    key = operators.key(ref.name)
    if not key:
        return Outcome(summary="no label can name it")
    operator = Object.of(cluster.get(ref))
    if operator is not None and operator.is_deleted:
        return NOTHING
    found = _listed(cluster, operators.INSTALLING, key)
    if wait := operators.wait_for_install(ref.name, found, clock.now()):
        return Outcome(again_in=wait, summary="its version is being installed")
    found += _listed(cluster, [kind for kind in operators.WHOLE if kind not in operators.INSTALLING], key)
    bare = [one for kind in operators.BARE for one, _ in inventory.versions(kind, labels=_labels(kind, key))]
    present: ReadOnly = operator.status if operator is not None else {}
    status = operators.status(present, ref.name, found, bare)
    if operator is None:
        made: tuple[Write, ...] = (Create(operators.operator(ref.name)), SetStatus(ref, status))
        return Outcome(made if operators.refs_of(status) else (), summary="made of its components")
    if operators.is_current(operator.status, status):
        return NOTHING
    return Outcome((SetStatus(ref, status, operator.resource_version),), summary="its components changed")


def _listed(cluster: Cluster, listed_kinds: Iterable[Kind], key: str) -> list[Object]:
    listed = cluster.list_all([Listing(kind, labels=_labels(kind, key)) for kind in listed_kinds])
    return [one for objects in listed for one in Object.each(objects)]


def _labels(kind: Kind, key: str) -> Mapping[str, str]:
    return {key: ANY, MANAGED: "true"} if kind in HIGH_CARDINALITY else {key: ANY}
