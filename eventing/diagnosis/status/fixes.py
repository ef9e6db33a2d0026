"""What helps a ClusterServiceVersion that groups, deleted rights, or older versions stop; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten

from eventing.diagnosis.status.chain import chain, originals, package_named_by
from eventing.diagnosis.status.package_status import Code, Package, ref_of
from shared import names
from shared.api.views import Csv, InstallPlan, OperatorGroup
from shared.domain.command import Command, Fix, kubectl
from shared.domain.csv.blockage import blockage
from shared.domain.csv.requirements import owned_definitions
from shared.domain.objects.csv import UNSUPPORTED_GROUP
from shared.domain.operator_groups.group import Api, Group
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES, first_supported
from shared.domain.operator_groups.provided_apis import apis_of
from shared.domain.operator_groups.targets import described
from shared.domain.subscription.plans import has_failed
from shared.kinds import (
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SERVICE_ACCOUNT,
    Ref,
)

_LONGEST = 240
"""The most letters of a message that stands inside a sentence."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a rule adds to what a status says; all empty when nothing is known."""

    message: str = ""
    fixes: tuple[Fix, ...] = ()
    until: str = ""
    evidence: tuple[Ref, ...] = ()
    instead: str = ""
    """What says a message shortly that stays in the cluster as it is."""
    code: Code | None = None
    """A code that says more than that of the rule."""


NONE = Explanation()


def of_requirements(csv: Csv, package: Package) -> Explanation:
    """About what is missing, as far as nobody brings it back."""
    plans = [plan for plan in package.context.plans if csv.name in plan.csvs]
    return _of_definitions(csv, plans) or _of_accounts(csv, plans)


def _of_definitions(csv: Csv, plans: Sequence[InstallPlan]) -> Explanation | None:
    """About deleted definitions: a plan that is complete does not make them again."""
    unmet = {one.name for one in csv.requirements if one.status == "NotPresent"}
    lacking = sorted(owned_definitions(csv) & unmet)
    package, listed = package_named_by(csv), ", ".join(lacking)
    if not lacking or not package or any(plan.phase != "Complete" for plan in plans):
        return None
    absent = _absent(csv, lacking, plans)
    coming = ", ".join(one for one in lacking if one not in absent)
    back = Fix(f"uninstall and install {package} again, which brings {coming} back")
    own = Fix(f"make {', '.join(absent)}, or install a version whose bundle contains it")
    fixes = (*((back,) if coming else ()), *((own,) if absent else ()))
    message = f"{csv.name} owns {', '.join(absent)}, which its bundle does not contain" if absent else ""
    until = f"when CustomResourceDefinition {listed} is there"
    return Explanation(message, fixes, until, tuple(map(CUSTOM_RESOURCE_DEFINITION.ref, lacking)))


def _absent(csv: Csv, definitions: Sequence[str], plans: Sequence[InstallPlan]) -> list[str]:
    """Those that the plans of the version do not write, so that its bundle has none; without a plan nobody knows."""
    steps = (step for plan in plans for step in plan.steps if step.csv == csv.name)
    written = {step.name for step in steps if step.kind == CUSTOM_RESOURCE_DEFINITION.kind}
    return [one for one in definitions if plans and one not in written]


def _of_accounts(csv: Csv, plans: Sequence[InstallPlan]) -> Explanation:
    """About accounts that no plan restores: the one that made them was deleted, too, or there never was one."""
    lacking = [one.name for one in csv.requirements if one.kind == "ServiceAccount" and one.status != "Present"]
    if not lacking or plans:
        return NONE
    listed, name = ", ".join(lacking), csv.name
    until = f"when ServiceAccount {listed} has its rights"
    found = tuple(filter(None, (SERVICE_ACCOUNT.ref_or_none(one, csv.namespace) for one in lacking)))
    if csv.label(names.MANAGED) != "true":
        why = f"no InstallPlan installs {name}, so nobody makes ServiceAccount {listed} or gives it its rights"
        return Explanation(
            why, (Fix("make them, or delete this ClusterServiceVersion and subscribe to its package"),), until, found
        )
    why = (
        f"ServiceAccount {listed}, or its rights, were deleted, and nobody restores them, because the InstallPlan "
        "that made them was deleted, too"
    )
    return Explanation(why, (Fix(f"restore them, or uninstall {name} and install it again"),), until, found)


