"""Why a package does not go on: one rule for each reason, by what its version or its Subscription states; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from eventing.diagnosis.status.denied_plans import of_denials, of_denied_plan, of_denied_version
from eventing.diagnosis.status.fixes import (
    NONE,
    Explanation,
    of_chain,
    of_conflict,
    of_modes,
    of_requirements,
    unpinning,
)
from eventing.diagnosis.status.groups import are_prohibitive
from eventing.diagnosis.status.package_status import Code, Package, ref_of
from shared.api.views import Csv, StoredCondition, Subscription
from shared.domain.command import Fix, kubectl, olmf
from shared.domain.objects.csv import UNSUPPORTED_GROUP
from shared.domain.operator_groups.members import former_targets
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, STATIC_REASON
from shared.domain.resolver.explain.proposals import one_group
from shared.domain.resolver.model import NOT_INSTALLABLE, UNSATISFIABLE
from shared.domain.resolver.subscription_policy import subscription_policy_of
from shared.domain.subscription.conditions import (
    BLOCKED,
    BUNDLE_UNPACK_FAILED,
    BUNDLE_UNPACKING,
    CATALOGS_UNHEALTHY,
    CSV_MISSING,
    HELD,
    PINNED,
    PLAN_FAILED,
    PLAN_MISSING,
    PLAN_PENDING,
    RESOLUTION_FAILED,
    STRANDED,
)
from shared.domain.subscription.plans import is_unsafe
from shared.domain.unpack.report import REFUSED
from shared.kinds import CATALOG_SOURCE, INSTALL_PLAN, OPERATOR_GROUP, Ref

Topic: TypeAlias = Literal["csvs", "plans", "groups", "all_groups", "providers", "catalog"]
"""What else is to be read for a rule: a field of `NamespaceContext`, or when the catalog is tried again."""
ANY = ""
"""A condition counts whatever its reason is."""
TO_APPROVE = "RequiresApproval"
_GROUPS_CHANGE = "when the OperatorGroups of the namespace change"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a reason means."""

    code: Code
    of_csv: Callable[[Csv, Package], Explanation] | None = None
    """What to add about the version, from what was read."""
    of_subscription: Callable[[Subscription, Package], Explanation] | None = None
    """What to add about the Subscription."""
    reads: tuple[Topic, ...] = ()
    until: str = ""
    """What ends the wait, whatever was read."""
    is_stuck: bool = False
    """Only a person can help."""
    otherwise: Code | None = None
    """The code when there is nothing to advise: the reason alone does not say that something is wrong."""


def _see_conflict(subscription: Subscription, _: Package) -> Explanation:
    """The conflict and the fixes that were tried; a condition holds no more than five lines of them."""
    return Explanation(fixes=(_explain(subscription, "see the conflict, and what was tried"),))


def _see_choice(subscription: Subscription, _: Package) -> Explanation:
    """Each newer version, with the rule that excludes it."""
    return Explanation(fixes=(_explain(subscription, "see which rule excludes it"),))


def _explain(subscription: Subscription, what: str) -> Fix:
    return Fix(what, olmf("explain", subscription.name, namespace=subscription.namespace))


def _prevented(subscription: Subscription, package: Package) -> Explanation:
    found = _of_groups(subscription, package)
    if found != NONE:
        return found
    return replace(_see_conflict(subscription, package), evidence=tuple(_catalog(subscription)))


def _of_groups(place: Csv | Subscription, package: Package) -> Explanation:
    """About a namespace with no group, or several; nothing where they were not read, or there is one by now."""
    groups = package.context.groups
    if groups is None or not are_prohibitive(groups):
        return NONE
    named = [one.name for one in sorted(groups, key=lambda one: (one.age_key, one.name))]
    packages = [package.subscription.package] if package.subscription else []
    fix = Fix(*one_group(place.namespace, named, packages, former_targets(package.context.csvs)))
    return Explanation(
        fixes=(fix,), until=_GROUPS_CHANGE, evidence=tuple(ref_of(OPERATOR_GROUP, one) for one in groups)
    )


