"""Moves an operator from a Subscription to a ClusterExtension while it runs; an interrupted move can be continued."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from eventing.cli.commands import quoted
from eventing.cli.requests.moved_objects import coming, copies_of, of_subscription
from eventing.cli.requests.removal import delete
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import POLL_SECONDS
from shared import names
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest, ReadOnly, annotations_of, resource_version_of
from shared.api.views import ClusterExtension, ClusterObjectSet, Csv, OperatorGroup, Subscription
from shared.domain.command import olmf
from shared.domain.extension.adoption import (
    Operator,
    as_they_are,
    offered,
    refusals,
    spec_of,
    taking_over,
    unlike,
)
from shared.domain.extension.decision import Target, decide
from shared.domain.extension.making import Addition, Refusal, Rendered, change, rendered
from shared.domain.extension.outlook import Change, changes
from shared.domain.extension.revisions import Revisions
from shared.kinds import (
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    OPERATOR_GROUP,
    Ref,
)
from shared.reading.extension import cert_provider, read_inputs
from shared.reading.present_objects import read_phase

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.bundle.model import Files
    from shared.reading.extension import Sources

_NOBODY: Final = "none.olmf.io"
"""Name of a catalog that no cluster has, so that the extension resolves to nothing until the move is complete."""


@dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """The operator to move, and the source of the content of its bundle."""

    subscription: Ref
    content: Sources
    files_of: Callable[[str], Files]
    catalog: str = ""
    """Name of the only ClusterCatalog that the extension may use; empty: any."""

    @property
    def annotation(self) -> str:
        """The value of `names.ADOPTS` on the extension."""
        return f"{self.subscription.namespace}/{self.subscription.name}"


@dataclass(frozen=True, slots=True)
class Forecast:
    """The changes of a move, and what blocks it."""

    changes: tuple[Change, ...] = ()
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """What else should be known of it."""


@dataclass(frozen=True, slots=True)
class _Move:
    operator: Operator
    made: Rendered
    present: tuple[ReadOnly, ...]

    @property
    def phases(self) -> tuple[Manifest, ...]:
        return tuple(one for phase in as_they_are(self.made.phases, self.present) for one in phase.objects)


def forecast(cluster: KubeClient, request: AdoptionRequest) -> Forecast:
    """The changes that `adopt` would make. PackageError when there is no such operator."""
    try:
        operator = _operator(cluster, request)
        move = _move(cluster, request, operator)
    except _Refused as error:
        return Forecast(blockers=error.reasons)
    extension = ClusterExtension(_first(operator, request))
    found = _addition(extension, move, request.content.policy.global_namespace)
    return Forecast(
        (
            *coming((extension.raw, *found.secrets, found.revision)),
            *changes(move.present, list(move.phases)),
            *of_subscription(cluster, operator.subscription, operator.csv, move.phases),
        ),
        remarks=copies_of(operator.csv, Csv.each(cluster.list(CLUSTER_SERVICE_VERSION))),
    )


def adopt(cluster: KubeClient, request: AdoptionRequest, timeout: timedelta) -> Iterator[str]:
    """Move it, and yield a message after each step. PackageError says what is wrong, and how to continue."""
    deadline = time.monotonic() + timeout.total_seconds()
    extension = _begun(cluster, request)
    if extension is None and (done := _done(cluster, request)):
        yield f"ClusterExtension {done.name} manages it already"
        return
    if extension is None:
        operator = _operator(cluster, request)
        try:
            _move(cluster, request, operator)
        except _Refused as error:
            raise PackageError("; ".join(error.reasons)) from error
        extension = ClusterExtension(cluster.create(_first(operator, request)))
        yield f"made ClusterExtension {extension.name}, pinned to {operator.csv.version}"
    revision = CLUSTER_OBJECT_SET.ref(f"{extension.name}-1")
    if cluster.get(revision) is None:
        yield from _handed_over(cluster, request, extension)
    late = f"{revision.name} did not adopt the objects in time; {_back(extension)}"
    until(partial(_has_succeeded, cluster, revision), deadline, late)
    yield f"ClusterObjectSet {revision.name} controls the objects"
    yield from _let_go(cluster, request, extension, deadline)
    final = {key: value for key, value in extension.source.items() if key != "selector"}
    selector = {"matchLabels": {names.V1_NAME: request.catalog}} if request.catalog else None
    source = {"spec": {"source": {"catalog": {**final, "selector": selector}}}}
    cluster.merge(_ref(extension), {"metadata": {"annotations": {names.ADOPTS: None}}, **source})
    yield f"ClusterExtension {extension.name} manages it; edit spec.source.catalog.version for the next version"


class _Refused(Exception):
    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def _begun(cluster: KubeClient, request: AdoptionRequest) -> ClusterExtension | None:
    """The extension of an interrupted move."""
    found = ClusterExtension.each(cluster.list(CLUSTER_EXTENSION))
    return next((one for one in found if one.annotation(names.ADOPTS) == request.annotation), None)


def _done(cluster: KubeClient, request: AdoptionRequest) -> ClusterExtension | None:
    """The extension of that name, where the Subscription is gone: an earlier move is complete."""
    found = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, request.subscription.name))
    is_same = found is not None and found.install_namespace == request.subscription.namespace
    return found if is_same and cluster.get(request.subscription) is None else None


def _first(operator: Operator, request: AdoptionRequest) -> Manifest:
    meta = {"name": operator.subscription.package, "annotations": {names.ADOPTS: request.annotation}}
    kind = {"apiVersion": CLUSTER_EXTENSION.api_version, "kind": CLUSTER_EXTENSION.kind}
    return {**kind, "metadata": meta, "spec": spec_of(operator, _NOBODY)}


def _operator(cluster: KubeClient, request: AdoptionRequest) -> Operator:
    """The operator. PackageError when there is none."""
    ref = request.subscription
    subscription = Subscription.of(cluster.get(ref))
    if subscription is None:
        hint = quoted(olmf("list", namespace=ref.namespace))
        raise PackageError(f"there is no Subscription {ref.name!r} in namespace {ref.namespace}; {hint} lists them")
    csvs = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION))
    mine = [one for one in csvs if (one.namespace, one.name) == (ref.namespace, subscription.installed_csv)]
    if not mine:
        raise PackageError(f"Subscription {ref.name} has installed nothing yet")
    others = tuple(one for one in csvs if not one.is_copy and one.uid != mine[0].uid)
    groups = tuple(OperatorGroup.each(cluster.list(OPERATOR_GROUP, ref.namespace)))
    extensions = ClusterExtension.each(cluster.list(CLUSTER_EXTENSION))
    other_extensions = tuple(one for one in extensions if one.annotation(names.ADOPTS) != request.annotation)
    return Operator(subscription, mine[0], groups, others, other_extensions)


def _move(
    cluster: KubeClient, request: AdoptionRequest, operator: Operator, extension: ClusterExtension | None = None
) -> _Move:
    """The objects of the extension. _Refused."""
    if reasons := refusals(operator):
        raise _Refused(*reasons)
    identity = {"apiVersion": CLUSTER_EXTENSION.api_version, "kind": CLUSTER_EXTENSION.kind}
    meta = {"name": operator.subscription.package, **(extension.raw["metadata"] if extension else {})}
    final = ClusterExtension({**identity, "metadata": meta, "spec": spec_of(operator, request.catalog)})
    target = decide(final, Revisions(), read_inputs(final, request.content).catalogs)
    if not isinstance(target, Target):
        answer = target.resolution.error if target.resolution else "there is no ClusterCatalog"
        raise _Refused(f"no ClusterCatalog offers {operator.csv.name}: {answer}")
    if target.bundle.name != operator.csv.name:
        raise _Refused(f"the ClusterCatalogs offer {target.bundle.name}, not {operator.csv.name}")
    made = rendered(final, target, request.files_of(target.bundle.image), partial(cert_provider, cluster))
    if isinstance(made, Refusal):
        raise _Refused(made.why)
    there = [one for phase in made.phases for _, one in read_phase(phase, cluster, cluster) if one is not None]
    move = _Move(operator, made, tuple(there))
    if reasons := tuple(unlike(operator, move.phases, there)):
        raise _Refused(*reasons)
    return move


def _handed_over(cluster: KubeClient, request: AdoptionRequest, extension: ClusterExtension) -> Iterator[str]:
    """Stop the steps of Subscription and CSV, and create the first revision, which adopts the objects."""
    operator = _operator(cluster, request)
    try:
        move = _move(cluster, request, operator, extension)
    except _Refused as error:
        raise PackageError(f"{'; '.join(error.reasons)}; {_back(extension)}") from error
    hold = {names.HOLD: operator.subscription.annotation(names.HOLD) or f"moves to ClusterExtension {extension.name}"}
    _annotate(cluster, operator.subscription.raw, hold)
    _annotate(cluster, operator.csv.raw, {names.HANDED_OVER: extension.name})
    yield f"{operator.csv.name} is not reconciled any more"
    for one in move.present:
        if (patch := offered(one)) is not None:
            patch["metadata"]["resourceVersion"] = resource_version_of(one)
            cluster.merge(Ref.of(one), patch)
    found = _addition(extension, move, request.content.policy.global_namespace)
    for secret in found.secrets:
        _create(cluster, secret)
    _create(cluster, found.revision)


def _addition(extension: ClusterExtension, move: _Move, namespace: str) -> Addition:
    phases = as_they_are(move.made.phases, move.present)
    made = change(extension, Revisions(), replace(move.made, phases=phases), namespace)
    if not isinstance(made, Addition):
        raise PackageError(str(made))
    return taking_over(made)


def _let_go(
    cluster: KubeClient, request: AdoptionRequest, extension: ClusterExtension, deadline: float
) -> Iterator[str]:
    """Delete the Subscription and the CSV; objects that the revision controls are not garbage."""
    if subscription := Subscription.of(cluster.get(request.subscription)):
        delete(cluster, request.subscription, subscription.uid)
        yield f"deleted Subscription {subscription.name}"
    for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, request.subscription.namespace)):
        if csv.annotation(names.HANDED_OVER) == extension.name and not csv.is_copy:
            ref = CLUSTER_SERVICE_VERSION.ref(csv.name, csv.namespace)
            if not csv.is_deleted:
                delete(cluster, ref, csv.uid)
            until(partial(is_gone, cluster, ref), deadline, f"{ref.name} is still being deleted; {_back(extension)}")
            yield f"deleted ClusterServiceVersion {csv.name}"


def _annotate(cluster: KubeClient, manifest: ReadOnly, annotations: Manifest) -> None:
    if not annotations.items() <= annotations_of(manifest).items():
        meta = {"annotations": annotations, "resourceVersion": resource_version_of(manifest)}
        cluster.merge(Ref.of(manifest), {"metadata": meta})


def _create(cluster: KubeClient, manifest: Manifest) -> None:
    try:
        cluster.create(manifest, field_manager=names.V1_EXTENSION_MANAGER)
    except ApiError as error:
        if not error.already_exists:
            raise


def is_gone(cluster: KubeClient, ref: Ref) -> bool:
    """Whether there is no such object."""
    return cluster.get(ref) is None


def _has_succeeded(cluster: KubeClient, revision: Ref) -> bool:
    found = ClusterObjectSet.of(cluster.get(revision))
    return found is not None and found.has_succeeded


def until(is_true: Callable[[], bool], deadline: float, late: str) -> None:
    """Wait until it is true. PackageError with the message `late` after `deadline`, a time of `time.monotonic`."""
    while not is_true():
        if time.monotonic() > deadline:
            raise PackageError(late)
        time.sleep(POLL_SECONDS)


def _back(extension: ClusterExtension) -> str:
    return f"{quoted(olmf('extension', 'why', extension.name))} shows more; the same command continues"


def _ref(extension: ClusterExtension) -> Ref:
    return CLUSTER_EXTENSION.ref(extension.name)
