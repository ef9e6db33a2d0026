"""CustomResourceDefinitions, and who converts their objects (v1.md §18.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.extension.render.certificates import injected
from shared.domain.extension.render.model import Bundle, NotRenderedError, Plan
from shared.domain.extension.render.webhooks import CONVERSION, deployment_of, service_reference


def definitions(bundle: Bundle, plan: Plan) -> Iterator[ReadOnly]:
    """All of the bundle, in its order."""
    converters = _converters(bundle)
    for definition in bundle.definitions:
        webhook = converters.get(name_of(definition))
        yield definition if webhook is None else _converted(definition, webhook, plan)


def _converters(bundle: Bundle) -> Mapping[str, ReadOnly]:
    # A definition that two of them name was refused before anything is rendered.
    webhooks = (webhook for webhook in bundle.webhooks if webhook["type"] == CONVERSION)
    return {name: webhook for webhook in webhooks for name in webhook.get("conversionCRDs") or ()}


def _converted(definition: ReadOnly, webhook: ReadOnly, plan: Plan) -> Manifest:
    if definition["spec"].get("preserveUnknownFields"):
        raise NotRenderedError(
            f"custom resource definition '{name_of(definition)}' must have .spec.preserveUnknownFields set to false "
            "to let API Server call webhook to do the conversion"
        )
    path = webhook.get("webhookPath")
    conversion = {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"service": service_reference(webhook, plan, "/" if path is None else path)},
            "conversionReviewVersions": webhook["admissionReviewVersions"],
        },
    }
    spec = {**definition["spec"], "conversion": conversion}
    return injected({**definition, "spec": spec}, deployment_of(webhook), plan)
