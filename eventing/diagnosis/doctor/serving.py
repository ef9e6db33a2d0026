"""Whether what the API server asks others for can be asked: aggregated APIs, admission and conversion webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from eventing.diagnosis.doctor.finding import Finding
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import ApiService, CustomResourceDefinition, Object
from shared.domain.command import Fix, kubectl
from shared.kinds import API_SERVICE, CUSTOM_RESOURCE_DEFINITION, SERVICE, WEBHOOK_CONFIGURATIONS, Ref
from shared.ports import Cluster


def check_api_services(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """APIServices that are not available."""
    for one in ApiService.each(cluster.list(API_SERVICE)):
        if one.is_available:
            continue
        effect = "discovery is incomplete, and no namespace can be deleted"
        fix = Fix("start what serves it, or delete it", kubectl("delete", "apiservice", one.name))
        why = one.condition("Available").message
        yield Finding(Ref.of(one.raw), f"is not available{f': {why}' if why else ''}", effect, fix)


def check_webhooks(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Admission webhooks that must answer (`failurePolicy: Fail`) and whose Service does not exist."""
    for kind in WEBHOOK_CONFIGURATIONS:
        for one in Object.each(cluster.list(kind)):
            hooks = [hook for hook in fields.parts(one.raw, "webhooks") if hook.get("failurePolicy") != "Ignore"]
            if service := _absent(cluster, (fields.part(hook, "clientConfig") for hook in hooks)):
                effect = "the API server refuses every write that it would be asked about"
                fix = Fix("delete it", kubectl("delete", kind.kind.lower(), one.name))
                yield Finding(Ref.of(one.raw), f"calls Service {service}, which does not exist", effect, fix)


def check_conversions(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Definitions whose objects are converted by a webhook whose Service does not exist."""
    for one in CustomResourceDefinition.each(cluster.list(CUSTOM_RESOURCE_DEFINITION)):
        client = fields.part(one.conversion, "webhook", "clientConfig") if one.converts_by_webhook else {}
        if service := _absent(cluster, [client]):
            effect = f"no {one.resource_kind} of another version can be read, and its namespaces cannot be deleted"
            fix = Fix("install the operator again that serves it, or set spec.conversion.strategy to None")
            yield Finding(Ref.of(one.raw), f"converts by Service {service}, which does not exist", effect, fix)


def _absent(cluster: Cluster, clients: Iterable[ReadOnly]) -> str:
    """`<namespace>/<name>` of the first Service that does not exist; empty when all do."""
    for client in clients:
        service = fields.part(client, "service")
        ref = SERVICE.ref_or_none(fields.text(service, "name"), fields.text(service, "namespace"))
        if ref and cluster.get(ref) is None:
            return f"{ref.namespace}/{ref.name}"
    return ""
