"""What the objects of a namespace say to the resolver, whether they come from a cluster or from a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, metadata, name_of, namespace_of
from shared.domain.catalog_source import is_healthy
from shared.domain.objects.subscription import installed_csv
from shared.domain.operator_groups.targets import refusal
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
    subscriptions: Sequence[ReadOnly],
    csvs: Sequence[ReadOnly],
    groups: Sequence[ReadOnly] | None,
    *,
    policy: str,
) -> Inputs:
    """The inputs with what is installed, and with what OperatorGroups say; these are None when the question has none.

    The policy is for catalogs that cannot be read, where the OperatorGroup has none.
    """
    stated = policy_of(groups or (), policy)
    problem = _problem(groups, stated)
    try:
        installed = existing(csvs, subscriptions, groups or (), is_whole=inputs.is_whole)
    except IncoherentCSVs as error:
        installed, problem = (), problem or unreadable(CatalogKey(inputs.namespace, EXISTING), str(error))
    oldest_first = sorted(
        groups or (), key=lambda one: (str(metadata(one).get("creationTimestamp") or ""), name_of(one))
    )
    found = tuple(map(name_of, oldest_first))
    return replace(inputs, installed=installed, problem=problem, is_strict=stated == STRICT, groups=found)


def excludes_global(groups: Sequence[ReadOnly]) -> bool:
    """Whether the namespace does not see the catalogs that every namespace sees."""
    return any(annotations_of(group).get(names.EXCLUDE_GLOBAL_CATALOGS) == "true" for group in groups)


def subscriber_of(subscription: ReadOnly) -> Subscriber:
    """A Subscription as the resolver sees it, when a decision is wanted."""
    spec = subscription.get("spec") or {}
    return Subscriber(
        name_of(subscription),
        str(spec.get("name") or ""),
        str(spec.get("channel") or ""),
        CatalogKey(str(spec.get("sourceNamespace") or ""), str(spec.get("source") or "")),
        starting_csv=str(spec.get("startingCSV") or ""),
        installed_csv=installed_csv(subscription),
        is_manual=spec.get("installPlanApproval") == "Manual",
        policy=subscription_policy_of(subscription),
        unknown=unknown(subscription),
    )


def _problem(groups: Sequence[ReadOnly] | None, policy: str) -> Reason | None:
    """What OperatorGroups say why nothing may be resolved in the namespace; None when it may be."""
    if groups is not None and len(groups) != 1:
        text = f"expected 1 OperatorGroup in the namespace, found {len(groups)}"
        return Reason(Code.OPERATOR_GROUPS, text)
    if text := next(filter(None, map(refusal, groups or ())), ""):
        return Reason(Code.PREVENTED, text)
    return Reason(Code.ANNOTATION_INVALID, text) if (text := policy_problem(policy)) else None


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
