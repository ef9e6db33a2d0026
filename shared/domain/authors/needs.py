"""What somebody has to be allowed to do who writes an object himself, as an API server would demand it of him."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Final, TypeAlias

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, Object, OperatorGroup, Role, RoleBinding
from shared.domain.csv.projection import SEES_NAMESPACES
from shared.domain.endpoints.conversion import conversions
from shared.domain.endpoints.outline import outline
from shared.kinds import BY_IDENTITY, Kind

_LIFTED: Final = {kinds.ROLE_BINDING: kinds.CLUSTER_ROLE_BINDING, kinds.ROLE: kinds.CLUSTER_ROLE}
"""What a role or a binding becomes for all namespaces."""
_LASTING: Final = ("create", "update")
"""What a version has made is written again for as long as it exists."""
MOST_ASKED: Final = 1000
"""Accesses of one role: each is a review by the API server, and a catalog chooses how many there are."""
RulesOf: TypeAlias = Callable[[Kind, str, str], Sequence[ReadOnly] | None]
"""The rules that a role (kind, name, namespace) has or will have; None when nobody knows it."""


@dataclass(frozen=True, slots=True, order=True)
class Access:
    """One thing that a user may do, or not."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    path: str = ""
    """A path that is no resource; then there is nothing else but the verb."""

    def attributes(self) -> Manifest:
        """As a SubjectAccessReview asks for it."""
        if self.path:
            return {"nonResourceAttributes": {"verb": self.verb, "path": self.path}}
        fields_of_resource = {
            "verb": self.verb, "group": self.group, "resource": self.resource, "subresource": self.subresource,
            "namespace": self.namespace, "name": self.name,
        }  # fmt: skip
        return {"resourceAttributes": {key: value for key, value in fields_of_resource.items() if value}}

    def missing(self, user: str) -> str:
        """The sentence of an API server to a user who may not."""
        if self.path:
            return f'User "{user}" cannot {self.verb} path "{self.path}"'
        resource = "/".join(filter(None, (self.resource, self.subresource)))
        named = f' "{self.name}"' if self.name else ""
        place = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        return f'User "{user}" cannot {self.verb} resource "{resource}"{named} in API group "{self.group}" {place}'


@dataclass(frozen=True, slots=True)
class Need:
    """An access, or all of what it stands for: who may not give rights away may still give what he has."""

    access: Access
    instead: tuple[Access, ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """An object that is to be written."""

    manifest: ReadOnly
    kind: Kind
    verb: str


def of_step(writing: Writing, group: OperatorGroup | None, rules_of: RulesOf) -> Iterator[Need]:
    """What it takes to carry out a step: to write its object, and what follows of it by itself."""
    yield from _of_object(writing, rules_of)
    manifest, kind = writing.manifest, writing.kind
    if kind == kinds.CLUSTER_SERVICE_VERSION:
        yield from _of_version(Csv(manifest), group, rules_of)
    for place in _elsewhere(Object(manifest), kind, group):
        there = Writing(_placed(manifest, place), kind if place else _LIFTED[kind], "create")
        yield from _of_object(there, rules_of if place else _lifted(manifest, rules_of))


def _of_object(writing: Writing, rules_of: RulesOf) -> Iterator[Need]:
    """What it takes to write one object; of a role and of a binding also what it gives."""
    manifest, kind = writing.manifest, writing.kind
    one = Object(manifest)
    yield Need(Access(writing.verb, kind.group, kind.plural, one.namespace, one.name))
    if kind in (kinds.ROLE, kinds.CLUSTER_ROLE):
        yield from _granted(Role(manifest), kind)
    if kind in (kinds.ROLE_BINDING, kinds.CLUSTER_ROLE_BINDING):
        yield from _bound(RoleBinding(manifest), rules_of)


def _granted(role: Role, kind: Kind) -> Iterator[Need]:
    escalates = Access("escalate", kind.group, kind.plural, role.namespace, role.name)
    if role.is_aggregated:
        yield Need(escalates)
    elif role.rules:
        yield Need(escalates, _instead(role.rules, role.namespace))


def _bound(binding: RoleBinding, rules_of: RulesOf) -> Iterator[Need]:
    kind, name = binding.role
    role = kinds.ROLE if kind == kinds.ROLE.kind else kinds.CLUSTER_ROLE
    binds = Access("bind", role.group, role.plural, binding.namespace, name)
    rules = rules_of(role, name, binding.namespace if role.is_namespaced else "")
    if rules is None:
        yield Need(binds)
    elif rules:
        yield Need(binds, _instead(rules, binding.namespace))


def _lifted(manifest: ReadOnly, rules_of: RulesOf) -> RulesOf:
    """The rules of a ClusterRole that is made of the Role which a RoleBinding names: those of that Role."""
    if fields.text(manifest, "roleRef", "kind") != kinds.ROLE.kind:
        return rules_of
    return lambda _, name, __: rules_of(kinds.ROLE, name, Object(manifest).namespace)


def _elsewhere(one: Object, kind: Kind, group: OperatorGroup | None) -> tuple[str, ...]:
    """The other namespaces (empty: all) in which an operator gets the rights that it has in its own."""
    if group is None or kind not in _LIFTED or names.OWNER not in one.labels:
        return ()
    return tuple(place for place in group.selected or () if place != one.namespace)


def _placed(manifest: ReadOnly, place: str) -> Manifest:
    """A Role or RoleBinding as it comes to be in another namespace, or in all of them."""
    there: Manifest = {**manifest, "metadata": {**Object(manifest).metadata, "namespace": place}}
    if not place and "roleRef" in there:
        there["roleRef"] = {**there["roleRef"], "kind": kinds.CLUSTER_ROLE.kind}
    if not place and "rules" in there:
        there["rules"] = [*there["rules"], SEES_NAMESPACES]
    return there


def _of_version(csv: Csv, group: OperatorGroup | None, rules_of: RulesOf) -> Iterator[Need]:
    """What a version makes: its Deployments, what serves for the API server, the conversion of its definitions."""
    apps, definitions = kinds.DEPLOYMENT, kinds.CUSTOM_RESOURCE_DEFINITION
    for deployment in csv.install.deployments:
        for verb in _LASTING:
            yield Need(Access(verb, apps.group, apps.plural, csv.namespace, deployment.name))
    for manifest in outline(csv, group):
        kind = BY_IDENTITY[Object(manifest).api_version, Object(manifest).kind]
        for verb in _LASTING:
            yield from _of_object(Writing(manifest, kind, verb), rules_of)
    for _, definition in conversions(csv):
        yield Need(Access("update", definitions.group, definitions.plural, name=definition))


def _instead(rules: Sequence[ReadOnly], namespace: str) -> tuple[Access, ...]:
    """Each access that rules give; none where there are too many to ask for, so that the right to give is asked for."""
    held = tuple(islice(_held(rules, namespace), MOST_ASKED + 1))
    return held if len(held) <= MOST_ASKED else ()


def _held(rules: Iterable[ReadOnly], namespace: str) -> Iterator[Access]:
    """Each access that rules give; a wildcard is asked for as such."""
    for rule in rules:
        verbs = fields.texts(rule, "verbs")
        for verb, path in product(verbs, fields.texts(rule, "nonResourceURLs")):
            yield Access(verb, path=path)
        accesses = product(verbs, fields.texts(rule, "apiGroups"), fields.texts(rule, "resources"),
                        fields.texts(rule, "resourceNames") or ("",))  # fmt: skip
        for verb, api_group, resource, name in accesses:
            plural, _, below = resource.partition("/")
            yield replace(Access(verb, api_group, plural, namespace, name), subresource=below)
