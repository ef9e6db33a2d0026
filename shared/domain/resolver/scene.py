"""Reads a namespace: Kubernetes objects become the resolver's inputs. All reads go through the given port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.catalog_source import is_healthy
from shared.domain.groups.targets import refusal
from shared.domain.resolver.copies import home_of, is_copy
from shared.domain.resolver.existing import existing
from shared.domain.resolver.model import Catalog, CatalogKey, Inputs, Subscriber
from shared.domain.resolver.opt_in import STRICT, opt_in_of, policy_of, policy_problem
from shared.domain.resolver.shelves import IndexedShelf
from shared.domain.subscription import state
from shared.kinds import Kind, Ref


class Objects(Protocol):
    """Reads of the cluster; each costs one request."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None."""
        ...

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


Open = Callable[[Catalog], IndexedShelf]
"""Opens the content of a catalog that has a reference."""


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
    objects: Objects, opened: Open, namespace: str, scope: Scope, *, is_resting: Callable[[ReadOnly], bool] = _never
) -> Scene:
    """Read a namespace with as few requests as possible; the inputs are empty when no Subscription wants a decision."""
    subscriptions = objects.list(kinds.SUBSCRIPTION, namespace)
    if all(state.has_plan_under_way(one) or is_resting(one) for one in subscriptions):
        return Scene(subscriptions, (), Inputs(namespace))
    found_csvs = objects.list(kinds.CLUSTER_SERVICE_VERSION, namespace)
    originals = {name_of(csv) for csv in found_csvs if not is_copy(csv)}
    copies = {name_of(csv): home_of(csv) for csv in found_csvs if is_copy(csv)}
    groups = objects.list(kinds.OPERATOR_GROUP, namespace)
    subscribers = tuple(_subscriber(one, originals) for one in subscriptions)
    places = {namespace} if _excludes_global(groups) else {namespace, scope.global_namespace}
    found = [catalog_of(one) for place in sorted(places) for one in objects.list(kinds.CATALOG_SOURCE, place)]
    catalogs = {catalog.key: catalog for catalog in found}
    shelves = {catalog.key: opened(catalog) for catalog in found if catalog.reference}
    problem, is_whole = _problem(groups), scope.plan_scope == "namespace"
    try:
        installed = existing(found_csvs, subscriptions, groups, is_whole=is_whole)
    except ValueError as error:
        installed, problem = (), f"error using catalogsource {namespace}/@existing: {error}"
    policy = policy_of(groups, scope.catalog_policy)
    problem = problem or policy_problem(policy)
    inputs = Inputs(
        namespace,
        subscribers,
        installed,
        catalogs,
        shelves,
        problem,
        is_whole,
        is_strict=policy == STRICT,
        copies=copies,
    )
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


def _problem(groups: Sequence[ReadOnly]) -> str:
    """Why nothing may be resolved in the namespace; empty when it may be."""
    match groups:
        case [group]:
            return refusal(group) or ""
    return f"expected 1 OperatorGroup in the namespace, found {len(groups)}"


def _excludes_global(groups: Sequence[ReadOnly]) -> bool:
    return any(annotations_of(group).get(names.EXCLUDE_GLOBAL_CATALOGS) == "true" for group in groups)


def _subscriber(subscription: ReadOnly, csvs: set[str]) -> Subscriber:
    spec = subscription.get("spec") or {}
    standing = state.Standing.read(subscription)
    return Subscriber(
        name_of(subscription),
        str(spec.get("name") or ""),
        str(spec.get("channel") or ""),
        CatalogKey(str(spec.get("sourceNamespace") or ""), str(spec.get("source") or "")),
        starting_csv=str(spec.get("startingCSV") or ""),
        installed_csv=standing.installed_csv,
        is_manual=spec.get("installPlanApproval") == "Manual",
        waits=state.waits(subscription, csvs),
        failed_csv=state.given_up(subscription),
        opt_in=opt_in_of(subscription),
    )
