"""Finds garbage: old InstallPlans, and objects whose owner or provider was deleted (catalog.md §3.9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar

from shared import names
from shared.api.views import Csv, InstallPlan, Object, Role, Subscription
from shared.domain.objects.plan_record import is_refused
from shared.domain.operator_groups.provision import role_name_prefixes
from shared.domain.operator_groups.roles import provided_by
from shared.kinds import API_PROVIDERS, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, Ref

_Owned = TypeVar("_Owned", bound=Object)
KEPT_PLANS = 5
"""Number of InstallPlans that stay in a namespace, besides those that a Subscription names."""
_PROVIDERS = frozenset(kind.kind for kind in API_PROVIDERS)
_KINDS = {kind.kind: kind for kind in (CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)}


def surplus_plans(plans: Iterable[InstallPlan], subscriptions: Iterable[Subscription]) -> tuple[InstallPlan, ...]:
    """The plans to delete: all except the newest of each namespace and those that a Subscription names.

    A plan that is being deleted, which a finalizer may keep for long, counts no more.
    """
    named = {(item.namespace, item.plan) for item in subscriptions}
    by_namespace: defaultdict[str, list[InstallPlan]] = defaultdict(list)
    for plan in plans:
        if plan.is_deleted:
            continue
        by_namespace[plan.namespace].append(plan)
    oldest = (plan for found in by_namespace.values() for plan in sorted(found, key=_age)[:-KEPT_PLANS])
    return tuple(plan for plan in oldest if (plan.namespace, plan.name) not in named)


def _age(plan: InstallPlan) -> tuple[bool, int, str, str]:
    """The newest last; a refused plan, which was made again or never counts, is older than any other."""
    return not is_refused(plan), plan.number, plan.age_key, plan.name


def owner_by_label(owned: Object) -> Ref | None:
    """The ClusterServiceVersion or OperatorGroup that the owner labels name."""
    labels = owned.labels
    kind = _KINDS.get(labels.get(names.OWNER_KIND, ""))
    return kind.ref_or_none(labels.get(names.OWNER), labels.get(names.OWNER_NAMESPACE)) if kind else None


def orphans(objects: Iterable[_Owned], living: Iterable[Ref]) -> Iterator[_Owned]:
    """The objects whose owner labels name an owner that does not exist."""
    known = frozenset(living)
    for item in objects:
        owner = owner_by_label(item)
        if owner is not None and owner not in known:
            yield item


def by_provider(roles: Iterable[Role]) -> dict[Ref, list[Role]]:
    """The roles of provided APIs by the ClusterServiceVersion that they name; other roles are left out."""
    found: defaultdict[Ref, list[Role]] = defaultdict(list)
    for role in roles:
        namespace, _, name = provided_by(role).partition("/")
        if provider := CLUSTER_SERVICE_VERSION.ref_or_none(name, namespace):
            found[provider].append(role)
    return dict(found)


def unmarked(roles: Iterable[Role]) -> Iterator[Role]:
    """The roles of APIs that earlier builds wrote for whatever a version claimed, also aggregated APIs.

    They name no provider, and their owner has its real kind, which OLM writes in lower case. One whose API is provided
    after all is written again: its deletion wakes the group.
    """
    for role in roles:
        is_of_api = any(key.startswith(names.AGGREGATE_PREFIX) for key in role.labels)
        owners = {owner.kind for owner in role.owners}
        if is_of_api and not provided_by(role) and owners & _PROVIDERS:
            yield role


def unprovided(roles: Iterable[Role], provider: Csv | None) -> Iterator[Role]:
    """Those roles whose provider is gone, or does not claim their API any more.

    Another version that provides the API gets them back at once: their deletion wakes its group.
    """
    kept = () if provider is None or provider.is_copy or provider.is_deleted else role_name_prefixes(provider)
    yield from (role for role in roles if not role.name.startswith(kept))
