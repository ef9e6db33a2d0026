"""Reads a namespace: Kubernetes objects become the resolver's inputs. All reads go through the given port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.domain.catalog_source import is_healthy
from shared.domain.resolution_inputs.namespace import completed, excludes_global, subscriber_of
from shared.domain.resolver.copies import home_of, is_copy
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Inputs, Subscriber
from shared.domain.resolver.shelves import Content, IndexedShelf
from shared.domain.subscription import state
from shared.kinds import Kind


class Objects(Protocol):
    """Reads of the cluster; each costs one request."""

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        """All objects of a kind in a namespace."""
        ...


class Scope(Protocol):
    """Settings of the installation for every namespace."""

    @property
    def global_namespace(self) -> str:
        """The namespace whose catalogs every namespace sees."""
        ...

    @property
    def plan_scope(self) -> str:
        """`namespace`: one InstallPlan and one verdict per namespace, as in OLM; else `component`."""
        ...

    @property
    def catalog_policy(self) -> str:
        """`strict`: a catalog that cannot be read now stops every namespace that sees it; else `available`."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """The objects that were read, and the resolver's inputs made of them."""

    subscriptions: tuple[Manifest, ...]
    groups: tuple[Manifest, ...]
    inputs: Inputs
    shelves: tuple[IndexedShelf, ...] = ()

    @property
    def is_partial(self) -> bool:
        """After resolving: whether a part of a catalog could not be read, so that it is worth trying again."""
        return any(shelf.problems for shelf in self.shelves)


def _never(_: ReadOnly) -> bool:
    return False


def look(
    objects: Objects, content: Content, namespace: str, scope: Scope, *, is_resting: Callable[[ReadOnly], bool] = _never
) -> Scene:
    """Read a namespace with as few requests as possible; the inputs are empty when no Subscription wants a decision."""
    subscriptions = objects.list(kinds.SUBSCRIPTION, namespace)
    if all(state.has_plan_under_way(one) or is_resting(one) for one in subscriptions):
        return Scene(subscriptions, (), Inputs(namespace))
    found_csvs = objects.list(kinds.CLUSTER_SERVICE_VERSION, namespace)
    originals = {name_of(csv) for csv in found_csvs if not is_copy(csv)}
    copies = {name_of(csv): home_of(csv) for csv in found_csvs if is_copy(csv)}
    groups = objects.list(kinds.OPERATOR_GROUP, namespace)
    places = {namespace} if excludes_global(groups) else {namespace, scope.global_namespace}
    found = [catalog_of(one) for place in sorted(places) for one in objects.list(kinds.CATALOG_SOURCE, place)]
    shelves = {one.key: IndexedShelf(content, one.reference, one.source) for one in found if one.reference}
    inputs = Inputs(
        namespace,
        tuple(_subscriber(one, originals) for one in subscriptions),
        catalogs={catalog.key: catalog for catalog in found},
        shelves=shelves,
        is_whole=scope.plan_scope == "namespace",
        copies=copies,
    )
    inputs = completed(inputs, subscriptions, found_csvs, groups, policy=scope.catalog_policy)
    return Scene(subscriptions, groups, inputs, tuple(shelves.values()))


def catalog_of(source: ReadOnly) -> Catalog:
    """A CatalogSource as the resolver sees it: its last good snapshot, or why it has none."""
    spec, status = source.get("spec") or {}, source.get("status") or {}
    reference = str((status.get("connectionState") or {}).get("address") or "")
    return Catalog(
        CatalogKey(namespace_of(source), name_of(source)),
        image=str(spec.get("image") or ""),
        reference=reference,
        priority=int(spec.get("priority") or 0),
        secrets=tuple(filter(None, spec.get("secrets") or ())),
        problem=str(status.get("message") or ""),
        is_stale=bool(reference) and not is_healthy(source),
    )


def _subscriber(subscription: ReadOnly, csvs: set[str]) -> Subscriber:
    waits, failed = state.waits(subscription, csvs), state.given_up(subscription)
    planned = state.Standing.read(subscription).current_csv if state.has_plan_under_way(subscription) else ""
    return replace(subscriber_of(subscription), waits=waits, planned_csv=planned, failed_csv=failed)