def of_modes(csv: Csv, package: Package) -> Explanation:
    """About a group that selects what the version does not support."""
    groups = package.context.groups or ()
    if len(groups) != 1:
        return NONE
    group = Group.of(groups[0])
    supported = [mode.type for mode in csv.install_modes if mode.is_supported]
    does = f"OperatorGroup {group.name} {described(group.targets)}; {csv.name} supports {', '.join(supported)}"
    evidence = (ref_of(OPERATOR_GROUP, groups[0]),)
    others = same_namespace_csvs(csv, package.context.csvs)
    targets = first_supported(csv.install_modes, group.namespace, ((group.namespace,), (ALL_NAMESPACES,)))
    until = f"when OperatorGroup {group.name} changes"
    if others:
        return Explanation(f"{does}; {_moves(group, targets, others)}", (_elsewhere(csv),), until, evidence)
    return Explanation(does, (selecting(group, targets),), until, evidence)


def same_namespace_csvs(csv: Csv, present: Iterable[Csv]) -> list[str]:
    """The other operators of a namespace that its OperatorGroup suits: a change of the group moves what they watch."""
    found = originals(present)
    mine = chain(found, {csv.name})
    return sorted(one.name for one in found if one.name not in mine and one.reason != UNSUPPORTED_GROUP)


def _moves(group: Group, targets: Sequence[str], others: Sequence[str]) -> str:
    instead = f"{_watched(targets)} instead of {_watched(group.targets or ())}"
    return f"the group is also that of {', '.join(others)}, which would then watch {instead}"


def _elsewhere(csv: Csv) -> Fix:
    """What helps where a change of the group would move other operators, too."""
    package = package_named_by(csv) or csv.name
    return Fix(f"uninstall {package} here, and install it in a namespace of its own")


def _watched(targets: Sequence[str]) -> str:
    return ", ".join(one or "all namespaces" for one in targets) or "other namespaces"


def selecting(group: Group, targets: Sequence[str]) -> Fix:
    """Let a group select these namespaces."""
    if not targets:
        return Fix("let spec.targetNamespaces name the namespaces that it is to watch")
    spec = {"targetNamespaces": list(filter(None, targets)) or None, "selector": None}
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    words = ("patch", "operatorgroup", group.name, "--type", "merge", "-p", patch)
    return Fix(f"let the group select {_watched(targets)}", kubectl(*words, namespace=group.namespace))


def unpinning(subscription: str, namespace: str) -> Command:
    """What lifts the pin of a Subscription."""
    return kubectl("annotate", "subscription", subscription, f"{names.VERSION}-", namespace=namespace)


def of_conflict(csv: Csv, package: Package) -> Explanation:
    """About other groups that provide the same APIs."""
    conflicting = conflicting_groups(csv, package.context.all_groups)
    if not conflicting:
        return NONE
    found = "; ".join(_provided(one, apis_of(csv) & one.apis, package.context.providers) for one in conflicting)
    named = " or ".join(f"{one.namespace}/{one.name}" for one in conflicting)
    fix = Fix("uninstall one of them, or let their groups select different namespaces")
    evidence = tuple(OPERATOR_GROUP.ref(one.name, one.namespace) for one in conflicting)
    return Explanation(found, (fix,), f"when OperatorGroup {named} changes", evidence)


def conflicting_groups(csv: Csv, all_groups: Iterable[OperatorGroup]) -> list[Group]:
    """The groups that provide an API of the version for a namespace that its group selects, too."""
    groups = [Group.of(one) for one in all_groups]
    mine = next((one for one in groups if one.namespace == csv.namespace), None)
    return [one for one in groups if mine and one != mine and one.meets(mine) and one.apis & apis_of(csv)]


def _provided(other: Group, apis: frozenset[Api], providers: Iterable[Csv]) -> str:
    csvs = [one for one in providers if one.namespace == other.namespace and not one.is_copy]
    named = ", ".join(one.name for one in csvs if apis & apis_of(one))
    by = f" ({named})" if named else ""
    first, *others = sorted(map(str, apis))
    more = f" and {len(others)} more" if others else ""
    return f"OperatorGroup {other.namespace}/{other.name}{by} provides {first}{more}, too"


def of_chain(csv: Csv, package: Package) -> Explanation:
    """About a version whose predecessor, or an older one, does not let it be installed."""
    found = blockage(csv, package.context.csvs)
    if found is None:
        return NONE
    failed = [plan for plan in package.context.plans if has_failed(plan) and found.root in plan.csvs]
    causes = (_failure(plan, found.root) for plan in failed)
    evidence = (
        CLUSTER_SERVICE_VERSION.ref(found.root, csv.namespace),
        *(ref_of(INSTALL_PLAN, one) for one in failed),
    )
    until = f"when {found.root} is installed, replaced or deleted"
    return Explanation("; ".join((found.state, *causes)), found.fixes, until, evidence)


def _failure(plan: InstallPlan, version: str) -> str:
    message = shorten(plan.message, _LONGEST, placeholder=" …")
    return f"InstallPlan {plan.name} of {version} failed" + (f": {message}" if message else "")