def _of_plan(subscription: Subscription, _: Package) -> Explanation:
    return Explanation(evidence=tuple(_plan(subscription)))


def _of_failed_plan(subscription: Subscription, package: Package) -> Explanation:
    """About a plan that is not tried again; once its version is there, a Subscription plans no other one for it."""
    found, plan = _of_plan(subscription, package), subscription.plan
    if not plan:
        return found
    if package.csv:
        name = subscription.package
        again = Fix(f"mend what it names, then uninstall and install {name} again")
        return replace(found, fixes=(again,), until=f"when {name} is installed again")
    delete = kubectl("delete", "installplan", plan, namespace=subscription.namespace)
    is_blocking = subscription.has_condition(BLOCKED)
    return replace(
        found,
        message=f"nothing else is installed while InstallPlan {plan} exists" if is_blocking else "",
        fixes=(Fix("mend what it names, and delete the plan for a new one", delete),),
        until=f"when InstallPlan {plan} is deleted",
    )


def _unfinished(subscription: Subscription, package: Package) -> Explanation:
    found = of_denied_plan(subscription, package)
    return replace(found, evidence=(*_plan(subscription), *found.evidence))


def _of_chain(csv: Csv, package: Package) -> Explanation:
    """What helps the version at its root; the rights that it lacks, before anything is deleted."""
    found = of_chain(csv, package)
    denied = of_denials(found.message, csv.namespace, package)
    return replace(found, fixes=denied.fixes, until=denied.until) if denied.fixes else found


def _approval(subscription: Subscription, package: Package) -> Explanation:
    plan = subscription.plan
    command = olmf("approve", plan, namespace=subscription.namespace)
    found = _of_plan(subscription, package)
    if any(one.name == plan and is_unsafe(one) for one in package.context.plans):
        look = olmf("plan", namespace=subscription.namespace)
        return Explanation(
            fixes=(Fix("mend what it names, and approve it then; see all of it", look),), evidence=found.evidence
        )
    note = " (it is held, which does not stop a plan that is approved)" if hold_of(subscription) else ""
    return Explanation(fixes=(Fix(f"approve {plan}{note}", command),) if plan else (), evidence=found.evidence)


def _unhealthy(subscription: Subscription, _: Package) -> Explanation:
    return Explanation(evidence=tuple(_catalog(subscription)))


def _release(subscription: Subscription, _: Package) -> Explanation:
    name, namespace = subscription.package or subscription.name, subscription.namespace
    return Explanation(fixes=(Fix(f"let {name} go", olmf("hold", name, "--release", namespace=namespace)),))


def _unpin(subscription: Subscription, _: Package) -> Explanation:
    command = unpinning(subscription.name, subscription.namespace)
    return Explanation(fixes=(Fix("accept every version", command),))


def hold_of(subscription: Subscription) -> str:
    """Why it is held; empty when it is not."""
    policy = subscription_policy_of(subscription)
    return policy.why_held if subscription.installed_csv else policy.hold


def _plan(subscription: Subscription) -> Iterator[Ref]:
    ref = INSTALL_PLAN.ref_or_none(subscription.plan, subscription.namespace)
    yield from (ref,) if ref else ()


def _catalog(subscription: Subscription) -> Iterator[Ref]:
    ref = CATALOG_SOURCE.ref_or_none(subscription.source, subscription.source_namespace)
    yield from (ref,) if ref else ()


