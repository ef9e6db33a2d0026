"""What serves for the API server when a version is installed anew, as far as its bundle says it (csv.md §7.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared import kinds
from shared.api import fields
from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv, OperatorGroup
from shared.domain.endpoints import api_services, objects, sharing, webhooks
from shared.domain.endpoints.conversion import conversions, desired
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.operator_groups.group import Group

_EVERYWHERE: Final = OperatorGroup({"metadata": {}, "status": {"namespaces": [""]}})
"""A bundle does not say for which namespaces it will be installed."""


def outline(csv: Csv, group: OperatorGroup | None = None) -> Iterator[Manifest]:
    """The objects, in the order in which they are written; without certificates and owners, which come of a cluster.

    `group` is that of its namespace: without one webhooks are for all namespaces.
    """
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
            manifest = webhooks.configuration(csv, hook, _placed(group), (), bundle="")
            yield {**manifest, "webhooks": [_without(one, "clientConfig", "caBundle") for one in manifest["webhooks"]]}


def converted(csv: Csv, definition: Manifest) -> Manifest:
    """The definition as the version has it converted; without the certificate, which comes of a cluster."""
    for hook, name in conversions(csv):
        if name == name_of(definition) and any(entry.name == name for entry in csv.owned_definitions):
            whole = desired(csv, hook, bundle="")
            client = {"service": whole["webhook"]["clientConfig"]["service"]}
            conversion = {**whole, "webhook": {**whole["webhook"], "clientConfig": client}}
            return {**definition, "spec": {**definition["spec"], "conversion": conversion}}
    return definition


def _placed(group: OperatorGroup | None) -> OperatorGroup:
    """The group as it is, or will be: one that was never looked at may not say yet which namespaces it has."""
    if group is None or not (group.target_namespaces or group.selector or Group.of(group).targets is not None):
        return _EVERYWHERE
    return group


def _without(manifest: Manifest, part: str, field: str) -> Manifest:
    return {**manifest, part: {key: value for key, value in manifest[part].items() if key != field}}
