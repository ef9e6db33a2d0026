"""The state of a Subscription: the installed and the current version, and its plan (catalog.md §3.7 C, §3.10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, namespace_of
from shared.domain.conditions import find
from shared.domain.objects.subscription import current_csv, installed_csv, plan_of
from shared.domain.operator_groups.upgrade_strategy import fails_forward
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
    def read(cls, subscription: ReadOnly) -> SubscriptionState:
        """The fields of the status; without a next version, because its plan was deleted, the installed one counts."""
        state = str((subscription.get("status") or {}).get("state") or "")
        installed = installed_csv(subscription)
        return cls(state, installed, current_csv(subscription) or installed)

    def seen(self, csvs: Collection[str]) -> SubscriptionState:
        """Updated from the ClusterServiceVersions of the namespace: `installedCSV` is `currentCSV` once that exists."""
        if not self.current_csv:
            return self
        if self.current_csv in csvs:
            return SubscriptionState(AT_LATEST, self.current_csv, self.current_csv)
        return SubscriptionState(FAILED if self.state == FAILED else PENDING, self.installed_csv, self.current_csv)

    def judged(self, *, is_given_up: bool) -> SubscriptionState:
        """Updated from the plan: a missing version is pending, or given up when its failed plan may be skipped."""
        if self.state not in (PENDING, FAILED):
            return self
        return SubscriptionState(FAILED if is_given_up else PENDING, self.installed_csv, self.current_csv)

    def is_deleted(self, csvs: Collection[str]) -> bool:
        """Whether the installed version was deleted, and no unfinished plan installs another."""
        return bool(self.installed_csv) and self.installed_csv == self.current_csv and self.current_csv not in csvs


def generating_plan(subscription: ReadOnly) -> str:
    """The name of the plan that created the Subscription and installs its first version, while it refers to no plan."""
    starting = (subscription.get("spec") or {}).get("startingCSV")
    is_new = not plan_of(subscription) and not SubscriptionState.read(subscription).current_csv
    return annotations_of(subscription).get(names.GENERATED_BY, "") if is_new and starting else ""


def has_plan_under_way(subscription: ReadOnly) -> bool:
    """Whether a plan was written and is not finished yet; meanwhile the Subscription is not resolved.

    OLM resolves again as soon as the CSV exists, and may plan the next version before the first one has its APIs.
    """
    pending = find(subscription.get("status") or {}, PLAN_PENDING)
    is_carried_out = pending is not None and pending.get("reason") == "Installing"
    return bool(plan_of(subscription)) and (SubscriptionState.read(subscription).state == PENDING or is_carried_out)


def passes_failures(groups: Sequence[ReadOnly]) -> bool:
    """Whether the one OperatorGroup of a namespace allows a newer version after one whose plan failed."""
    return len(groups) == 1 and fails_forward(namespace_of(groups[0]), groups)


def _has_failed_plan(subscription: ReadOnly) -> bool:
    """Whether the plan for its next version has failed for good."""
    state_now = SubscriptionState.read(subscription)
    is_stuck = state_now.state in (PENDING, FAILED) and state_now.installed_csv != state_now.current_csv
    return is_stuck and find(subscription.get("status") or {}, PLAN_FAILED) is not None


def unjudged(subscriptions: Iterable[ReadOnly], groups: Callable[[], Sequence[ReadOnly]]) -> list[ReadOnly]:
    """The Subscriptions whose state does not say yet whether their failed plan may be skipped, as the group decides."""
    failed = [one for one in subscriptions if _has_failed_plan(one)]
    is_forward = bool(failed) and passes_failures(groups())
    return [one for one in failed if (SubscriptionState.read(one).state == FAILED) != is_forward]


def given_up(subscription: ReadOnly) -> str:
    """The name of the version whose plan failed and may be skipped; else empty."""
    state_now = SubscriptionState.read(subscription)
    return state_now.current_csv if state_now.state == FAILED else ""


def waits(subscription: ReadOnly, csvs: Collection[str]) -> str:
    """Why the Subscription must not be resolved now, as a sentence; empty when it must."""
    state_now = SubscriptionState.read(subscription)
    if state_now.is_deleted(csvs):
        return (
            f"ClusterServiceVersion {state_now.installed_csv} was deleted; it is not installed again by itself: "
            "delete the Subscription and create it again"
        )
    if (plan := generating_plan(subscription)) and find(subscription.get("status") or {}, CATALOGS_UNHEALTHY) is None:
        return f"InstallPlan {plan} has made it: whether that one is still there is looked up first"
    if has_plan_under_way(subscription):
        return f"InstallPlan {plan_of(subscription)} is under way"
    if state_now.seen(csvs) != state_now:
        return f"ClusterServiceVersion {state_now.current_csv} has just appeared or gone"
    return ""
