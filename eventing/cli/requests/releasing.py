"""Moves an operator from a ClusterExtension to a Subscription while it runs; an interrupted move can be continued."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from eventing.cli.commands import quoted
from eventing.cli.requests.adoption import Forecast, is_gone, until
from eventing.cli.requests.moved_objects import coming, of_extension, version
from eventing.cli.requests.removal import delete
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import spec_for
from eventing.diagnosis.status.fixes import unpinning
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
from shared.reading.present_objects import read_phase
from shared.reading.revision import secrets_of

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_RBAC_KINDS: Final = tuple(kind.kind for kind in RBAC)
_SERVING: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Certificate")


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The extension to release, and options."""

    name: str
    source: str = ""
    """`namespace/name` of the CatalogSource; empty: the only one that has the package."""
    may_restart: bool = False
    """Whether pods may be restarted."""


@dataclass(frozen=True, slots=True)
class _Release:
    """What the release keeps, and what it makes."""

    extension: ClusterExtension
    bundle: str
    present: tuple[ReadOnly, ...]
    subscription: Manifest

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(Effect.REMOVE if one.get("kind") in _RBAC_KINDS else Effect.KEEP, one) for one in self.present
        )


def forecast(cluster: KubeClient, request: ReleaseRequest, namespace: str) -> Forecast:
    """The changes that `release` would make; `namespace` holds the Secrets of revisions.

    PackageError without such an extension, or when a release was begun.
    """
    if begun := _begun(cluster, request.name):
        raise PackageError(
            f"a release was begun (Subscription {begun.namespace}/{begun.name} is on hold); --apply continues it"
        )
    found, blockers = _release(cluster, request)
    if found is None:
        return Forecast(blockers=tuple(blockers))
    csv = version(found.bundle, found.extension.install_namespace)
    gone = of_extension(cluster, found.extension, namespace)
    everything = (*coming((found.subscription, csv)), *found.changes, *gone)
    anew = f"the InstallPlan of the Subscription makes the roles and bindings of {found.bundle} anew, by other names"
    return Forecast(everything, tuple(blockers), (anew, f"the Subscription {_pinned(found.bundle)}"))


def release(cluster: KubeClient, request: ReleaseRequest, timeout: timedelta, namespace: str) -> Iterator[str]:
    """Move it, and yield a message after each step. `namespace` holds the Secrets of revisions. PackageError."""
    deadline = time.monotonic() + timeout.total_seconds()
    subscription = _begun(cluster, request.name)
    if subscription is None and (done := _done(cluster, request)):
        yield f"Subscription {done.namespace}/{done.name} has it already"
        return
    if subscription is None:
        found, blockers = _release(cluster, request)
        if found is None or blockers:
            raise PackageError("; ".join(blockers))
        subscription = Subscription(cluster.create(found.subscription))
        what = f"{subscription.namespace}/{subscription.name}"
        yield f"made Subscription {what}, on hold until the extension is gone; it {_pinned(subscription.starting_csv)}"
    again = "the same command continues"
    if extension := ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, request.name)):
        _orphan(cluster, CLUSTER_EXTENSION.ref(request.name), extension)
        gone = partial(is_gone, cluster, CLUSTER_EXTENSION.ref(request.name))
        until(gone, deadline, f"ClusterExtension {request.name} is still being deleted; {again}")
        yield f"deleted ClusterExtension {request.name}; its revisions stay"
    labels = {names.V1_OWNER_NAME: request.name}
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
    yield from _deleted_leftovers(cluster, request.name, namespace)
    cluster.merge(ref, {"metadata": {"annotations": {names.RELEASES: None}}})
    lifted = quoted(unpinning(subscription.name, subscription.namespace))
    yield f"Subscription {subscription.name} stays pinned to {csv}; {lifted} lifts the pin"


def _pinned(bundle: str) -> str:
    return f"is pinned to {bundle} ({names.VERSION})"


def _orphan(cluster: KubeClient, ref: Ref, found: Object) -> None:
    """Delete it without what it owns."""
    if not found.is_deleted:
        cluster.delete(ref, uid=found.uid, propagation="Orphan")


def _begun(cluster: KubeClient, name: str) -> Subscription | None:
    found = Subscription.each(cluster.list(SUBSCRIPTION))
    return next((one for one in found if one.annotation(names.RELEASES) == name), None)


