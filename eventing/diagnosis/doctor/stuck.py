"""Deletions that do not end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from eventing.diagnosis.doctor.finding import Finding
from shared import kinds
from shared.api import fields
from shared.api.views import Namespace, Object
from shared.domain.command import Fix, kubectl, olmf
from shared.domain.durations import age
from shared.kinds import Kind, Ref
from shared.names import CSV_CLEANUP, V1_CATALOG_FINALIZER, V1_TEARDOWN
from shared.ports import Cluster

PATIENCE: Final = timedelta(minutes=5)
"""A deletion that takes longer waits for something."""
_KINDS: Final = (
    kinds.CATALOG_SOURCE, kinds.SUBSCRIPTION, kinds.INSTALL_PLAN, kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_GROUP,
    kinds.OPERATOR_CONDITION, kinds.OPERATOR, kinds.CLUSTER_CATALOG, kinds.CLUSTER_EXTENSION, kinds.CLUSTER_OBJECT_SET,
    kinds.CUSTOM_RESOURCE_DEFINITION,
)  # fmt: skip
_OURS: Final = frozenset({CSV_CLEANUP, V1_CATALOG_FINALIZER, V1_TEARDOWN})
"""Finalizers whose work is ours."""


def check_namespaces(cluster: Cluster, now: datetime) -> Iterator[Finding]:
    """Namespaces that do not end, with what the namespace controller says of it."""
    for one in Namespace.each(cluster.list(kinds.NAMESPACE)):
        if one.is_terminating and (since := _late(one, now)):
            why = "; ".join(each.message for each in one.conditions if each.is_true and each.message)
            fix = Fix("look at what is left in it", kubectl("get", "namespace", one.name, "-o", "yaml"))
            state = f"is being deleted for {since}{f': {why}' if why else ''}"
            yield Finding(Ref.of(one.raw), state, "nothing can be created in it", fix)


def check_finalizers(cluster: Cluster, now: datetime) -> Iterator[Finding]:
    """Objects of ours, and definitions, that are kept by a finalizer."""
    for kind in _KINDS:
        for one in Object.each(cluster.list(kind)):
            if one.finalizers and (since := _late(one, now)):
                state = f"is being deleted for {since} and waits for {', '.join(one.finalizers)}"
                yield Finding(Ref.of(one.raw), state, "what it owns stays, and so does its namespace", _fix(kind, one))


def _late(one: Object, now: datetime) -> str:
    """How long it has been going; empty when it is not, or not for long."""
    since = fields.moment(one.raw, "metadata", "deletionTimestamp")
    return age(since.isoformat(), now) if since and now - since > PATIENCE else ""


def _fix(kind: Kind, one: Object) -> Fix:
    if _OURS.issuperset(one.finalizers):
        return Fix("start the installation: the finalizer is its own", olmf("status"))
    described = kubectl("get", f"{kind.plural}.{kind.group}", one.name, "-o", "yaml", namespace=one.namespace)
    return Fix("start who set it; take it away only when that one is gone for ever", described)
