"""Moves what a ClusterExtension installed back to a Subscription while it runs on; a killed one is carried on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from eventing.cli.commands import quoted
from eventing.cli.requests.adoption import Forecast, is_gone, until
from eventing.cli.requests.deleting import delete
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import spec_for
from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, labels_of
from shared.api.views import ClusterExtension, ClusterObjectSet, Csv, Object, OperatorGroup, Subscription
from shared.domain.command import olmf
from shared.domain.extension.outlook import Change, Effect
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.sources import resolved
from shared.domain.extension.revisions import bundle_of
from shared.kinds import (
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    OPERATOR_GROUP,
    RBAC,
    SECRET,
    SUBSCRIPTION,
    Ref,
)
from shared.reading.extension import revisions_of
from shared.reading.present_objects import look
from shared.reading.revision import secrets_of

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_RIGHTS: Final = tuple(kind.kind for kind in RBAC)
_SERVING: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Certificate")


@dataclass(frozen=True, slots=True)
class Wish:
    """Which extension is to be released, and how."""

    name: str
    source: str = ""
    """`namespace/name` of the CatalogSource; empty: the only one that has the package."""
    may_restart: bool = False
    """Whether pods may be restarted."""


@dataclass(frozen=True, slots=True)
class _Release:
    """What becomes of what."""

    extension: ClusterExtension
    bundle: str
    present: tuple[ReadOnly, ...]
    subscription: Manifest

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(Change(Effect.REMOVE if one.get("kind") in _RIGHTS else Effect.KEEP, one) for one in self.present)


def forecast(cluster: KubeClient, wish: Wish) -> Forecast:
    """What `release` would do. PackageError when there is no such extension, or when it has begun."""
    if begun := _begun(cluster, wish.name):
        raise PackageError(f"it was interrupted: Subscription {begun.namespace}/{begun.name} waits; --apply carries on")
    found, blockers = _release(cluster, wish)
    return Forecast(found.changes if found else (), tuple(blockers))


def release(cluster: KubeClient, wish: Wish, timeout: timedelta, namespace: str) -> Iterator[str]:
    """Move it; every step says that it was done. `namespace` is that of the Secrets of revisions. PackageError."""
    deadline = time.monotonic() + timeout.total_seconds()
    subscription = _begun(cluster, wish.name)
    if subscription is None and (done := _done(cluster, wish)):
        yield f"Subscription {done.namespace}/{done.name} has it already"
        return
    if subscription is None:
        found, blockers = _release(cluster, wish)
        if found is None or blockers:
            raise PackageError("; ".join(blockers))
        subscription = Subscription(cluster.create(found.subscription))
        yield f"made Subscription {subscription.namespace}/{subscription.name}, on hold"
    again = "the same command carries on"
    if extension := ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, wish.name)):
        _orphan(cluster, CLUSTER_EXTENSION.ref(wish.name), extension)
        gone = partial(is_gone, cluster, CLUSTER_EXTENSION.ref(wish.name))
        until(gone, deadline, f"ClusterExtension {wish.name} is still being deleted; {again}")
        yield f"deleted ClusterExtension {wish.name}; its revisions stay"
    labels = {names.V1_OWNER_NAME: wish.name}
    for one in ClusterObjectSet.each(cluster.list(CLUSTER_OBJECT_SET, labels=labels)):
        ref = CLUSTER_OBJECT_SET.ref(one.name)
        _orphan(cluster, ref, one)
        until(partial(is_gone, cluster, ref), deadline, f"ClusterObjectSet {one.name} is still being deleted; {again}")
        yield f"deleted ClusterObjectSet {one.name}; its objects stay"
    ref = SUBSCRIPTION.ref(subscription.name, subscription.namespace)
    if subscription.annotation(names.HOLD):
        cluster.merge(ref, {"metadata": {"annotations": {names.HOLD: None}}})
    csv = subscription.starting_csv
    why = quoted(olmf("why", f"Subscription/{subscription.name}", namespace=subscription.namespace))
    until(
        partial(_is_installed, cluster, csv, subscription.namespace), deadline,
        f"{csv} is not Succeeded yet; {why} shows more; {again}",
    )  # fmt: skip
    yield f"ClusterServiceVersion {csv} has the objects"
    yield from _swept(cluster, wish.name, namespace)
    cluster.merge(ref, {"metadata": {"annotations": {names.RELEASES: None}}})


def _orphan(cluster: KubeClient, ref: Ref, found: Object) -> None:
    """Delete it, and leave what it owns."""
    if not found.is_deleted:
        cluster.delete(ref, uid=found.uid, propagation="Orphan")


def _begun(cluster: KubeClient, name: str) -> Subscription | None:
    found = Subscription.each(cluster.list(SUBSCRIPTION))
    return next((one for one in found if one.annotation(names.RELEASES) == name), None)


def _done(cluster: KubeClient, wish: Wish) -> Subscription | None:
    """The Subscription of its name, where the extension is gone: an earlier attempt came to its end."""
    found = (one for one in Subscription.each(cluster.list(SUBSCRIPTION)) if one.name == wish.name)
    return None if CLUSTER_EXTENSION.look_up(cluster.get, wish.name) else next(found, None)


def _release(cluster: KubeClient, wish: Wish) -> tuple[_Release | None, list[str]]:
    """What would become of it, and what stands in the way. PackageError when there is no such extension."""
    extension = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, wish.name))
    if extension is None:
        hint = quoted(olmf("extension", "ls"))
        raise PackageError(f"there is no ClusterExtension {wish.name!r}; {hint} lists them")
    revisions = revisions_of(extension, cluster)
    if revisions.installed is None or revisions.rolling or extension.annotation(names.ADOPTS):
        return None, [f"ClusterExtension {wish.name} is not at rest: nothing is installed, or something is rolled out"]
    try:
        phases = resolved(revisions.installed.raw, secrets_of(revisions.installed, cluster))
    except Unreadable as error:
        return None, [f"what {revisions.installed.name} has installed is not known: {error}"]
    present = tuple(one for phase in phases for _, one in look(phase, cluster, cluster) if one is not None)
    bundle = bundle_of(revisions.installed).name
    blockers = [*_unsuited(extension, cluster), *_served(present)]
    if not wish.may_restart:
        blockers += _restarted(present, bundle)
    try:
        return _Release(extension, bundle, present, _subscription(cluster, extension, bundle, wish)), blockers
    except PackageError as error:
        return None, [*blockers, str(error)]


def _subscription(cluster: KubeClient, extension: ClusterExtension, bundle: str, wish: Wish) -> Manifest:
    """On hold until the extension has let go; to exactly what runs. PackageError."""
    package, place = fields.text(extension.source, "packageName"), extension.install_namespace
    channels: Sequence[Any] = extension.source.get("channels") or ()
    channel = str(channels[0]) if len(channels) == 1 else ""
    spec = spec_for(cluster, Request(package, place, channel, wish.source, bundle))
    annotations = {names.HOLD: f"comes from ClusterExtension {wish.name}", names.RELEASES: wish.name}
    meta = {"name": package, "namespace": place, "annotations": {**annotations, names.VERSION: bundle}}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}


def _unsuited(extension: ClusterExtension, cluster: KubeClient) -> Iterator[str]:
    """Why its namespace is none for an operator of a Subscription."""
    place, package = extension.install_namespace, fields.text(extension.source, "packageName")
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP, place))
    if len(groups) != 1 or groups[0].target_namespaces or groups[0].selector or groups[0].service_account:
        yield f"namespace {place} must have one OperatorGroup, which selects all namespaces and names no account"
    for one in Subscription.each(cluster.list(SUBSCRIPTION, place)):
        if one.package == package:
            yield f"Subscription {place}/{one.name} of package {package} is there already"
    if extension.config:
        yield f"ClusterExtension {extension.name} has spec.config, which a Subscription would not have"


def _served(present: Sequence[ReadOnly]) -> Iterator[str]:
    for one in present:
        if one.get("kind") in _SERVING:
            yield f"{one.get('kind')} {Object(one).name}: its certificates would be made by somebody else"


def _restarted(present: Sequence[ReadOnly], bundle: str) -> Iterator[str]:
    """Deployments whose pods would be replaced: a version gives them the name of its OperatorCondition."""
    condition = {"name": "OPERATOR_CONDITION_NAME", "value": bundle}
    for one in present:
        if one.get("kind") == DEPLOYMENT.kind:
            containers = fields.parts(one, "spec", "template", "spec", "containers")
            if any(condition not in fields.parts(each, "env") for each in containers):
                why = "its pods would be restarted, for OPERATOR_CONDITION_NAME; --restart-pods allows it"
                yield f"Deployment {Object(one).name}: {why}"


def _swept(cluster: KubeClient, name: str, namespace: str) -> Iterator[str]:
    """The rights that the extension gave, and the Secrets of its revisions."""
    labels = {names.V1_OWNER_NAME: name}
    for kind in RBAC:
        for one in Object.each(cluster.list(kind, labels=labels)):
            if not one.owners and names.OWNER not in labels_of(one.raw):
                delete(cluster, Ref.of(one.raw), one.uid)
                yield f"deleted {one.kind} {one.name}"
    for one in Object.each(cluster.list(SECRET, namespace, labels=labels)):
        if one.raw.get("type") == names.V1_OBJECT_DATA:
            delete(cluster, Ref.of(one.raw), one.uid)


def _is_installed(cluster: KubeClient, name: str, namespace: str) -> bool:
    """Whether the version works."""
    csv = Csv.of(cluster.get(CLUSTER_SERVICE_VERSION.ref(name, namespace)))
    return csv is not None and csv.is_succeeded
