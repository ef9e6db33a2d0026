"""What serves for the API server when a version is installed anew, as far as its bundle says it (csv.md §7.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared import kinds
from shared.api import fields
from shared.api.manifest import Manifest
from shared.api.views import Csv, OperatorGroup
from shared.domain.endpoints import api_services, objects, sharing, webhooks
from shared.domain.endpoints.endpoint import endpoints_of

_EVERYWHERE: Final = OperatorGroup({"metadata": {}, "status": {"namespaces": [""]}})
"""A bundle does not say for which namespaces it will be installed."""


def outline(csv: Csv) -> Iterator[Manifest]:
    """The objects, in the order in which they are written; without certificates and owners, which come of a cluster."""
    endpoints = endpoints_of(csv)
    for endpoint in endpoints:
        secret = {"apiVersion": kinds.SECRET.api_version, "kind": kinds.SECRET.kind, "type": objects.TLS}
        yield {**secret, "metadata": {"name": endpoint.secret, "namespace": csv.namespace}}
        for one in (
            objects.service(csv, endpoint), objects.role(csv, endpoint), objects.role_binding(csv, endpoint),
            sharing.delegator(csv, endpoint, None), sharing.reader(endpoint, None),
        ):  # fmt: skip
            yield _without(one, "metadata", "ownerReferences")
    for api in (api for endpoint in endpoints for api in endpoint.apis):
        one = api_services.desired(csv, api, None, bundle="", annotations=fields.EMPTY)
        yield _without(one, "spec", "caBundle")
    served = {endpoint.deployment for endpoint in endpoints}
    for hook in webhooks.admission(csv):
        if hook.deployment in served:
            manifest = webhooks.configuration(csv, hook, _EVERYWHERE, (), bundle="")
            yield {**manifest, "webhooks": [_without(one, "clientConfig", "caBundle") for one in manifest["webhooks"]]}


def _without(manifest: Manifest, part: str, field: str) -> Manifest:
    return {**manifest, part: {key: value for key, value in manifest[part].items() if key != field}}
