"""Evaluates the RBAC of Kubernetes for a ServiceAccount, over given roles and bindings (csv.md §5.6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import Role, RoleBinding
from shared.kinds import RBAC, Kind

_ANYTHING = "*"
_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """What one rule of a role allows."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Of the resources; empty for all of them."""
    urls: tuple[str, ...] = ()
    """That are no resources."""

    @classmethod
    def of(cls, raw: ReadOnly) -> PolicyRule:
        """A rule as a role states it."""
        return cls(*(fields.texts(raw, key) for key in _FIELDS))

    def defect(self) -> str:
        """Why the rule is not valid in Kubernetes; empty when it is valid."""
        if not self.verbs:
            return "policy rule must have at least one verb"
        if self.urls and (self.resources or self.groups or self.names):
            return "rule cannot apply to both regular resources and non-resource URLs"
        return ""

    def covers(self, verb: str, group: str, resource: str, name: str) -> bool:
        """Whether it allows a request about a resource."""
        return (
            _has(self.verbs, verb)
            and _has(self.groups, group)
            and (_has(self.resources, resource) or self._covers_subresource(resource))
            and (not self.names or name in self.names)
        )

    def _covers_subresource(self, resource: str) -> bool:
        _, slash, subresource = resource.partition("/")
        return bool(slash) and f"*/{subresource}" in self.resources

    def covers_url(self, verb: str, url: str) -> bool:
        """Whether it allows a request for a URL."""
        return _has(self.verbs, verb) and any(
            url == granted or (granted.endswith("*") and url.startswith(granted.rstrip("*"))) for granted in self.urls
        )


Rules: TypeAlias = tuple[PolicyRule, ...]


def _has(values: tuple[str, ...], value: str) -> bool:
    return value in values or _ANYTHING in values


@dataclass(frozen=True, slots=True)
class Grants:
    """The roles and bindings that were read, in the order of `kinds.RBAC`. More never remove a permission."""

    roles: tuple[Role, ...] = ()
    role_bindings: tuple[RoleBinding, ...] = ()
    cluster_roles: tuple[Role, ...] = ()
    cluster_role_bindings: tuple[RoleBinding, ...] = ()

    @classmethod
    def read(cls, found: Mapping[Kind, Iterable[ReadOnly]]) -> Grants:
        """The roles and bindings among what was read, by kind."""
        roles, role_bindings, cluster_roles, cluster_role_bindings = (found.get(kind, ()) for kind in RBAC)
        return cls(
            Role.each(roles),
            RoleBinding.each(role_bindings),
            Role.each(cluster_roles),
            RoleBinding.each(cluster_role_bindings),
        )

    def of(self, account: str, account_namespace: str, namespace: str = "", *, groups: Collection[str] = ()) -> Rules:
        """The rules that a ServiceAccount of `account_namespace` has in a namespace; empty means in the whole cluster.

        Of bindings to groups those to these `groups` count (OLM counts none where it checks requirements).
        """
        bound = [item for item in self.cluster_role_bindings if binds(item, account, account_namespace, groups)]
        rules = list(self._rules(bound, self.cluster_roles, ""))
        if namespace:
            local = [
                item
                for item in self.role_bindings
                if item.namespace == namespace and binds(item, account, account_namespace, groups)
            ]
            rules += self._rules(local, self.roles, namespace)
            rules += self._rules(local, self.cluster_roles, "")
        return tuple(rules)

    @staticmethod
    def _rules(bindings: Iterable[RoleBinding], roles: Iterable[Role], namespace: str) -> Iterator[PolicyRule]:
        kind = "Role" if namespace else "ClusterRole"
        desired = {name for of_kind, name in (binding.role for binding in bindings) if of_kind == kind}
        for role in roles:
            if role.name in desired and role.namespace == namespace:
                yield from map(PolicyRule.of, role.rules)


def groups_of(account_namespace: str) -> tuple[str, ...]:
    """The groups that contain a ServiceAccount of a namespace."""
    return ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{account_namespace}")


def binds(binding: RoleBinding, account: str, account_namespace: str, groups: Collection[str] = ()) -> bool:
    """Whether a binding names a ServiceAccount, or one of these groups."""
    user = f"system:serviceaccount:{account_namespace}:{account}"
    return any(
        (subject.kind, subject.name) == ("User", user)
        or (subject.kind == "Group" and subject.name in groups)
        or (
            (subject.kind, subject.name) == ("ServiceAccount", account)
            and (subject.namespace or binding.namespace) == account_namespace
        )
        for subject in binding.subjects
    )


def is_satisfied(desired: PolicyRule, granted: Rules) -> bool:
    """Whether each single request that a rule covers is allowed by one of the granted rules."""
    if desired in granted:
        return True
    if desired.urls:
        return all(any(rule.covers_url(*one) for rule in granted) for one in product(desired.verbs, desired.urls))
    dimensions = (values or ("",) for values in (desired.groups, desired.resources, desired.names))
    return all(any(rule.covers(*one) for rule in granted) for one in product(desired.verbs, *dimensions))
