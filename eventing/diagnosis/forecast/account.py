"""What the ServiceAccount of an OperatorGroup lacks to carry out a plan and to install its version (DESIGN §12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eventing.diagnosis.forecast.present_objects import PresentObjects
from shared.api.manifest import Manifest, name_of, namespace_of
from shared.api.views import OperatorGroup, RoleBinding
from shared.domain.extension.outlook import identity_of
from shared.domain.extension.permissions import defined, escalations, resource_of
from shared.domain.extension.scopes import scope_of
from shared.domain.objects.authorizer import Grants, PolicyRule, binds, groups_of, is_satisfied
from shared.domain.objects.denials import Denial, summary
from shared.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RBAC, ROLE, ROLE_BINDING, SERVICE_ACCOUNT

Identity = tuple[str, str, str, str]
_ROLES = (ROLE, CLUSTER_ROLE)
_SENTENCE = "system:serviceaccount:{}:{} cannot {} {}{}"


@dataclass(frozen=True, slots=True)
class Lacking:
    """A right that an account lacks."""

    namespace: str
    account: str
    scope: str
    """The namespace where it is needed; empty: in the cluster."""
    rule: PolicyRule

    def __str__(self) -> str:
        return _sentence(self)


def sentence(found: Iterable[Lacking]) -> str:
    """All that an account lacks, as short as what an API server denied."""
    return summary(tuple(_denial(one, what) for one in found for what in one.rule.urls or _resources(one.rule)))


def _denial(one: Lacking, what: str) -> Denial:
    return Denial(one.namespace, one.account, ", ".join(one.rule.verbs), what, one.scope)


def is_known(group: OperatorGroup, present: PresentObjects) -> bool:
    """Whether the account of the group is among what was read."""
    ref = SERVICE_ACCOUNT.ref_or_none(group.service_account, group.namespace)
    found = present.all_of(SERVICE_ACCOUNT, group.namespace)
    return ref is not None and any(one["metadata"]["name"] == ref.name for one in found)


def unread(group: OperatorGroup, present: PresentObjects) -> str:
    """Why nobody knows what the account may do: files need not hold its roles, and a cluster may hide them."""
    who = f"ServiceAccount {group.namespace}/{group.service_account}"
    if hidden := ", ".join(kind.plural for kind in RBAC if kind in present.hidden):
        return f"what {who} may do is not known: {hidden} may not be listed"
    if present.cluster is not None or present.is_partial:
        return ""
    found = RoleBinding.each((*present.all_of(ROLE_BINDING), *present.all_of(CLUSTER_ROLE_BINDING)))
    groups = groups_of(group.namespace)
    bindings = [one for one in found if binds(one, group.service_account, group.namespace, groups)]
    known = {(one["kind"], namespace_of(one), name_of(one)) for kind in _ROLES for one in present.all_of(kind)}
    roles = {(kind, one.namespace if kind == ROLE.kind else "", name) for one in bindings for kind, name in [one.role]}
    missing = ", ".join(f"{kind} {name}" for kind, _, name in sorted(roles - known))
    if bindings and not missing:
        return ""
    return f"the files lack {missing or 'Roles and RoleBindings'} of {who}: they do not say what it may do"


def lacking(
    objects: Sequence[Manifest], existing: Collection[Identity], group: OperatorGroup, present: PresentObjects
) -> Iterator[Lacking]:
    """Each right that is missing: to create what is new, to change what exists, to give rights away."""
    grants = Grants.read({kind: present.all_of(kind) for kind in RBAC})
    definitions = defined(objects)
    needs: dict[tuple[str, PolicyRule], None] = {}
    for one in objects:
        verbs = ["get", "update"] if identity_of(one) in existing else ["create"]
        api_group, plural = resource_of(one, definitions)
        request = {"apiGroups": [api_group], "resources": [plural], "verbs": verbs}
        needs[scope_of(one), PolicyRule.of(request)] = None
    for scope, handed_out in escalations(objects):
        needs[scope, PolicyRule.of(handed_out)] = None
    groups = groups_of(group.namespace)
    for scope, rule in needs:
        if not is_satisfied(rule, grants.of(group.service_account, group.namespace, scope, groups=groups)):
            yield Lacking(group.namespace, group.service_account, scope, rule)


def _sentence(one: Lacking) -> str:
    scope, rule = one.scope, one.rule
    what = ", ".join(rule.urls or _resources(rule))
    where = f' in the namespace "{scope}"' if scope else " in the cluster"
    return _SENTENCE.format(one.namespace, one.account, ", ".join(rule.verbs), what, where)


def _resources(rule: PolicyRule) -> tuple[str, ...]:
    """The resources of a rule, each with its API groups."""
    groups = ",".join(rule.groups)
    return tuple(f"{one}.{groups}".rstrip(".") for one in rule.resources)
