"""What else a move between Subscription and ClusterExtension makes and takes away, beside the objects of the bundle."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ClusterExtension, ClusterObjectSet, Csv, Object, Subscription
from shared.domain.extension.outlook import Change, Effect, identity_of
from shared.domain.objects.ownership import is_labelled_for
from shared.kinds import (
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_CONDITION,
    RBAC,
    SECRET,
)
from shared.names import V1_OBJECT_DATA, V1_OWNER_NAME

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_DEPENDENT: Final = (INSTALL_PLAN, OPERATOR_CONDITION, *RBAC)


def coming(manifests: Iterable[ReadOnly]) -> tuple[Change, ...]:
    """Objects that come."""
    return tuple(Change(Effect.CREATE, one) for one in manifests)


def of_subscription(
    cluster: KubeClient, subscription: Subscription, csv: Csv, kept: Collection[ReadOnly]
) -> Iterator[Change]:
    """The Subscription, its version, and what the garbage collector takes with them."""
    stay = {identity_of(one) for one in kept}
    yield Change(Effect.REMOVE, subscription.raw)
    yield Change(Effect.REMOVE, _of_kind(csv.raw))
    uids = {subscription.uid, csv.uid}
    for kind in _DEPENDENT:
        for one in Object.each(cluster.list(kind, csv.namespace if kind.is_namespaced else "")):
            owners = {each.uid for each in one.owners}
            if (owners and owners <= uids) or (not owners and is_labelled_for(one, csv)):
                identity = {"apiVersion": kind.api_version, "kind": kind.kind}
                found = {**one.raw, **identity}
                yield from () if identity_of(found) in stay else (Change(Effect.REMOVE, found),)


def copies_of(csv: Csv, csvs: Iterable[Csv]) -> tuple[str, ...]:
    """A remark about copies of the version in other namespaces."""
    count = sum(one.is_copy and (one.name, one.origin) == (csv.name, csv.namespace) for one in csvs)
    return (f"{count} copies of {csv.name} in other namespaces go with it",) if count else ()


def of_extension(cluster: KubeClient, extension: ClusterExtension, namespace: str) -> Iterator[Change]:
    """The extension, its revisions, and their Secrets in a namespace."""
    yield Change(Effect.REMOVE, extension.raw)
    labels = {V1_OWNER_NAME: extension.name}
    for one in ClusterObjectSet.each(cluster.list(CLUSTER_OBJECT_SET, labels=labels)):
        yield Change(Effect.REMOVE, one.raw)
    for secret in cluster.list(SECRET, namespace, labels=labels):
        if secret.get("type") == V1_OBJECT_DATA:
            yield Change(Effect.REMOVE, secret)


def version(name: str, namespace: str) -> Manifest:
    """A version as far as it is known before its bundle is unpacked."""
    return _of_kind({"metadata": {"name": name, "namespace": namespace}})


def _of_kind(manifest: ReadOnly) -> Manifest:
    identity = {"apiVersion": CLUSTER_SERVICE_VERSION.api_version, "kind": CLUSTER_SERVICE_VERSION.kind}
    return {**manifest, **identity}
