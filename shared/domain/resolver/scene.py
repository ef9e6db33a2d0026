"""One look at a namespace: Kubernetes objects become the resolver's inputs. It asks only what it is given to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.catalog.model import Package
from shared.domain.groups.targets import refusal
from shared.domain.resolver.copies import home_of, is_copy
from shared.domain.resolver.model import Catalog, CatalogKey, Inputs, Installed, Subscriber
from shared.domain.resolver.properties import of_csv
from shared.domain.subscription import state
from shared.kinds import Kind, Ref


class Objects(Protocol):
    """The two questions about the cluster; each costs one request."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None."""
        ...

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        """All objects of a kind in a namespace."""
        ...


class Sorry(Protocol):
    """Content that could not be had."""

    @property
    def message(self) -> str:
        """Why, in a sentence."""
        ...


class Scope(Protocol):
    """What an administrator chose for every namespace."""

    @property
    def global_namespace(self) -> str:
        """Where the catalogs are that serve every namespace."""
        ...

    @property
    def plan_scope(self) -> str:
        """`namespace`: OLM's one plan, and one fate, per namespace."""
        ...


Fetch = Callable[[Catalog, str], Package | Sorry | None]
"""One package of a catalog."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What was seen, and what it means to the resolver."""

    subscriptions: tuple[Manifest, ...]
    groups: tuple[Manifest, ...]
    inputs: Inputs
    is_partial: bool = False
    """A catalog that has content could not be read just now: worth another look soon."""


def _never(_: ReadOnly) -> bool:
    return False


def look(
    objects: Objects, fetch: Fetch, namespace: str, scope: Scope, *, is_resting: Callable[[ReadOnly], bool] = _never
) -> Scene:
    """The scene of a namespace, with as few questions as the answer needs; one where all rest is empty."""
    subscriptions = objects.list(kinds.SUBSCRIPTION, namespace)
    if all(state.has_plan_under_way(one) or is_resting(one) for one in subscriptions):
        return Scene(subscriptions, (), Inputs(namespace))
    found_csvs = objects.list(kinds.CLUSTER_SERVICE_VERSION, namespace)
    csvs = [csv for csv in found_csvs if not is_copy(csv)]
    copies = {name_of(csv): home_of(csv) for csv in found_csvs if is_copy(csv)}
    groups = objects.list(kinds.OPERATOR_GROUP, namespace)
    subscribers = tuple(_subscriber(one, {name_of(csv) for csv in csvs}) for one in subscriptions)
    places = {namespace} if _excludes_global(groups) else {namespace, scope.global_namespace}
    wishes = {(one.catalog, one.package) for one in subscribers if not one.waits and one.catalog.namespace in places}
    found = {key: objects.get(kinds.CATALOG_SOURCE.ref(key.name, key.namespace)) for key, _ in sorted(wishes)}
    catalogs = {key: catalog_of(manifest) for key, manifest in found.items() if manifest is not None}
    packages = _packages(wishes, catalogs, fetch)
    problem = _problem(groups)
    try:
        installed = _installed(csvs, subscriptions)
    except ValueError as error:
        installed, problem = (), f"error using catalogsource {namespace}/@existing: {error}"
    is_whole = scope.plan_scope == "namespace"
    inputs = Inputs(namespace, subscribers, installed, catalogs, packages, problem, is_whole, copies)
    return Scene(subscriptions, groups, inputs, any(isinstance(one, str) for one in packages.values()))


def catalog_of(source: ReadOnly) -> Catalog:
    """A CatalogSource as the resolver sees it: its last good snapshot, or why there is none."""
    spec, status = source.get("spec") or {}, source.get("status") or {}
    return Catalog(
        CatalogKey(namespace_of(source), name_of(source)),
        image=str(spec.get("image") or ""),
        reference=str((status.get("connectionState") or {}).get("address") or ""),
        priority=int(spec.get("priority") or 0),
        secrets=tuple(filter(None, spec.get("secrets") or ())),
        problem=str(status.get("message") or ""),
    )


def _problem(groups: Sequence[ReadOnly]) -> str:
    """Why nothing may be resolved in the namespace, or nothing."""
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
    )


def _packages(
    wishes: Iterable[tuple[CatalogKey, str]], catalogs: Mapping[CatalogKey, Catalog], fetch: Fetch
) -> dict[tuple[CatalogKey, str], Package | str]:
    found: dict[tuple[CatalogKey, str], Package | str] = {}
    for key, package in sorted(wishes):
        if key in catalogs and catalogs[key].reference:
            match fetch(catalogs[key], package):
                case None:
                    pass
                case Package() as offered:
                    found[key, package] = offered
                case sorry:
                    found[key, package] = sorry.message
    return found


def _installed(csvs: Sequence[ReadOnly], subscriptions: Sequence[ReadOnly]) -> tuple[Installed, ...]:
    """What stays: a CSV whose successor is already there only waits to be deleted."""
    replaced = {(csv.get("spec") or {}).get("replaces") for csv in csvs}
    return tuple(
        Installed(
            name_of(csv),
            str((csv.get("spec") or {}).get("version") or ""),
            of_csv(csv, _packages_of(name_of(csv), subscriptions)),
        )
        for csv in csvs
        if name_of(csv) not in replaced
    )


def _packages_of(csv: str, subscriptions: Iterable[ReadOnly]) -> Iterable[str]:
    for subscription in subscriptions:
        if (subscription.get("status") or {}).get("installedCSV") == csv:
            yield str((subscription.get("spec") or {}).get("name") or "")
