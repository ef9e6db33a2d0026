"""Whether the ClusterRoles of an installation in pods give what this build asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from eventing.diagnosis.doctor.finding import Check, Finding
from shared.api.manifest import Manifest
from shared.api.views import Role
from shared.domain.command import Fix, kubectl
from shared.domain.objects.authorizer import PolicyRule
from shared.kinds import CLUSTER_ROLE
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