def _done(cluster: KubeClient, request: ReleaseRequest) -> Subscription | None:
    """The Subscription of that name, where the extension is gone: an earlier release is complete."""
    found = (one for one in Subscription.each(cluster.list(SUBSCRIPTION)) if one.name == request.name)
    return None if CLUSTER_EXTENSION.look_up(cluster.get, request.name) else next(found, None)


def _release(cluster: KubeClient, request: ReleaseRequest) -> tuple[_Release | None, list[str]]:
    """The release and its blockers. PackageError when there is no such extension."""
    extension = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, request.name))
    if extension is None:
        hint = quoted(olmf("extension", "ls"))
        raise PackageError(f"there is no ClusterExtension {request.name!r}; {hint} lists them")
    revisions = revisions_of(extension, cluster)
    if revisions.installed is None or revisions.rolling or extension.annotation(names.ADOPTS):
        return None, [
            f"ClusterExtension {request.name} cannot be released: nothing is installed, or a revision is rolling out"
        ]
    try:
        phases = resolved(revisions.installed.raw, secrets_of(revisions.installed, cluster))
    except Unreadable as error:
        return None, [f"the objects of {revisions.installed.name} are not known: {error}"]
    present = tuple(one for phase in phases for _, one in read_phase(phase, cluster, cluster) if one is not None)
    bundle = bundle_of(revisions.installed).name
    blockers = [*_unsuitable(extension, cluster), *_served(present)]
    if not request.may_restart:
        blockers += _restarted(present, bundle)
    try:
        return _Release(extension, bundle, present, _subscription(cluster, extension, bundle, request)), blockers
    except PackageError as error:
        return None, [*blockers, str(error)]


def _subscription(cluster: KubeClient, extension: ClusterExtension, bundle: str, request: ReleaseRequest) -> Manifest:
    """The Subscription, on hold until the extension is deleted, and pinned to the installed version. PackageError."""
    package, namespace = fields.text(extension.source, "packageName"), extension.install_namespace
    channels: Sequence[Any] = extension.source.get("channels") or ()
    channel = str(channels[0]) if len(channels) == 1 else ""
    spec = spec_for(cluster, Request(package, namespace, channel, request.source, bundle))
    annotations = {names.HOLD: f"comes from ClusterExtension {request.name}", names.RELEASES: request.name}
    meta = {"name": package, "namespace": namespace, "annotations": {**annotations, names.VERSION: bundle}}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}


def _unsuitable(extension: ClusterExtension, cluster: KubeClient) -> Iterator[str]:
    """Why its namespace cannot have the Subscription."""
    namespace, package = extension.install_namespace, fields.text(extension.source, "packageName")
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP, namespace))
    if len(groups) != 1 or groups[0].target_namespaces or groups[0].selector or groups[0].service_account:
        yield f"namespace {namespace} must have one OperatorGroup, which selects all namespaces and names no account"
    for one in Subscription.each(cluster.list(SUBSCRIPTION, namespace)):
        if one.package == package:
            yield f"Subscription {namespace}/{one.name} of package {package} exists already"
    if extension.config:
        yield f"ClusterExtension {extension.name} has spec.config, which a Subscription would not have"


def _served(present: Sequence[ReadOnly]) -> Iterator[str]:
    for one in present:
        if one.get("kind") in _SERVING:
            yield f"{one.get('kind')} {Object(one).name}: OLM would make its certificates in another way"


def _restarted(present: Sequence[ReadOnly], bundle: str) -> Iterator[str]:
    """Deployments whose pods would be replaced: a CSV adds the name of its OperatorCondition to their environment."""
    condition = {"name": "OPERATOR_CONDITION_NAME", "value": bundle}
    for one in present:
        if one.get("kind") == DEPLOYMENT.kind:
            containers = fields.parts(one, "spec", "template", "spec", "containers")
            if any(condition not in fields.parts(each, "env") for each in containers):
                why = "its pods would be restarted, for OPERATOR_CONDITION_NAME; --restart-pods allows it"
                yield f"Deployment {Object(one).name}: {why}"


def _deleted_leftovers(cluster: KubeClient, name: str, namespace: str) -> Iterator[str]:
    """Deletes the RBAC objects of the extension, and the Secrets of its revisions."""
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
    """Whether the CSV has succeeded."""
    csv = Csv.of(cluster.get(CLUSTER_SERVICE_VERSION.ref(name, namespace)))
    return csv is not None and csv.is_succeeded
