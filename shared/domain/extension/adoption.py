"""Moves an operator of a Subscription to a ClusterExtension: whether that can be done without touching its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypeAlias

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata
from shared.api.views import ClusterExtension, Csv, Object, OperatorGroup, Subscription
from shared.domain.extension.making import Addition
from shared.domain.extension.outlook import Effect, changes, identity_of
from shared.domain.extension.phases.actions import controller_of
from shared.domain.extension.phases.objects import described
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.stamp import claimed
from shared.domain.objects.ownership import is_labelled_for, is_owned_by

MANAGERS: Final = frozenset((names.FIELD_MANAGER, "olm", "catalog"))
"""Field managers of what a Subscription installed: ours, and the programs of OLM before us."""
_WORKLOAD: Final = kinds.DEPLOYMENT.kind
_ALL: Final = ("",)


@dataclass(frozen=True, slots=True)
class Operator:
    """What a Subscription installed, and what is around it."""

    subscription: Subscription
    csv: Csv
    groups: tuple[OperatorGroup, ...] = ()
    """Those of its namespace."""
    others: tuple[Csv, ...] = ()
    """All other versions of the cluster that are no copies."""
    extensions: tuple[ClusterExtension, ...] = ()
    """All that there are, but for one that adopts it already."""


def refusals(found: Operator) -> tuple[str, ...]:
    """Why it cannot be moved, as sentences; empty when it can."""
    return tuple(chain.from_iterable(rule(found) for rule in _RULES))


def unlike(found: Operator, desired: Sequence[Manifest], present: Sequence[ReadOnly]) -> Iterator[str]:
    """Why objects that are there cannot become those of a revision as they are."""
    for one in map(Object, present):
        if controller_of(one.raw):
            yield f"{described(one.raw)} is controlled by somebody else"
        elif not _belongs(one, found):
            yield f"{described(one.raw)} is there already, and not of {found.csv.name}"
    for change in changes(present, desired):
        fields = [path for path in change.paths if not path.startswith("metadata.")]
        if change.effect is Effect.CHANGE and fields:
            yield f"{described(change.manifest)} would change: {', '.join(fields)}"


def as_they_are(phases: Iterable[Phase], present: Iterable[ReadOnly]) -> tuple[Phase, ...]:
    """The objects of a bundle, with the Deployments that are there: another template would restart their pods."""
    there = {identity_of(one): one for one in present if one.get("kind") == _WORKLOAD}
    return tuple(replace(phase, objects=tuple(_kept(one, there) for one in phase.objects)) for phase in phases)


def offered(present: ReadOnly) -> Manifest | None:
    """The patch after which a revision may take an object; None without any.

    The mark of a revision that let it go before would else say that it was just orphaned.
    """
    patch = claimed(present, MANAGERS)
    if names.V1_REVISION not in annotations_of(present):
        return patch
    return {"metadata": {**metadata(patch or {}), "annotations": {names.V1_REVISION: None}}}


def taking_over(made: Addition) -> Addition:
    """A revision that may take objects which nobody controls."""
    spec = {**made.revision["spec"], "collisionProtection": "IfNoController"}
    return replace(made, revision={**made.revision, "spec": spec})


def _kept(desired: Manifest, there: Mapping[tuple[str, str, str, str], ReadOnly]) -> Manifest:
    found = there.get(identity_of(desired))
    return {**desired, "spec": found["spec"]} if found else desired


def _belongs(one: Object, found: Operator) -> bool:
    component = f"{names.COMPONENT_PREFIX}{found.subscription.package}.{found.csv.namespace}"
    return is_owned_by(one, found.csv) or is_labelled_for(one, found.csv) or component in labels_of(one.raw)


_Rule: TypeAlias = Callable[[Operator], Iterator[str]]


def _settled(found: Operator) -> Iterator[str]:
    named, csv = found.subscription, found.csv
    if named.installed_csv != csv.name or named.current_csv != csv.name:
        yield f"Subscription {named.name} is on its way from {named.installed_csv or 'nothing'} to {named.current_csv}"
    if csv.is_deleted or not csv.is_succeeded:
        yield f"{csv.name} is {'being deleted' if csv.is_deleted else csv.phase or 'not installed yet'}, not Succeeded"
    if named.generated_by:
        yield f"Subscription {named.name} was made for what another package needs, by {named.generated_by}"


def _without_certificates(found: Operator) -> Iterator[str]:
    if found.csv.webhooks or found.csv.owned_services:
        why = "their certificates are made for the version, and go with it"
        yield f"{found.csv.name} serves webhooks or aggregated APIs: {why}"


def _everywhere(found: Operator) -> Iterator[str]:
    if found.csv.target_namespaces != _ALL:
        yield f"{found.csv.name} watches some namespaces only; an extension would give it rights in all of them"
    for group in found.groups:
        if group.service_account:
            why = f"is limited to what {group.service_account} may; nothing limits an extension"
            yield f"OperatorGroup {group.name} {why}"


def _independent(found: Operator) -> Iterator[str]:
    csv = found.csv
    if needed := [one.name or one.service for one in (*csv.required_definitions, *csv.required_services)]:
        yield f"{csv.name} needs {', '.join(needed)}: OLM v1 installs nothing that an operator needs"
    owned = {one.name for one in csv.owned_definitions}
    for other in found.others:
        if shared := owned & {one.name for one in other.required_definitions}:
            yield f"{_named(other)} needs {', '.join(sorted(shared))}, which {csv.name} would no longer provide to it"
        if shared := owned & {one.name for one in other.owned_definitions}:
            yield f"{_named(other)} owns {', '.join(sorted(shared))}, too"


def _alone(found: Operator) -> Iterator[str]:
    package = found.subscription.package
    for one in found.extensions:
        if one.name == package or one.source.get("packageName") == package:
            yield f"ClusterExtension {one.name} is there already, of package {one.source.get('packageName')}"


_RULES: Final[tuple[_Rule, ...]] = (_settled, _without_certificates, _everywhere, _independent, _alone)


def _named(csv: Csv) -> str:
    return f"ClusterServiceVersion {csv.namespace}/{csv.name}"


def spec_of(found: Operator, catalog: str = "") -> Manifest:
    """The spec of the extension: pinned to what runs; `catalog` is the only one that it may ask, empty: any."""
    csv, subscription = found.csv, found.subscription
    source: Manifest = {"packageName": subscription.package, "version": csv.version}
    if subscription.channel:
        source["channels"] = [subscription.channel]
    if catalog:
        source["selector"] = {"matchLabels": {names.V1_NAME: catalog}}
    config = {"config": {"configType": "Inline", "inline": {"deploymentConfig": dict(subscription.config)}}}
    return {
        "namespace": csv.namespace, "source": {"sourceType": "Catalog", "catalog": source},
        **(config if subscription.config else {}),
    }  # fmt: skip
