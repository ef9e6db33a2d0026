"""Webhook configurations and the Services in front of the Deployments that serve them (v1.md §18.6, §18.7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.extension.render.certificates import injected, served
from shared.domain.extension.render.model import Bundle, Plan
from shared.domain.extension.render.naming import service_name

VALIDATING: Final = "ValidatingAdmissionWebhook"
MUTATING: Final = "MutatingAdmissionWebhook"
CONVERSION: Final = "ConversionWebhook"

_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_PORT: Final = 443
_LEADING: Final = ("rules", "failurePolicy", "matchPolicy")
_TRAILING: Final = ("objectSelector", "sideEffects", "timeoutSeconds", "admissionReviewVersions")


def validating_configurations(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """One per validating webhook."""
    for webhook in bundle.webhooks:
        if webhook["type"] == VALIDATING:
            yield _configuration("ValidatingWebhookConfiguration", webhook, plan, _TRAILING)


def mutating_configurations(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """One per mutating webhook."""
    for webhook in bundle.webhooks:
        if webhook["type"] == MUTATING:
            yield _configuration("MutatingWebhookConfiguration", webhook, plan, (*_TRAILING, "reinvocationPolicy"))


def _configuration(kind: str, webhook: ReadOnly, plan: Plan, trailing: tuple[str, ...]) -> Manifest:
    name = (webhook.get("generateName") or "").removesuffix("-")
    written = {
        "name": name,
        "clientConfig": {"service": service_reference(webhook, plan, webhook.get("webhookPath"))},
        **_copied(webhook, _LEADING),
        **_namespace_selector(plan),
        **_copied(webhook, trailing),
    }
    manifest = {
        "kind": kind,
        "apiVersion": _API_VERSION,
        "metadata": {"name": name, "namespace": plan.install_namespace},
        "webhooks": [written],
    }
    return injected(manifest, deployment_of(webhook), plan)


def _copied(webhook: ReadOnly, fields: tuple[str, ...]) -> Manifest:
    required = ("sideEffects", "admissionReviewVersions")
    return {name: webhook.get(name) for name in fields if name in required or webhook.get(name) is not None}


def service_reference(webhook: ReadOnly, plan: Plan, path: str | None) -> Manifest:
    """The Service that the API server calls; a port that nobody states is the port 0."""
    reference: dict[str, Any] = {
        "namespace": plan.install_namespace,
        "name": service_name(deployment_of(webhook)),
    }
    if path is not None:
        reference["path"] = path
    return reference | {"port": webhook.get("containerPort") or 0}


def _namespace_selector(plan: Plan) -> Manifest:
    if not plan.targets or "" in plan.targets:
        return {}
    expression = {"key": names.NAMESPACE_NAME, "operator": "In", "values": list(plan.targets)}
    return {"namespaceSelector": {"matchExpressions": [expression]}}


def deployment_of(webhook: ReadOnly) -> str:
    """The Deployment that serves a webhook."""
    return webhook.get("deploymentName") or ""


def services(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """One per Deployment that serves webhooks."""
    for deployment in bundle.deployments:
        served_here = [one for one in bundle.webhooks if deployment_of(one) == deployment["name"]]
        if served_here:
            yield served(_service(deployment, served_here, plan), deployment["name"], plan)


def _service(deployment: ReadOnly, webhooks: list[Manifest], plan: Plan) -> Manifest:
    ports = {_port(webhook) for webhook in webhooks}
    spec: Manifest = {
        "ports": [
            {"name": str(port), "port": port, "targetPort": target} for port, target in sorted(ports, key=_port_order)
        ]
    }
    selector = (deployment["spec"].get("selector") or {}).get("matchLabels")
    return {
        "kind": kinds.SERVICE.kind,
        "apiVersion": kinds.SERVICE.api_version,
        "metadata": {"name": service_name(deployment["name"]), "namespace": plan.install_namespace},
        "spec": spec | ({"selector": selector} if selector else {}),
        "status": {"loadBalancer": {}},
    }


def _port(webhook: ReadOnly) -> tuple[int, int | str]:
    port = webhook.get("containerPort") or 0
    port = port if port > 0 else _PORT
    target = webhook.get("targetPort")
    return port, port if target is None else target


def _port_order(port: tuple[int, int | str]) -> tuple[int, int, str]:
    number, target = port
    if isinstance(target, int):
        return number, target, ""
    is_number = target.lstrip("+-").isdigit()
    return number, int(target) if is_number else 0, target