OF_CSV: Mapping[str, Rule] = {
    UNSUPPORTED_GROUP: Rule(Code.INSTALL_MODE_UNSUPPORTED, of_csv=of_modes, reads=("csvs", "groups")),
    CONFLICT_REASON: Rule(Code.API_CONFLICT, of_csv=of_conflict, reads=("groups", "all_groups", "providers")),
    STATIC_REASON: Rule(Code.API_CONFLICT, reads=("groups", "all_groups")),
    "NoOperatorGroup": Rule(Code.NO_OPERATOR_GROUP, of_csv=_of_groups, reads=("csvs", "groups"), until=_GROUPS_CHANGE),
    "TooManyOperatorGroups": Rule(
        Code.TOO_MANY_OPERATOR_GROUPS, of_csv=_of_groups, reads=("groups",), until=_GROUPS_CHANGE
    ),
    "RequirementsNotMet": Rule(Code.REQUIREMENTS_UNMET, of_csv=of_requirements, reads=("plans",)),
    "InstallWaiting": Rule(
        Code.PREDECESSOR_STUCK, of_csv=_of_chain, reads=("csvs", "plans"), otherwise=Code.INSTALLING
    ),
}
"""By the reason of a version that is not installed."""

OF_CONDITION: Mapping[tuple[str, str], Rule] = {
    (CSV_MISSING, ANY): Rule(Code.CSV_DELETED, until="when the Subscription is created again", is_stuck=True),
    (RESOLUTION_FAILED, UNSATISFIABLE): Rule(
        Code.UNSATISFIABLE, of_subscription=_see_conflict, is_stuck=True,
        until="when a Subscription, version or catalog changes",
    ),
    (RESOLUTION_FAILED, ANY): Rule(
        Code.RESOLUTION_PREVENTED, of_subscription=_prevented, reads=("csvs", "groups", "catalog")
    ),
    (BUNDLE_UNPACK_FAILED, ANY): Rule(Code.UNPACK_FAILED),
    (PLAN_FAILED, ANY): Rule(Code.PLAN_FAILED, of_subscription=_of_failed_plan),
    (PLAN_MISSING, ANY): Rule(Code.PLAN_DELETED),
    (PLAN_PENDING, TO_APPROVE): Rule(Code.APPROVAL_NEEDED, of_subscription=_approval, reads=("plans",)),
    (PLAN_PENDING, ANY): Rule(Code.PLAN_UNFINISHED, of_subscription=_unfinished, reads=("groups",)),
    (STRANDED, NOT_INSTALLABLE): Rule(
        Code.NOT_INSTALLABLE, of_subscription=_see_choice, until="when a Subscription, version or catalog changes"
    ),
    (STRANDED, ANY): Rule(Code.STRANDED, until="when its channel changes"),
    (CATALOGS_UNHEALTHY, ANY): Rule(Code.CATALOG_UNHEALTHY, of_subscription=_unhealthy, reads=("catalog",)),
    (BUNDLE_UNPACKING, REFUSED): Rule(Code.UNPACK_REFUSED),
    (BUNDLE_UNPACKING, ANY): Rule(Code.UNPACKING),
}  # fmt: skip
"""By type and reason of a condition of a Subscription that says why it does not go on, the gravest type first."""

OF_ANNOTATION: Mapping[str, Rule] = {
    HELD: Rule(Code.HELD, of_subscription=_release),
    PINNED: Rule(Code.PINNED, of_subscription=_unpin),
}
"""By type of a condition about what an annotation asks for: counts when nothing else is wrong."""

OF_PHASE: Mapping[str, Rule] = {"Failed": Rule(Code.VERSION_FAILED, of_csv=of_denied_version, reads=("groups",))}
"""By phase of a version whose reason has no rule."""
INSTALLING, INSTALLED = Rule(Code.INSTALLING), Rule(Code.INSTALLED)
RESOLVING = Rule(Code.RESOLVING, reads=("catalog",))


def rule_of_condition(condition: StoredCondition) -> Rule:
    """The rule of a condition whose type is in the table. KeyError."""
    return OF_CONDITION.get((condition.type, condition.reason)) or OF_CONDITION[condition.type, ANY]


def explanation_of(rule: Rule, package: Package) -> Explanation:
    """What the rule adds."""
    if rule.of_csv and package.csv:
        return rule.of_csv(package.csv, package)
    if rule.of_subscription and package.subscription:
        return rule.of_subscription(package.subscription, package)
    return NONE
