"""Update the status of a Subscription from its plan, its operator and its catalogs.

Reads:  the Subscription, its InstallPlan, its ClusterServiceVersion; the catalogs it may use; for a failed
        plan the OperatorGroups of its namespace.
Writes: its status (state, installedCSV, catalogHealth, the conditions of `track.CONDITIONS`); its Operator; its label,
        and that of the ClusterServiceVersion it installed.
Emits:  `io.olmf.config.changed` for the ClusterServiceVersion it installed.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared import kinds, names
from shared.api.views import CatalogSource, Csv, InstallPlan, Object, OperatorGroup, Subscription
from shared.domain.resolution_inputs.namespace import catalog_of
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.domain.subscription import components, health, operators, track
from shared.domain.subscription.plans import has_failed
from shared.domain.subscription.state import SubscriptionState, generating_plan, passes_failures
from shared.domain.subscription.track import Surroundings
from shared.ports import Catalogs, Clock, Cluster, Policy
from shared.reading.indexed_catalog import IndexedCatalog
from shared.reading.read_sets import read_set_of
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, SetStatus, Write


def track_subscription(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, policy: Policy) -> Outcome:
    """Write the status of one Subscription."""
    subscription = Subscription.of(cluster.get(ref))
    if subscription is None:
        return NOTHING
    sources = health.visible(
        CatalogSource.each(cluster.list(kinds.CATALOG_SOURCE)), ref.namespace, policy.global_namespace
    )
    current, planned = (
        SubscriptionState.read(subscription).current_csv,
        subscription.plan or generating_plan(subscription),
    )
    csv = Csv.of(kinds.CLUSTER_SERVICE_VERSION.look_up(cluster.get, current, ref.namespace))
    plan = InstallPlan.of(kinds.INSTALL_PLAN.look_up(cluster.get, planned, ref.namespace))
    targets = _targets(subscription, sources)
    readers = {one.key: IndexedCatalog(catalogs, one.reference, one.source) for one in targets if one.reference}
    packages = (one.package(subscription.package) for one in readers.values() if subscription.current_csv)
    around = Surroundings(
        sources,
        plan=plan,
        current=None if csv is None or csv.is_copy else csv,
        package=next(packages, None),
        is_given_up=has_failed(plan)
        and passes_failures(OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, ref.namespace))),
    )
    status = track.tracked(subscription, around, clock.now())
    writes: list[Write] = [] if status is None else [SetStatus(ref, status, subscription.resource_version)]
    parts: list[Object] = [subscription] if around.current is None else [subscription, around.current]
    key = components.of(subscription)
    if key not in subscription.labels:  # it exists at once; what it lists, its own step says later
        writes += [Create(operators.operator(name)) for name in operators.names_of([key])]
    patches = ((Ref.of(one), components.joined(one, key)) for one in parts)
    writes += [Merge(part, patch) for part, patch in patches if patch]
    return Outcome(tuple(writes), _enqueues(subscription, ref), read_set=read_set_of(targets, readers, policy))


def _enqueues(subscription: Subscription, ref: Ref) -> tuple[Emit, ...]:
    """Enqueue the installed version on every change: `spec.config` is applied to its Deployments."""
    version = kinds.CLUSTER_SERVICE_VERSION.ref_or_none(subscription.installed_csv, ref.namespace)
    return (Emit(names.CONFIG_CHANGED, version),) if version else ()


def _targets(subscription: Subscription, sources: Sequence[CatalogSource]) -> Sequence[Catalog]:
    """The catalog that the Subscription names, if there is one."""
    target = CatalogKey(subscription.source_namespace, subscription.source)
    return [one for one in map(catalog_of, sources) if one.key == target]
