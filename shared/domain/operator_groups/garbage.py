"""Finds garbage: old InstallPlans, and objects whose owner or provider was deleted (catalog.md §3.9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from shared import names
from shared.api.manifest import Manifest, ReadOnly, is_deleted, labels_of, metadata, name_of, namespace_of
from shared.domain.objects.csv import is_copied
from shared.domain.objects.install_plan import generation_of
from shared.domain.objects.plan_record import is_refused
from shared.domain.objects.subscription import plan_of
from shared.domain.operator_groups.provision import claims
from shared.domain.operator_groups.roles import provided_by
from shared.kinds import API_SERVICE, CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP, Ref

KEPT_PLANS = 5
"""Number of InstallPlans that stay in a namespace, besides those that a Subscription names."""
_PROVIDERS = frozenset({API_SERVICE.kind, CUSTOM_RESOURCE_DEFINITION.kind})
_KINDS = {kind.kind: kind for kind in (CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)}


def surplus_plans(plans: Iterable[Manifest], subscriptions: Iterable[ReadOnly]) -> tuple[Manifest, ...]:
    """The plans to delete: all except the newest of each namespace and those that a Subscription names.

    A plan that is being deleted, which a finalizer may keep for long, counts no more.
    """
    named = {(namespace_of(item), plan_of(item)) for item in subscriptions}
    by_namespace: defaultdict[str, list[Manifest]] = defaultdict(list)
    for plan in plans:
        if is_deleted(plan):
            continue
        by_namespace[namespace_of(plan)].append(plan)
    oldest = (plan for found in by_namespace.values() for plan in sorted(found, key=_age)[:-KEPT_PLANS])
    return tuple(plan for plan in oldest if (namespace_of(plan), name_of(plan)) not in named)


def _age(plan: ReadOnly) -> tuple[bool, int, str, str]:
    """The newest last; a refused plan, which was made again or never counts, is older than any other."""
    return not is_refused(plan), generation_of(plan), str(metadata(plan).get("creationTimestamp") or ""), name_of(plan)


def owner_by_label(manifest: ReadOnly) -> Ref | None:
    """The ClusterServiceVersion or OperatorGroup that the owner labels name."""
    labels = labels_of(manifest)
    kind = _KINDS.get(labels.get(names.OWNER_KIND, ""))
    return kind.ref_or_none(labels.get(names.OWNER), labels.get(names.OWNER_NAMESPACE)) if kind else None


def orphans(objects: Iterable[Manifest], living: Iterable[Ref]) -> Iterator[Manifest]:
    """The objects whose owner labels name an owner that does not exist."""
    known = frozenset(living)
    for item in objects:
        owner = owner_by_label(item)
        if owner is not None and owner not in known:
            yield item


def by_provider(roles: Iterable[Manifest]) -> dict[Ref, list[Manifest]]:
    """The roles of provided APIs by the ClusterServiceVersion that they name; other roles are left out."""
    found: defaultdict[Ref, list[Manifest]] = defaultdict(list)
    for role in roles:
        namespace, _, name = provided_by(role).partition("/")
        if provider := CLUSTER_SERVICE_VERSION.ref_or_none(name, namespace):
            found[provider].append(role)
    return dict(found)


def unmarked(roles: Iterable[Manifest]) -> Iterator[Manifest]:
    """The roles of APIs that earlier builds wrote for whatever a version claimed, also aggregated APIs.

    They name no provider, and their owner has its real kind, which OLM writes in lower case. One whose API is provided
    after all is written again: its deletion wakes the group.
    """
    for role in roles:
        is_of_api = any(key.startswith(names.AGGREGATE_PREFIX) for key in labels_of(role))
        owners = {owner.get("kind") for owner in metadata(role).get("ownerReferences") or ()}
        if is_of_api and not provided_by(role) and owners & _PROVIDERS:
            yield role


def unprovided(roles: Iterable[Manifest], provider: ReadOnly | None) -> Iterator[Manifest]:
    """Those roles whose provider is gone, or does not claim their API any more.

    Another version that provides the API gets them back at once: their deletion wakes its group.
    """
    is_gone = provider is None or is_copied(provider) or is_deleted(provider)
    claimed = {} if is_gone else claims(provider or {})
    owned = {f"{ref.name}-{version}-" for ref, versions in claimed.items() for version in versions}
    yield from (role for role in roles if not any(name_of(role).startswith(one) for one in owned))
