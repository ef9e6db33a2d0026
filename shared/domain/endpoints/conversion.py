"""The conversion of objects by a webhook of the version that owns their definition (csv.md §7.6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from shared.api import fields
from shared.api.manifest import Manifest
from shared.api.views import CONVERSION, Csv, CustomResourceDefinition, Webhook
from shared.domain.endpoints.naming import service_name
from shared.domain.endpoints.owning import Objects, claims, is_named, other_owner
from shared.domain.endpoints.webhooks import encoded

_ALL: Final = "AllNamespaces"
NONE: Final[Manifest] = {"strategy": "None", "webhook": None}
"""A merge patch of `spec.conversion` that ends the calls of a webhook."""
ENDED: Final[Manifest] = {"spec": {"conversion": NONE}}
"""The same, of a definition."""


def conversions(csv: Csv) -> tuple[tuple[Webhook, str], ...]:
    """Each definition whose objects are converted, and the webhook that does it: the last that names it, as in OLM."""
    found = {name: hook for hook in csv.webhooks if hook.type == CONVERSION for name in hook.definitions}
    return tuple((hook, name) for name, hook in found.items())


def misuse(csv: Csv) -> str:
    """Why the version cannot convert anything, whatever is in the cluster; empty when it can."""
    hooks = [hook for hook in csv.webhooks if hook.type == CONVERSION]
    if not hooks:
        return ""
    if any(mode.is_supported != (mode.type == _ALL) for mode in csv.install_modes):
        return "unable to manage conversion webhook: CSVs with conversion webhooks must support only AllNamespaces"
    if any(not hook.definitions for hook in hooks):
        return "unable to manager conversion webhook: conversion webhook must have at least one CRD specified"
    return ""


def refusal(csv: Csv, name: str, definition: CustomResourceDefinition | None, objects: Objects) -> str:
    """Why the version must not convert the objects of a definition; empty when it may."""
    if definition is None:
        return f"unable to get CRD {name} specified in Conversion Webhook: it does not exist"
    if not is_named(csv, definition):
        is_unplanned = claims(csv, definition) and not definition.is_deleted
        why = ": no InstallPlan installed it for this version" if is_unplanned else ""
        return f"csv {csv.name} does not own CRD {name}{why}"
    if other := other_owner(csv, definition, objects):
        return f"CRD {name} also belongs to {other}: neither of both can convert the objects of the other"
    if definition.preserves_unknown_fields:
        return "crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do the conversion"
    return ""


def desired(csv: Csv, hook: Webhook, *, bundle: str) -> Manifest:
    """A merge patch of `spec.conversion` to a server that proves itself to who trusts `bundle`, PEM."""
    service = {
        "namespace": csv.namespace,
        "name": service_name(hook.deployment),
        "path": hook.path or "/",
        "port": hook.port,
    }
    client = {"service": service, "caBundle": encoded(bundle), "url": None}
    webhook = {"clientConfig": client, "conversionReviewVersions": list(hook.review_versions)}
    return {"strategy": "Webhook", "webhook": webhook}


def is_served_by(csv: Csv, services: Collection[str], definition: CustomResourceDefinition) -> bool:
    """Whether the objects of the definition are converted behind one of these Services of the version's namespace."""
    service = fields.part(definition.conversion, "webhook", "clientConfig", "service")
    is_here = fields.text(service, "namespace") == csv.namespace and fields.text(service, "name") in services
    return definition.converts_by_webhook and is_here


def kept_by_others(csv: Csv, namespace_csvs: Iterable[Csv]) -> frozenset[str]:
    """The definitions that other living versions of the namespace convert."""
    living = (one for one in namespace_csvs if one.name != csv.name and not one.is_copy and not one.is_deleted)
    return frozenset(name for one in living for _, name in conversions(one))
