"""What a ClusterServiceVersion says of one webhook (csv.md §7.6), and what stored configurations say."""

from __future__ import annotations

from typing import Final

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View

VALIDATING: Final = "ValidatingAdmissionWebhook"
MUTATING: Final = "MutatingAdmissionWebhook"
CONVERSION: Final = "ConversionWebhook"
DEFAULT_PORT: Final = 443


class Webhook(View):
    """A webhook that an operator serves: an entry of `spec.webhookdefinitions`."""

    __slots__ = ()

    type = field.text("type")
    """`ValidatingAdmissionWebhook`, `MutatingAdmissionWebhook` or `ConversionWebhook`."""
    name = field.text("generateName")
    """The name of the webhook, unique in its version."""
    deployment = field.text("deploymentName")
    """The Deployment that serves it."""
    path = field.text("webhookPath")
    """The path of its requests; empty when it states none."""
    rules = field.parts("rules")
    """What it is called for, as it is."""
    review_versions = field.texts("admissionReviewVersions")
    """The versions of reviews that it understands."""
    definitions = field.texts("conversionCRDs")
    """The names of the CustomResourceDefinitions whose objects it converts."""

    @property
    def port(self) -> int:
        """`containerPort`: the port of the Service; 443 when it states none."""
        return fields.number_at(self.raw, ("containerPort",)) or DEFAULT_PORT

    @property
    def target(self) -> int | str:
        """`targetPort`: the port of the Pods; that of the Service when it states none."""
        port = fields.value(self.raw, "targetPort")
        is_port = isinstance(port, int | str) and not isinstance(port, bool)
        return port if is_port and port else self.port


class WebhookConfiguration(Object):
    """A stored ValidatingWebhookConfiguration or MutatingWebhookConfiguration."""

    __slots__ = ()
