"""Whether plans may write the kinds that an administrator lets bundles hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Finding
from shared.api import fields
from shared.api.views import CustomResourceDefinition, Deployment, Role
from shared.domain.command import Fix
from shared.domain.objects.authorizer import PolicyRule
from shared.domain.plan.bundle_kinds import OF_OLM, SETTING, VERBS, grant, is_allowed
from shared.kinds import CLUSTER_ROLE, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, Kind, Ref
from shared.names import AGGREGATE_TO_BUNDLES
from shared.ports import Cluster

_WORKERS: Final = ("olmf-worker", "olmf-install-plan")
"""Who carries out plans: the worker of the base, and the Service of the group on Knative."""
_KNATIVE: Final = Kind("serving.knative.dev/v1", "Service", "services")


def check_bundle_kinds(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Definitions of allowed kinds whose objects our pods may not write."""
    allowed = set(allowed_kinds(cluster)) - OF_OLM
    if not allowed:
        return
    roles = Role.each(cluster.list(CLUSTER_ROLE, labels={AGGREGATE_TO_BUNDLES: "true"}))
    rules = [PolicyRule.of(rule) for role in roles for rule in role.rules]
    for one in CustomResourceDefinition.each(cluster.list(CUSTOM_RESOURCE_DEFINITION)):
        if not is_allowed(one.resource_kind, one.group, allowed):
            continue
        lacking = [verb for verb in VERBS if not any(each.covers(verb, one.group, one.resource, "") for each in rules)]
        if lacking:
            state = f"may be held by bundles ({SETTING}), and our pods lack {', '.join(lacking)}"
            fix = Fix("let plans write it", grant(one.resource, one.group))
            yield Finding(Ref.of(one.raw), state, "a plan with such an object waits", fix)


def allowed_kinds(cluster: Cluster) -> Iterator[str]:
    """What the setting of our pods says."""
    programs = (one for kind in (DEPLOYMENT, _KNATIVE) for one in Deployment.each(cluster.list(kind)))
    pods = (fields.part(one.raw, "spec", "template", "spec") for one in programs if one.name in _WORKERS)
    variables = (one for pod in pods for each in fields.parts(pod, "containers") for one in fields.parts(each, "env"))
    for one in variables:
        if one.get("name") == SETTING:
            yield from fields.text(one, "value").split(",")
