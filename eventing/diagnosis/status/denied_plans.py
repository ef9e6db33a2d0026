"""What helps a plan or a version whose ServiceAccount lacks rights, or is not there, or whose group is empty; pure."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.diagnosis.status.fixes import NONE, Explanation
from eventing.diagnosis.status.package_status import Code, Package, ref_of
from shared import names
from shared.api.views import Csv, OperatorGroup, Subscription
from shared.domain.command import Fix, kubectl, olmf
from shared.domain.objects.denials import denials, other_parts, summary, until_granted
from shared.domain.operator_groups import targets
from shared.domain.selectors import satisfying
from shared.domain.subscription.conditions import PLAN_PENDING
from shared.kinds import OPERATOR_GROUP, SERVICE_ACCOUNT, Ref


def of_denied_plan(subscription: Subscription, package: Package) -> Explanation:
    """About a plan that goes on when its account is there, or is given more, or when its group selects a namespace."""
    message = subscription.condition(PLAN_PENDING).message
    return _of_group(package) or of_denials(message, subscription.namespace, package)


def of_denied_version(csv: Csv, package: Package) -> Explanation:
    """About a version that is installed then."""
    return _of_group(package) or of_denials(csv.message, csv.namespace, package)


def of_denials(message: str, namespace: str, package: Package) -> Explanation:
    """About what a message says that the account of the group may not do; nothing where it says nothing of that."""
    found = tuple(denials(message))
    if not found:
        return NONE
    first = found[0]
    groups = [one for one in package.context.groups or () if one.service_account == first.account]
    named = f", which OperatorGroup {groups[0].name} names" if groups else ""
    who = f"ServiceAccount {first.namespace}/{first.account}"
    lacking = summary(found).replace(who, f"{who}{named},", 1) if named else summary(found)
    return Explanation(
        fixes=(granting(namespace),),
        until=until_granted(found),
        evidence=tuple(_evidence(first.namespace, first.account, [ref_of(OPERATOR_GROUP, one) for one in groups])),
        instead="; ".join((lacking, *other_parts(message))),
        code=Code.PERMISSIONS_LACKING,
    )


def granting(namespace: str) -> Fix:
    """What gives the account of a namespace what it lacks."""
    return Fix(
        "print the roles and bindings with all that it lacks, look at them, and pipe them into `kubectl apply -f -`",
        olmf("plan", "--grants", namespace=namespace),
    )


def lacks_account(group: OperatorGroup) -> bool:
    """Whether the group says that the account that it names is not there."""
    return bool(group.service_account) and group.condition(targets.SERVICE_ACCOUNT).is_true


def making_account(group: OperatorGroup) -> Fix:
    """What makes the account that a group names."""
    return Fix(
        f"make the ServiceAccount that OperatorGroup {group.name} names",
        kubectl("create", "serviceaccount", group.service_account, namespace=group.namespace),
    )


def _of_group(package: Package) -> Explanation | None:
    return _of_missing_account(package) or _of_empty_selection(package)


def _of_empty_selection(package: Package) -> Explanation | None:
    """About the only group, which selects by labels and has no namespace; None where it is otherwise.

    Its status lists nothing then, as before anybody has looked: the sentence is true of both.
    """
    match package.context.groups:
        case (group,) if targets.needs_namespaces(group) and not group.selected:
            return Explanation(
                f"OperatorGroup {group.name} selects namespaces by labels, and has found none so far",
                (_labelling(group),),
                f"when OperatorGroup {group.name} selects a namespace",
                (ref_of(OPERATOR_GROUP, group),),
            )
    return None


def _labelling(group: OperatorGroup) -> Fix:
    """What makes a namespace match the selector of a group, its own to begin with."""
    labels = satisfying(group.selector)
    if not labels or names.NAMESPACE_NAME in labels:  # why: the API server alone sets that one
        return Fix("let spec.selector match the namespaces that it is to select")
    words = [f"{key}={value}" for key, value in labels.items()]
    where = f"the namespaces that it is to select, here {group.namespace}"
    what = f"give these labels to {where}, in place of other values of the same keys"
    return Fix(what, kubectl("label", "namespace", group.namespace, *words, "--overwrite"))


def _of_missing_account(package: Package) -> Explanation | None:
    """About the account that a group names, and that is not there; None where no group says so."""
    group = next(filter(lacks_account, package.context.groups or ()), None)
    if group is None:
        return None
    name, namespace = group.service_account, group.namespace
    evidence = tuple(_evidence(namespace, name, [ref_of(OPERATOR_GROUP, group)]))
    return Explanation(
        fixes=(making_account(group),), until=f"when ServiceAccount {namespace}/{name} is there", evidence=evidence
    )


def _evidence(namespace: str, account: str, groups: list[Ref]) -> Iterator[Ref]:
    yield from groups
    if ref := SERVICE_ACCOUNT.ref_or_none(account, namespace):
        yield ref
