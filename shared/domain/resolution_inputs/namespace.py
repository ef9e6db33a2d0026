"""What the objects of a namespace say to the resolver, whether they come from a cluster or from a JSON request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.api.views import CatalogSource, Csv, OperatorGroup, Subscription
from shared.domain.catalog_source import is_healthy
from shared.domain.operator_groups.members import former_targets
from shared.domain.resolution_inputs.existing import IncoherentCSVs, existing
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Inputs, Subscriber, unreadable
from shared.domain.resolver.operators import EXISTING
from shared.domain.resolver.reasons import Code, Reason
from shared.domain.resolver.subscription_policy import (
    STRICT,
    policy_of,
    policy_problem,
    subscription_policy_of,
    unknown,
)


def completed(
    inputs: Inputs,
    subscriptions: Sequence[Subscription],
    csvs: Sequence[Csv],
    groups: Sequence[OperatorGroup] | None,
    *,
    policy: str,
) -> Inputs:
    """The inputs with what is installed, and with what OperatorGroups say; these are None when the request has none.

    The policy is for catalogs that cannot be read, where the OperatorGroup has none.
    """
    chosen = policy_of(groups or (), policy)
    problem = _problem(groups, chosen)
    try:
        installed = existing(csvs, subscriptions, groups or (), is_whole=inputs.is_whole)
    except IncoherentCSVs as error:
        installed, problem = (), problem or unreadable(CatalogKey(inputs.namespace, EXISTING), str(error))
    found = tuple(one.name for one in sorted(groups or (), key=lambda one: (one.age_key, one.name)))
    return replace(
        inputs,
        installed=installed,
        problem=problem,
        is_strict=chosen == STRICT,
        groups=found,
        former_targets=former_targets(csvs),
    )


def excludes_global(groups: Sequence[OperatorGroup]) -> bool:
    """Whether the namespace does not see the catalogs that every namespace sees."""
    return any(group.excludes_global_catalogs for group in groups)


def subscriber_of(subscription: Subscription) -> Subscriber:
    """A Subscription as the resolver sees it, when a decision is wanted."""
    return Subscriber(
        subscription.name,
        subscription.package,
        subscription.channel,
        CatalogKey(subscription.source_namespace, subscription.source),
        starting_csv=subscription.starting_csv,
        installed_csv=subscription.installed_csv,
        is_manual=subscription.is_manual,
        policy=subscription_policy_of(subscription),
        unknown=unknown(subscription),
    )


def _problem(groups: Sequence[OperatorGroup] | None, policy: str) -> Reason | None:
    """What OperatorGroups say why nothing may be resolved in the namespace; None when it may be."""
    if groups is not None and len(groups) != 1:
        text = f"expected 1 OperatorGroup in the namespace, found {len(groups)}"
        return Reason(Code.OPERATOR_GROUPS, text)
    return Reason(Code.ANNOTATION_INVALID, text) if (text := policy_problem(policy)) else None


def catalog_of(source: CatalogSource) -> Catalog:
    """A CatalogSource as the resolver sees it: its last good snapshot, or why it has none."""
    reference = source.content
    return Catalog(
        CatalogKey(source.namespace, source.name),
        image=source.image,
        reference=reference,
        priority=source.priority,
        secrets=source.secrets,
        problem=source.message,
        is_stale=bool(reference) and not is_healthy(source),
    )
