"""Versions that serve webhooks and aggregated APIs; a test names only what matters."""

from __future__ import annotations

from typing import Any

from shared.api.manifest import Manifest
from tests.domain.csv.builders import a_csv

THINGS = "things.example.com"
ALL = {"olm.operatorGroup": "og", "olm.operatorNamespace": "ns", "olm.targetNamespaces": ""}
"""The annotations of a member of a global group."""


def a_rule(*resources: str, group: str = "example.com", **more: Any) -> Manifest:
    return {
        "apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": list(resources or ("things",)), **more,
    }  # fmt: skip


def a_webhook(name: str = "v.example.com", kind: str = "Validating", **more: Any) -> Manifest:
    """An admission webhook; `kind` is the beginning of its type."""
    whole = {
        "type": f"{kind}AdmissionWebhook", "generateName": name, "deploymentName": "operator", "containerPort": 443,
        "targetPort": 9443, "webhookPath": "/check", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail", "rules": [a_rule()], **more,
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value is not None}


def a_conversion(*definitions: str, **more: Any) -> Manifest:
    listed: dict[str, Any] = {
        "conversionCRDs": list(definitions or (THINGS,)),
        "type": "ConversionWebhook",
        "rules": None,
    }
    return a_webhook("c.example.com", **listed, webhookPath="/convert", failurePolicy=None, **more)


def an_api(group: str = "api.example.com", version: str = "v1", **more: Any) -> Manifest:
    return {
        "name": "measures", "group": group, "version": version, "kind": "Measure", "deploymentName": "operator",
        "containerPort": 9443, **more,
    }  # fmt: skip


def a_server(*hooks: Manifest, apis: tuple[Manifest, ...] = (), **more: Any) -> Manifest:
    """A version with these webhooks and aggregated APIs, in a global group."""
    served = {"webhookdefinitions": list(hooks)} if hooks else {}
    owned = {"apiservicedefinitions": {"owned": list(apis)}} if apis else {}
    defaults = {"annotations": ALL, "modes": ("AllNamespaces",)}
    return a_csv(**{**defaults, **served, **owned, **more})
