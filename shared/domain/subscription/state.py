"""The state of a Subscription: the installed and the current version, and its plan (catalog.md §3.7 C, §3.10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from shared.api.views import OperatorGroup, Subscription
from shared.domain.subscription.conditions import CATALOGS_UNHEALTHY, PLAN_FAILED, PLAN_PENDING

PENDING = "UpgradePending"
AT_LATEST = "AtLatestKnown"
FAILED = "UpgradeFailed"


@dataclass(frozen=True, slots=True)
class SubscriptionState:
    """`state`, `installedCSV` and `currentCSV` of a Subscription, which change together."""

    state: str
    installed_csv: str
    current_csv: str

    @classmethod
    def read(cls, subscription: Subscription) -> SubscriptionState:
        """The fields of the status; without a next version, because its plan was deleted, the installed one counts."""
        installed = subscription.installed_csv
        return cls(subscription.state, installed, subscription.current_csv or installed)

    def with_csvs(self, csvs: Collection[str]) -> SubscriptionState:
        """Updated from the ClusterServiceVersions of the namespace: `installedCSV` is `currentCSV` once that exists."""
        if not self.current_csv:
            return self
        if self.current_csv in csvs:
            return SubscriptionState(AT_LATEST, self.current_csv, self.current_csv)
        return SubscriptionState(FAILED if self.state == FAILED else PENDING, self.installed_csv, self.current_csv)

    def with_plan(self, *, is_given_up: bool) -> SubscriptionState:
        """Updated from the plan: a missing version is pending, or given up when its failed plan may be skipped."""
        if self.state not in (PENDING, FAILED):
            return self
        return SubscriptionState(FAILED if is_given_up else PENDING, self.installed_csv, self.current_csv)

    def is_deleted(self, csvs: Collection[str]) -> bool:
        """Whether the installed version was deleted, and no unfinished plan installs another."""
        return bool(self.installed_csv) and self.installed_csv == self.current_csv and self.current_csv not in csvs


def generating_plan(subscription: Subscription) -> str:
    """The name of the plan that created the Subscription and installs its first version, while it refers to no plan."""
    is_new = not subscription.plan and not SubscriptionState.read(subscription).current_csv
    return subscription.generated_by if is_new and subscription.starting_csv else ""


def has_plan_under_way(subscription: Subscription) -> bool:
    """Whether a plan was written and is not finished yet; meanwhile the Subscription is not resolved.

    OLM resolves again as soon as the CSV exists, and may plan the next version before the first one has its APIs.
    """
    is_carried_out = subscription.condition(PLAN_PENDING).reason == "Installing"
    return bool(subscription.plan) and (SubscriptionState.read(subscription).state == PENDING or is_carried_out)


def passes_failures(groups: Sequence[OperatorGroup]) -> bool:
    """Whether the one OperatorGroup of a namespace allows a newer version after one whose plan failed."""
    return len(groups) == 1 and groups[0].fails_forward


def has_failed_plan(subscription: Subscription) -> bool:
    """Whether the plan for its next version has failed for good."""
    state_now = SubscriptionState.read(subscription)
    is_stuck = state_now.state in (PENDING, FAILED) and state_now.installed_csv != state_now.current_csv
    return is_stuck and subscription.has_condition(PLAN_FAILED)


def unjudged(failed: Iterable[Subscription], groups: Sequence[OperatorGroup]) -> list[Subscription]:
    """Those with a failed plan whose state does not say yet whether it may be skipped, as the group decides."""
    is_forward = passes_failures(groups)
    return [one for one in failed if (SubscriptionState.read(one).state == FAILED) != is_forward]


def given_up(subscription: Subscription) -> str:
    """The name of the version whose plan failed and may be skipped; else empty."""
    state_now = SubscriptionState.read(subscription)
    return state_now.current_csv if state_now.state == FAILED else ""


def waits(subscription: Subscription, csvs: Collection[str]) -> str:
    """Why the Subscription must not be resolved now, as a sentence; empty when it must."""
    state_now = SubscriptionState.read(subscription)
    if state_now.is_deleted(csvs):
        return (
            f"ClusterServiceVersion {state_now.installed_csv} was deleted; it is not installed again by itself: "
            "delete the Subscription and create it again"
        )
    if (plan := generating_plan(subscription)) and not subscription.has_condition(CATALOGS_UNHEALTHY):
        return f"InstallPlan {plan} has made it: whether that one is still there is looked up first"
    if has_plan_under_way(subscription):
        return f"InstallPlan {subscription.plan} is under way"
    if state_now.with_csvs(csvs) != state_now:
        return f"ClusterServiceVersion {state_now.current_csv} has just appeared or gone"
    return ""
