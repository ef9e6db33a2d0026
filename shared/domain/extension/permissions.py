"""The least that an installer must be allowed in order to apply, watch, change and remove given objects.

The API server checks two things: the request itself, and for roles and bindings that nobody hands out more than he has.
So whoever installs roles needs every rule in them, where they hold; for a role that is bound but not installed, `bind`.
Some operators hand out every verb on roles, and with it `escalate`, which would do instead of all their other rules:
those are listed all the same, because nobody should install by means of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import CustomResourceDefinition, Role, RoleBinding
from shared.domain.extension.scopes import cluster_kinds, group_kind, scope_of
from shared.domain.objects.authorizer import PolicyRule, is_satisfied

_RBAC: Final = kinds.ROLE.group
_UNNAMED: Final = ("create", "list", "watch")
"""Verbs that RBAC cannot restrict to names: what is created has none yet, and lists are of a whole kind."""
_NAMED: Final = ("delete", "get", "patch", "update")
_EVERYWHERE: Final = ""
_FINALIZERS: Final = f"{kinds.CLUSTER_OBJECT_SET.plural}/finalizers"
_PLURALS: Final = {(kind.group, kind.kind): kind.plural for kind in kinds.KINDS}

Scoped = dict[str, list[Manifest]]
"""Rules by the namespace in which they must hold; the empty one is everywhere."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Who installs: the name that its roles get, and what it installs for."""

    name: str
    account: tuple[str, str] | None = None
    """Namespace and name of a ServiceAccount that the roles are bound to, if any."""
    extension: str = ""
    """The ClusterExtension whose revisions own the objects, if any: owners that block deletion must be writable.

    How many revisions it will have nobody knows, so the rule names none."""


def least(objects: Sequence[ReadOnly], installer: Installer) -> tuple[Manifest, ...]:
    """ClusterRole and Roles, the one of a namespace after the other, each followed by its binding if one is wanted."""
    scoped: Scoped = {}
    for scope, rule in [*_requests(objects, installer), *escalations(objects)]:
        listed = scoped.setdefault(scope, [])
        if rule not in listed:
            listed.append(rule)
    everywhere = _without_covered(scoped.get(_EVERYWHERE, []), ())
    made: list[Manifest] = []
    for scope in sorted(scoped):
        rules = _without_covered(scoped[scope], everywhere) if scope else everywhere
        if rules:
            made += _role(scope, rules, installer)
    return tuple(made)


def resource_of(manifest: ReadOnly, definitions: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    """Group and plural of an object: known, defined beside it, or by the rules of English that Kubernetes uses."""
    group, kind = group_kind(manifest)
    known = definitions.get((group, kind)) or _PLURALS.get((group, kind))
    return group, known or _plural(kind.lower())


def defined(objects: Iterable[ReadOnly]) -> dict[tuple[str, str], str]:
    """The plurals of the kinds that the objects define."""
    found = map(CustomResourceDefinition, objects)
    return {one.defined: one.resource for one in found if one.kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind}


def _plural(kind: str) -> str:
    if kind.endswith("s"):
        return f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _requests(objects: Sequence[ReadOnly], installer: Installer) -> Iterator[tuple[str, Manifest]]:
    """What is asked of the API server for each kind, with the names of the objects where RBAC knows them."""
    definitions, without = defined(objects), cluster_kinds(objects)
    found: dict[tuple[str, str, str], set[str]] = {}
    for one in objects:
        found.setdefault((scope_of(one, without), *resource_of(one, definitions)), set()).add(name_of(one))
    for (scope, group, plural), listed in sorted(found.items()):
        where = {"apiGroups": [group], "resources": [plural]}
        yield scope, {**where, "verbs": list(_UNNAMED)}
        yield scope, {**where, "resourceNames": sorted(listed), "verbs": list(_NAMED)}
    if installer.extension:
        yield (
            _EVERYWHERE,
            {
                "apiGroups": ["olm.operatorframework.io"],
                "resources": [_FINALIZERS],
                "verbs": ["update"],
            },
        )


def escalations(objects: Sequence[ReadOnly]) -> Iterator[tuple[str, Manifest]]:
    """What a writer of roles and bindings must have himself."""
    roles = {_identity(one): Role(one) for one in objects if _is_rbac(one, "Role", "ClusterRole")}
    for role in roles.values():
        if role.is_aggregated:
            # Whoever writes one could collect any rule; no name, because a role that is created has none yet.
            yield _EVERYWHERE, {"apiGroups": [_RBAC], "resources": ["clusterroles"], "verbs": ["escalate"]}
        yield from ((scope_of(role.raw), dict(rule)) for rule in role.rules)
    for binding in objects:
        if _is_rbac(binding, "RoleBinding", "ClusterRoleBinding"):
            yield from _bound(binding, roles)


def _bound(binding: ReadOnly, roles: Mapping[tuple[str, str, str], Role]) -> Iterator[tuple[str, Manifest]]:
    (kind, name), scope = RoleBinding(binding).role, scope_of(binding)
    role = roles.get((kind, scope if kind == kinds.ROLE.kind else "", name))
    if role is None or role.is_aggregated:
        plural = kinds.ROLE.plural if kind == kinds.ROLE.kind else kinds.CLUSTER_ROLE.plural
        yield scope, {"apiGroups": [_RBAC], "resources": [plural], "resourceNames": [name], "verbs": ["bind"]}


def _without_covered(rules: Iterable[Manifest], others: Sequence[Manifest]) -> list[Manifest]:
    """The rules that no other one makes superfluous, sorted so that the same objects give the same bytes."""
    left = [(rule, PolicyRule.of(rule)) for rule in sorted(rules, key=_sort_key)]
    granted = tuple(map(PolicyRule.of, others))
    for one in tuple(left):
        rest = [other for other in left if other is not one]
        if is_satisfied(one[1], (*(rule for _, rule in rest), *granted)):
            left = rest
    return [rule_object for rule_object, _ in left]


def _sort_key(rule: ReadOnly) -> tuple[list[str], list[str], list[str], list[str], list[str]]:
    groups, resources, named, urls, verbs = (
        [str(value) for value in rule.get(key) or ()]
        for key in ("apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs")
    )
    return urls, groups, resources, named, verbs


def _role(scope: str, rules: Sequence[Manifest], installer: Installer) -> Iterator[Manifest]:
    role, binding = (kinds.ROLE, kinds.ROLE_BINDING) if scope else (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING)
    meta = {"name": installer.name} | ({"namespace": scope} if scope else {})
    yield {"apiVersion": role.api_version, "kind": role.kind, "metadata": dict(meta), "rules": list(rules)}
    if installer.account:
        namespace, name = installer.account
        yield {
            "apiVersion": binding.api_version,
            "kind": binding.kind,
            "metadata": dict(meta),
            "roleRef": {"apiGroup": _RBAC, "kind": role.kind, "name": installer.name},
            "subjects": [{"kind": kinds.SERVICE_ACCOUNT.kind, "namespace": namespace, "name": name}],
        }


def _is_rbac(manifest: ReadOnly, *desired: str) -> bool:
    group, kind = group_kind(manifest)
    return group == _RBAC and kind in desired


def _identity(manifest: ReadOnly) -> tuple[str, str, str]:
    return group_kind(manifest)[1], scope_of(manifest), name_of(manifest)
