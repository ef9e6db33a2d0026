"""Whether the ClusterRoles of an installation in pods give what this build asks for, and whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from eventing.diagnosis.doctor.finding import Check, Finding
from shared.api.manifest import Manifest
from shared.api.views import Role, RoleBinding
from shared.domain.command import Fix, kubectl
from shared.domain.objects.authorizer import PolicyRule
from shared.kinds import CLUSTER_ROLE, Ref
from shared.ports import Cluster

_APPLY = Fix("apply the manifests of this build", kubectl("apply", "--server-side", "-k", "k8s/base"))


def check_permissions(expected: Mapping[str, Sequence[Manifest]]) -> Check:
    """The check of ClusterRoles by name, with the rules that they should have; nothing where none of them exists."""

    def check(cluster: Cluster, _: datetime) -> Iterator[Finding]:
        refs = [CLUSTER_ROLE.ref(name) for name in expected]
        found = [Role.of(one) for one in cluster.get_all(refs)]
        if not any(found):
            return
        for ref, role in zip(refs, found, strict=True):
            lacking = list(_lacking(expected[ref.name], role)) if role else ["every right"]
            if lacking:
                yield Finding(
                    ref, f"lacks {'; '.join(lacking)}", "steps of this group fail and are tried again", _APPLY
                )

    return check


def check_bindings(expected: Sequence[Manifest]) -> Check:
    """The check of ClusterRoleBindings; nothing where no role of theirs exists."""

    def check(cluster: Cluster, _: datetime) -> Iterator[Finding]:
        desired = RoleBinding.each(expected)
        roles = cluster.get_all([CLUSTER_ROLE.ref(one.role[1]) for one in desired])
        found = cluster.get_all([Ref.of(one.raw) for one in desired])
        for one, role, stored in zip(desired, roles, found, strict=True):
            if role is not None and (state := _wrong(one, RoleBinding.of(stored))):
                yield Finding(Ref.of(one.raw), state, "steps of this account fail and are tried again", _APPLY)

    return check


def _wrong(desired: RoleBinding, found: RoleBinding | None) -> str:
    """What is wrong with a binding, whatever the namespace of the installation is called; empty when nothing is."""
    accounts = {one.name for one in desired.subjects}
    if found is None:
        return f"is missing: {', '.join(sorted(accounts))} lacks ClusterRole {desired.role[1]}"
    if found.role != desired.role:
        return f"gives {found.role[1]} instead of {desired.role[1]}"
    lacking = accounts - {one.name for one in found.subjects}
    return f"gives {', '.join(sorted(lacking))} nothing" if lacking else ""


def _lacking(expected: Sequence[Manifest], role: Role) -> Iterator[str]:
    granted = [PolicyRule.of(rule) for rule in role.rules]
    for rule in map(PolicyRule.of, expected):
        for group in rule.groups:
            for resource in rule.resources:
                verbs = [verb for verb in rule.verbs if not _gives(granted, (verb, group, resource))]
                if verbs:
                    yield f"{', '.join(verbs)} on {resource}{f'.{group}' if group else ''}"


def _gives(granted: Sequence[PolicyRule], asked: tuple[str, str, str]) -> bool:
    return any(rule.covers(*asked, "") for rule in granted if not rule.names)
