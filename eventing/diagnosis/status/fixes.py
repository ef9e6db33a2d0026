"""What to change so that a ClusterServiceVersion can work that groups, deleted rights, or older versions stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten

from eventing.diagnosis.status.chain import chain, originals, package_named_by
from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, name_of, namespace_of
from shared.domain.csv.blockage import blockage
from shared.domain.csv.requirements import owned_definitions
from shared.domain.objects.csv import UNSUPPORTED_GROUP, reason_of
from shared.domain.objects.install_plan import planned_csvs
from shared.domain.operator_groups.group import Api, Group
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES, first_supported, modes_of
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, apis_of
from shared.domain.operator_groups.targets import described, refusal
from shared.domain.subscription.plans import has_failed
from shared.domain.unsupported import VERSION, unsupported
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP, Kind, Ref
from shared.ports import Cluster

UNRESOLVED = "ErrorPreventedResolution"
"""The reason of a Subscription for which nothing could be decided; its message says why."""
_LONGEST = 240
"""The most letters of a message that stands inside a sentence."""
_GROUPS = "when the OperatorGroups of the namespace change"


@dataclass(frozen=True, slots=True)
class ListedOnce:
    """A cluster of which everything is listed once: a crowd that waits for one group asks for it again and again."""

    cluster: Cluster
    _lists: dict[tuple[Kind, str], tuple[Manifest, ...]] = field(default_factory=dict)

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None."""
        return self.cluster.get(ref)

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        """The objects of a kind, in a namespace or everywhere."""
        if labels:
            return self.cluster.list(kind, namespace, labels=labels)
        if (kind, namespace) not in self._lists:
            self._lists[kind, namespace] = self.cluster.list(kind, namespace)
        return self._lists[kind, namespace]


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change, and what ends the wait; both empty when nothing is known."""

    says: str = ""
    until: str = ""


def fix_for(csv: ReadOnly | None, cluster: Cluster) -> Fix:
    """What helps a version that cannot be installed."""
    found = _FIXES.get(reason_of(csv)) if csv else None
    return found(csv, cluster) if csv and found else Fix()


def until_groups(namespace: str, cluster: Cluster) -> str:
    """What ends the wait of a namespace whose OperatorGroups stop everybody; empty when they do not."""
    return _GROUPS if are_prohibitive(cluster.list(OPERATOR_GROUP, namespace)) else ""


def are_prohibitive(groups: Sequence[ReadOnly]) -> bool:
    """Whether these OperatorGroups, all of one namespace, stop everybody there."""
    return len(groups) != 1 or refusal(groups[0]) is not None


def _of_requirements(csv: ReadOnly, cluster: Cluster) -> Fix:
    plans = [plan for plan in cluster.list(INSTALL_PLAN, namespace_of(csv)) if name_of(csv) in planned_csvs(plan)]
    return _of_definitions(csv, plans) or _of_rights(csv, plans)


def _of_definitions(csv: ReadOnly, plans: Sequence[ReadOnly]) -> Fix | None:
    """About deleted definitions: a plan that is complete does not make them again."""
    unmet = [
        str(one.get("name"))
        for one in csv["status"].get("requirementStatus") or ()
        if one.get("status") == "NotPresent"
    ]
    lacking = ", ".join(sorted(owned_definitions(csv) & set(unmet)))
    package = package_named_by(csv)
    if not lacking or not package or any((plan.get("status") or {}).get("phase") != "Complete" for plan in plans):
        return None
    return Fix(
        f"uninstalling and installing {package} again brings {lacking} back",
        f"when CustomResourceDefinition {lacking} is there",
    )


def _of_rights(csv: ReadOnly, plans: Sequence[ReadOnly]) -> Fix:
    """About accounts that no plan restores: the one that made them was deleted, too, or there never was one."""
    requirements = csv["status"].get("requirementStatus") or ()
    accounts = [one for one in requirements if one.get("kind") == "ServiceAccount" and one.get("status") != "Present"]
    lacking = ", ".join(str(one.get("name")) for one in accounts)
    if not lacking or plans:
        return Fix()
    until = f"when ServiceAccount {lacking} has its rights"
    if labels_of(csv).get(names.MANAGED) != "true":
        return Fix(
            f"no InstallPlan installs {name_of(csv)}, so nobody makes ServiceAccount {lacking} or gives it its rights: "
            "make them, or delete this ClusterServiceVersion and subscribe to its package",
            until,
        )
    return Fix(
        f"ServiceAccount {lacking}, or its rights, were deleted, and nobody restores them, because the InstallPlan "
        f"that made them was deleted, too: restore them, or uninstall {name_of(csv)} and install it again",
        until,
    )


def _of_modes(csv: ReadOnly, cluster: Cluster) -> Fix:
    groups = cluster.list(OPERATOR_GROUP, namespace_of(csv))
    if len(groups) != 1:
        return Fix()
    group = Group.of(groups[0])
    supported = [str(mode.get("type")) for mode in modes_of(csv) if mode.get("supported")]
    does = f"OperatorGroup {group.name} {described(group.targets)}; {name_of(csv)} supports {', '.join(supported)}"
    if why := unsupported(VERSION, csv):
        return Fix(f"{does}; no change of the group helps: {why}")
    others = neighbours(csv, cluster.list(CLUSTER_SERVICE_VERSION, group.namespace))
    targets = first_supported(modes_of(csv), group.namespace, ((group.namespace,), (ALL_NAMESPACES,)))
    helps = _move(csv, group, targets, others) if others else f": {_change(group, targets)}"
    return Fix(f"{does}{helps}", f"when OperatorGroup {group.name} changes")


def neighbours(csv: ReadOnly, present: Iterable[ReadOnly]) -> list[str]:
    """The other operators of a namespace that its OperatorGroup suits: a change of the group moves what they watch."""
    found = originals(present)
    mine = chain(found, {name_of(csv)})
    return sorted(name_of(one) for one in found if name_of(one) not in mine and reason_of(one) != UNSUPPORTED_GROUP)


def _move(csv: ReadOnly, group: Group, targets: Sequence[str], others: Sequence[str]) -> str:
    """What helps where a change of the group would move other operators, too."""
    package = package_named_by(csv) or name_of(csv)
    instead = f"{_watched(targets)} instead of {_watched(group.targets or ())}"
    does = f"the group is also that of {', '.join(others)}, which would then watch {instead}"
    return f"; {does}: uninstall {package} here, and install it in a namespace of its own"


def _watched(targets: Sequence[str]) -> str:
    return ", ".join(one or "all namespaces" for one in targets) or "other namespaces"


def _change(group: Group, targets: Sequence[str]) -> str:
    if not targets:
        return "let spec.targetNamespaces name the namespaces that it is to watch"
    spec = {"targetNamespaces": list(filter(None, targets)) or None, "selector": None}
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    return f"`kubectl -n {group.namespace} patch operatorgroup {group.name} --type merge -p '{patch}'`"


def _of_rivals(csv: ReadOnly, cluster: Cluster) -> Fix:
    groups = [Group.of(one) for one in cluster.list(OPERATOR_GROUP)]
    mine = next((one for one in groups if one.namespace == namespace_of(csv)), None)
    rivals = [one for one in groups if mine and one != mine and one.meets(mine) and one.apis & apis_of(csv)]
    if not rivals:
        return Fix()
    found = "; ".join(_provided(one, apis_of(csv) & one.apis, cluster) for one in rivals)
    groups_named = " or ".join(f"{one.namespace}/{one.name}" for one in rivals)
    return Fix(
        f"{found}: uninstall one of them, or let their groups select different namespaces",
        f"when OperatorGroup {groups_named} changes",
    )


def _provided(rival: Group, apis: frozenset[Api], cluster: Cluster) -> str:
    csvs = originals(cluster.list(CLUSTER_SERVICE_VERSION, rival.namespace))
    homes = ", ".join(name_of(one) for one in csvs if apis & apis_of(one))
    by = f" ({homes})" if homes else ""
    first, *others = sorted(map(str, apis))
    more = f" and {len(others)} more" if others else ""
    return f"OperatorGroup {rival.namespace}/{rival.name}{by} provides {first}{more}, too"


def _of_chain(csv: ReadOnly, cluster: Cluster) -> Fix:
    """About a version whose predecessor, or an older one, does not let it be installed."""
    found = blockage(csv, cluster.list(CLUSTER_SERVICE_VERSION, namespace_of(csv)))
    if found is None:
        return Fix()
    failed = (plan for plan in cluster.list(INSTALL_PLAN, namespace_of(csv)) if has_failed(plan))
    causes = [_failure(plan, found.root) for plan in failed if found.root in planned_csvs(plan)]
    return Fix("; ".join((found.says, *causes)), f"when {found.root} is installed, replaced or deleted")


def _failure(plan: ReadOnly, version: str) -> str:
    message = shorten(str(plan["status"].get("message") or ""), _LONGEST, placeholder=" …")
    return f"InstallPlan {name_of(plan)} of {version} failed" + (f": {message}" if message else "")


def _of_number(*_: object) -> Fix:
    """About a namespace without exactly one group, which the message of the version says."""
    return Fix(until=_GROUPS)


_FIXES: Mapping[str, Callable[[ReadOnly, Cluster], Fix]] = {
    UNSUPPORTED_GROUP: _of_modes,
    CONFLICT_REASON: _of_rivals,
    "NoOperatorGroup": _of_number,
    "TooManyOperatorGroups": _of_number,
    "RequirementsNotMet": _of_requirements,
    "InstallWaiting": _of_chain,
}
"""By the reason of a version."""
