"""Who makes the certificates of webhooks, and what objects must say for it (v1.md §18.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.api.manifest import Manifest
from shared.domain.extension.render.model import Bundle, Plan
from shared.domain.extension.render.naming import certificate_name, service_name
from shared.domain.objects.hashes import joined

_API_VERSION: Final = "cert-manager.io/v1"
_INJECT_FROM: Final = "cert-manager.io/inject-ca-from"
_INJECT: Final = "service.beta.openshift.io/inject-cabundle"
_SERVING: Final = "service.beta.openshift.io/serving-cert-secret-name"
_TWO_YEARS: Final = "17520h0m0s"
_ONE_DAY: Final = "24h0m0s"


def injected(manifest: Manifest, deployment: str, plan: Plan) -> Manifest:
    """An object that holds the authority of a webhook, so that somebody fills it in."""
    if plan.cert_provider == "cert-manager":
        return _annotated(manifest, _INJECT_FROM, f"{plan.install_namespace}/{certificate_name(deployment)}")
    return _annotated(manifest, _INJECT, "true")


def served(service: Manifest, deployment: str, plan: Plan) -> Manifest:
    """The Service of a Deployment, so that somebody makes its certificate."""
    if plan.cert_provider != "openshift-service-ca":
        return service
    return _annotated(service, _SERVING, certificate_name(deployment))


def _annotated(manifest: Manifest, key: str, value: str) -> Manifest:
    meta = manifest["metadata"]
    return {**manifest, "metadata": {**meta, "annotations": {**meta.get("annotations", {}), key: value}}}


def certificates(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """Issuer and Certificate of every Deployment that serves webhooks, by name of the Deployment."""
    if plan.cert_provider != "cert-manager":
        return
    for deployment in sorted({webhook.get("deploymentName") or "" for webhook in bundle.webhooks}):
        yield _issuer(deployment, plan)
        yield _certificate(deployment, plan)


def _issuer(deployment: str, plan: Plan) -> Manifest:
    return {
        "apiVersion": _API_VERSION,
        "kind": "Issuer",
        "metadata": {"name": _issuer_name(deployment), "namespace": plan.install_namespace},
        "spec": {"selfSigned": {}},
        "status": {},
    }


def _issuer_name(deployment: str) -> str:
    return joined(certificate_name(deployment), "selfsigned-issuer")


def _certificate(deployment: str, plan: Plan) -> Manifest:
    name, host = certificate_name(deployment), f"{service_name(deployment)}.{plan.install_namespace}"
    return {
        "apiVersion": _API_VERSION,
        "kind": "Certificate",
        "metadata": {"name": name, "namespace": plan.install_namespace},
        "spec": {
            "commonName": host,
            "dnsNames": [host, f"{host}.svc", f"{host}.svc.cluster.local"],
            "duration": _TWO_YEARS,
            "issuerRef": {"name": _issuer_name(deployment)},
            "renewBefore": _ONE_DAY,
            "secretName": name,
            "usages": ["server auth"],
        },
        "status": {},
    }
