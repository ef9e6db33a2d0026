"""Evaluates the RBAC of Kubernetes for a ServiceAccount, over given roles and bindings (csv.md §5.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from shared.api.manifest import ReadOnly, name_of, namespace_of

Rules: TypeAlias = tuple[ReadOnly, ...]
_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Grants:
    """The roles and bindings that were read, in the order of `kinds.RBAC`. More never remove a permission."""

    roles: tuple[ReadOnly, ...] = ()
    role_bindings: tuple[ReadOnly, ...] = ()
    cluster_roles: tuple[ReadOnly, ...] = ()
    cluster_role_bindings: tuple[ReadOnly, ...] = ()

    def of(self, account: str, home: str, namespace: str = "") -> Rules:
        """The rules that a ServiceAccount of namespace `home` has in a namespace; empty means in the whole cluster.

        Bindings to the groups that contain every ServiceAccount do not count.
        """
        bound = [item for item in self.cluster_role_bindings if _binds(item, account, home)]
        rules = list(self._rules(bound, self.cluster_roles, ""))
        if namespace:
            local = [
                item for item in self.role_bindings if namespace_of(item) == namespace and _binds(item, account, home)
            ]
            rules += self._rules(local, self.roles, namespace)
            rules += self._rules(local, self.cluster_roles, "")
        return tuple(rules)

    @staticmethod
    def _rules(bindings: Iterable[ReadOnly], roles: Iterable[ReadOnly], namespace: str) -> Iterator[ReadOnly]:
        kind = "Role" if namespace else "ClusterRole"
        wanted = {
            reference.get("name")
            for reference in (binding.get("roleRef") or {} for binding in bindings)
            if reference.get("kind") == kind
        }
        for role in roles:
            if name_of(role) in wanted and namespace_of(role) == namespace:
                yield from role.get("rules") or ()


def _binds(binding: ReadOnly, account: str, home: str) -> bool:
    user = f"system:serviceaccount:{home}:{account}"
    return any(
        (subject.get("kind") == "User" and subject.get("name") == user)
        or (
            subject.get("kind") == "ServiceAccount"
            and subject.get("name") == account
            and (subject.get("namespace") or namespace_of(binding)) == home
        )
        for subject in binding.get("subjects") or ()
    )


def defect(rule: ReadOnly) -> str:
    """Why the rule is not valid in Kubernetes; empty when it is valid."""
    if not rule.get("verbs"):
        return "policy rule must have at least one verb"
    if rule.get("nonResourceURLs") and (rule.get("resources") or rule.get("apiGroups") or rule.get("resourceNames")):
        return "rule cannot apply to both regular resources and non-resource URLs"
    return ""


def is_satisfied(wanted: ReadOnly, granted: Rules) -> bool:
    """Whether each single request that a rule covers is allowed by one of the granted rules."""
    if wanted in granted:
        return True
    verbs = wanted.get("verbs") or ()
    if urls := wanted.get("nonResourceURLs"):
        return all(any(_covers_url(rule, *request) for rule in granted) for request in product(verbs, urls))
    dimensions = (wanted.get(key) or ("",) for key in ("apiGroups", "resources", "resourceNames"))
    return all(any(_covers(rule, *request) for rule in granted) for request in product(verbs, *dimensions))


def _has(rule: ReadOnly, key: str, value: str) -> bool:
    values = rule.get(key) or ()
    return value in values or _ANYTHING in values


def _covers(rule: ReadOnly, verb: str, group: str, resource: str, name: str) -> bool:  # why: the four of RBAC
    resource_names = rule.get("resourceNames") or ()
    return (
        _has(rule, "verbs", verb)
        and _has(rule, "apiGroups", group)
        and (_has(rule, "resources", resource) or _covers_subresource(rule, resource))
        and (not resource_names or name in resource_names)
    )


def _covers_subresource(rule: ReadOnly, resource: str) -> bool:
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in (rule.get("resources") or ())


def _covers_url(rule: ReadOnly, verb: str, url: str) -> bool:
    return _has(rule, "verbs", verb) and any(
        url == granted or (granted.endswith("*") and url.startswith(granted.rstrip("*")))
        for granted in rule.get("nonResourceURLs") or ()
    )
