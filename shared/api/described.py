"""APIs and webhooks as a ClusterServiceVersion describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from shared.api.resource import Embedded, IntOrString, Open, defaults_to


class ApiResource(Open):
    """A resource that a provided API makes use of."""

    kind: str
    """Kind of the resource."""
    version: str
    """API version of the resource."""
    name: str = ""
    """Name of its definition; empty for kinds of Kubernetes."""


class Descriptor(Open):
    """How a console shows one field."""

    path: str
    """The field, as names joined by dots below `spec`, `status` or the action."""
    display_name: str = ""
    """Its heading."""
    description: str = ""
    """What it means, for people."""
    x_descriptors: Sequence[str] = Field((), alias="x-descriptors")
    """Hints on how to show it."""


class ApiDescription(Open):
    """What a console shows about an API."""

    version: str
    """API version."""
    kind: str
    """Kind of the objects."""
    name: str
    """Name of the API."""
    display_name: str = ""
    """Its heading."""
    description: str = ""
    """What its objects do, for people."""
    resources: Sequence[ApiResource] = ()
    """What the operator makes for each object."""
    action_descriptors: Sequence[Descriptor] = ()
    """Actions that objects offer."""
    spec_descriptors: Sequence[Descriptor] = ()
    """Fields that people set."""
    status_descriptors: Sequence[Descriptor] = ()
    """Fields that people read."""


class CrdDescription(ApiDescription):
    """A CustomResourceDefinition that is provided or needed; the name is `<plural>.<group>`."""


class ApiServiceDescription(ApiDescription):
    """An aggregated API that is provided or needed; the name is its plural."""

    group: str
    """API group."""
    deployment_name: str = ""
    """The Deployment that serves the API."""
    container_port: int | None = None
    """The port that it serves on; absent: 443."""


class CrdDescriptions(Open):
    """CustomResourceDefinitions, provided and needed."""

    owned: Sequence[CrdDescription] = ()
    """Those that this version brings; another version of the same package may own them, too."""
    required: Sequence[CrdDescription] = ()
    """Those that must be there before it is installed."""


class ApiServiceDescriptions(Open):
    """Aggregated APIs, provided and needed."""

    owned: Sequence[ApiServiceDescription] = ()
    """Those that this version serves."""
    required: Sequence[ApiServiceDescription] = ()
    """Those that must be there before it is installed."""


class GroupVersionKind(Open):
    """The coordinates of an API."""

    group: str
    """API group; empty: the core group."""
    version: str
    """API version."""
    kind: str
    """Kind of the objects."""


class WebhookDescription(Open):
    """A webhook that the operator serves."""

    generate_name: str
    """How the names of what is made for the webhook begin."""
    type: Literal["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"]
    """What kind of webhook it is."""
    side_effects: str
    """Whether a call changes anything else, e.g. `None`."""
    admission_review_versions: Sequence[str]
    """Versions of the review that the webhook understands, the preferred one first."""
    deployment_name: str = ""
    """The Deployment that serves the webhook."""
    container_port: int = Field(443, ge=1, le=65535, json_schema_extra=defaults_to(443))
    """The port of the Service in front of it."""
    target_port: IntOrString | None = None
    """The port of the container; absent: `containerPort`."""
    rules: Sequence[Embedded] = ()
    """Which requests are sent to the webhook."""
    failure_policy: str | None = None
    """What becomes of a request that the webhook does not answer: `Ignore` or `Fail`."""
    match_policy: str | None = None
    """`Equivalent`: other versions of the same API count, too; `Exact`: they do not."""
    object_selector: Embedded | None = None
    """Labels that an object must have to be sent."""
    timeout_seconds: int | None = None
    """How long an answer may take."""
    reinvocation_policy: str | None = None
    """`IfNeeded`: ask again when a later webhook changed the object."""
    webhook_path: str | None = None
    """Path of the URL."""
    conversion_crds: Sequence[str] = Field((), alias="conversionCRDs")
    """CustomResourceDefinitions whose versions it converts."""
