"""Computes the status of one Subscription from the objects that concern it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Csv, InstallPlan, Subscription
from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Package
from shared.domain.conditions import Condition
from shared.domain.resolver.subscription_policy import subscription_policy_of
from shared.domain.semver import version_or_none
from shared.domain.subscription import health, plans, state
from shared.domain.subscription.conditions import (
    BUNDLE_DEPRECATED,
    CHANNEL_DEPRECATED,
    CSV_MISSING,
    DEPRECATED,
    DEPRECATIONS,
    HELD,
    PACKAGE_DEPRECATED,
    PINNED,
    changed,
)
from shared.domain.subscription.state import SubscriptionState

DEPRECATION_CONDITIONS = (*DEPRECATIONS, DEPRECATED)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The objects that concern a Subscription."""

    sources: Sequence[CatalogSource]
    """The catalogs that it may use."""
    plan: InstallPlan | None = None
    """The plan that its status refers to."""
    current: Csv | None = None
    """The ClusterServiceVersion that its status names as current; not a copy."""
    package: Package | None = None
    """Its package; None when the catalog could not be read."""
    is_given_up: bool = False
    """Its plan has failed, and the group of its namespace allows a newer version."""


def tracked(subscription: Subscription, around: Surroundings, now: datetime) -> Manifest | None:
    """The new status, or None when it would not change."""
    status, adopted = subscription.status, _adopted(subscription, around.plan)
    subscription = Subscription({**subscription.raw, "status": {**status, **adopted}})
    csvs = () if around.current is None else (around.current.name,)
    state_now = SubscriptionState.read(subscription)
    is_deleted = state_now.is_deleted(csvs)
    fields, put, drop = _plan(subscription, around, csvs, is_deleted=is_deleted)
    put.append(health.condition(subscription, around.sources))
    put += _ours(subscription, state_now.with_csvs(csvs), is_deleted=is_deleted)
    offered, decided = _of_package(subscription, state_now.with_csvs(csvs).installed_csv, around.package)
    put, drop = [*put, *offered], [*drop, *decided]
    catalog_health = health.catalog_health(subscription, around.sources, now)
    shown = {one.type for one in put}
    gone = [kind for kind in (*drop, CSV_MISSING, HELD) if kind not in shown]
    fields = {**adopted, **fields, "catalogHealth": catalog_health or None}
    return changed(status, now, put=put, drop=gone, **fields)


def has_conditions_of(subscription: Subscription, package: Package | None) -> bool:
    """Whether the conditions of a Subscription that follow from its package are those of this content of it."""
    desired, decided = _of_package(
        subscription, subscription.installed_csv, package if subscription.current_csv else None
    )
    present = [subscription.condition(kind) for kind in decided]
    shown = {one.type: (one.status, one.reason, one.message) for one in present if one.type}
    return shown == {one.type: (one.status, one.reason, one.message) for one in desired}


def _of_package(
    subscription: Subscription, installed_csv: str, package: Package | None
) -> tuple[tuple[Condition, ...], tuple[str, ...]]:
    """The conditions that follow from a package, and the types of those that it decides; None: it was not read."""
    if package is None:
        return (), () if subscription_policy_of(subscription).version else (PINNED,)
    deprecations = deprecation_conditions(subscription, installed_csv, package)
    pins = pin_conditions(subscription, installed_csv, package)
    return (*(deprecations or ()), *pins), (PINNED, *(DEPRECATION_CONDITIONS if deprecations is not None else ()))


def _adopted(subscription: Subscription, plan: InstallPlan | None) -> Manifest:
    """The reference of a Subscription to the plan that created it; empty once the plan is deleted."""
    if plan is None or not state.generating_plan(subscription):
        return {}
    references = plans.references(plan.name, plan.namespace, plan)
    return {"state": state.PENDING, "currentCSV": subscription.starting_csv, **references}


def _plan(
    subscription: Subscription, around: Surroundings, csvs: Sequence[str], *, is_deleted: bool
) -> tuple[Manifest, list[Condition], list[str]]:
    """The fields and conditions that follow from the plan; a lost plan is forgotten before it is finished."""
    state_now = SubscriptionState.read(subscription).with_csvs(csvs).with_plan(is_given_up=around.is_given_up)
    versions = {"installedCSV": state_now.installed_csv or None, "currentCSV": state_now.current_csv or None}
    fields: Manifest = {"state": state_now.state, **versions}
    if not subscription.plan:
        return fields, [], []
    drop = list(plans.CONDITIONS)
    if plans.is_lost(around.plan) and state_now.state == state.PENDING and not is_deleted:
        return {**fields, "state": "", "currentCSV": None, "installPlanRef": None, "installplan": None}, [], drop
    fields |= plans.completed(subscription, around.plan)
    blocking = plans.blocking(around.plan) if state_now.state == state.PENDING else ()
    return fields, [*plans.conditions(around.plan), *blocking], drop


def _ours(subscription: Subscription, state_now: SubscriptionState, *, is_deleted: bool) -> list[Condition]:
    """Two conditions that OLM does not have; a third one, `Pinned`, depends on the catalog."""
    if is_deleted:
        message = state.waits(subscription, ())
        return [Condition(CSV_MISSING, "True", "ClusterServiceVersionDeleted", message)]
    policy, installed = subscription_policy_of(subscription), state_now.installed_csv
    if reason := policy.why_held if installed else policy.hold:
        return [Condition(HELD, "True", "HeldByAnnotation", f"{installed or 'nothing yet'} is held: {reason}")]
    return []


def deprecation_conditions(
    subscription: Subscription, installed_csv: str, package: Package
) -> tuple[Condition, ...] | None:
    """The conditions that the catalog demands (catalog.md §3.8); None when it lacks the installed version."""
    channel = subscription.channel
    entries = {entry.name for one in package.channels if channel in ("", one.name) for entry in one.entries}
    if installed_csv not in entries:
        return None
    levels = (
        (PACKAGE_DEPRECATED, "package", f"olm.package/{package.name}"),
        (CHANNEL_DEPRECATED, f"channel/{channel}", f"olm.channel/{channel}"),
        (BUNDLE_DEPRECATED, f"bundle/{installed_csv}", f"olm.bundle/{installed_csv}"),
    )
    found = [
        Condition(kind, "True", message=f"{subject}: {text}")
        for kind, key, subject in levels
        if (text := package.deprecations.get(key))
    ]
    if not found:
        return ()
    return (*found, Condition(DEPRECATED, "True", message="; ".join(one.message for one in found)))


def pin_conditions(subscription: Subscription, installed_csv: str, package: Package) -> tuple[Condition, ...]:
    """`Pinned`, when the channel has a newer version that the annotation does not accept."""
    policy, channel = subscription_policy_of(subscription), subscription.channel
    bundles = {name: version_or_none(bundle.version) for name, bundle in package.bundles.items()}
    version = bundles.get(installed_csv)
    if not policy.version or version is None:
        return ()
    followed = (entry.name for one in package.channels if channel in ("", one.name) for entry in heads(one))
    offered = ((found, name) for name in followed if (found := bundles.get(name)) is not None)
    passed = [(found, name) for found, name in offered if found > version and not policy.accepts(name, found)]
    if not passed:
        return ()
    _, newest = max(passed)
    return (Condition(PINNED, "True", "PinnedByAnnotation", f"pinned to {policy.version}; {newest} is there"),)
