"""The events for the end of an InstallPlan."""

from __future__ import annotations

from collections.abc import Iterable

from shared import kinds, names
from shared.api.manifest import ReadOnly
from shared.api.views import InstallPlan, OperatorGroup
from shared.domain.plan.dependencies import generated
from shared.step import Emit, Ref


def end_of(plan: InstallPlan, status: ReadOnly, groups: Iterable[OperatorGroup]) -> tuple[Emit, ...]:
    """The events for the end of a plan: about itself, each version in it, and each Subscription that it made.

    The Subscriptions that own the plan are woken by each of its changes anyway. The versions in a plan that had to be
    tried again did not wait for its end: the groups beside it may give their operators rights only now.
    """
    namespace = plan.namespace
    csvs = (kinds.CLUSTER_SERVICE_VERSION.ref_or_none(name, namespace) for name in plan.csvs)
    made = (kinds.SUBSCRIPTION.ref_or_none(name, namespace) for name in generated(plan))
    ended = (names.PLAN_COMPLETED if status["phase"] == "Complete" else names.PLAN_FAILED, (Ref.of(plan),))
    late = (names.GRANT_DUE, list(map(Ref.of, groups)) if plan.message else ())
    notifications = (ended, (names.REQUIREMENT_CHANGED, csvs), (names.SUBSCRIPTION_OUTDATED, made), late)
    return tuple(Emit(type_, one) for type_, refs in notifications for one in refs if one)
