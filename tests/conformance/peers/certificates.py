"""Plays cert-manager: each Certificate gets a Secret of its own authority, which annotated objects are given."""

from __future__ import annotations

import base64
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, annotations_of, timestamp
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, Kind, Ref
from tests.conformance.keys import CURVE, openssl
from tests.conformance.peers.contents import crd

LOOK_SECONDS = 0.5
INJECT = "cert-manager.io/inject-ca-from"
CERTIFICATE = Kind("cert-manager.io/v1", "Certificate", "certificates")
ISSUER = Kind("cert-manager.io/v1", "Issuer", "issuers")
WEBHOOKS = tuple(
    Kind(
        "admissionregistration.k8s.io/v1", f"{word}WebhookConfiguration", f"{word.lower()}webhookconfigurations",
        is_namespaced=False,
    )
    for word in ("Validating", "Mutating")
)  # fmt: skip
log = structlog.get_logger()


def definitions() -> Iterator[Manifest]:
    """The kinds."""
    for kind in (CERTIFICATE, ISSUER):
        made = crd(f"{kind.plural}.cert-manager.io", kind.kind, "v1")
        made["spec"]["versions"][0]["subresources"] = {"status": {}}
        yield made


@dataclass
class CertManager:
    """That of one cluster."""

    cluster: KubeClient
    authorities: dict[str, str] = field(default_factory=dict)
    """Of each Certificate, `<namespace>/<name>`, in base64."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work in a thread."""
        ended = threading.Event()
        thread = threading.Thread(target=self._work, args=[ended], daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _work(self, ended: threading.Event) -> None:
        while not ended.wait(LOOK_SECONDS):
            try:
                self._look()
            except ApiError as error:  # an object that has gone meanwhile; the next look is soon
                log.info("cert_manager_looks_again", error=str(error))

    def _look(self) -> None:
        for kind in (ISSUER, CERTIFICATE):
            for each in self.cluster.list(kind):
                if kind is CERTIFICATE:
                    self._issue(each)
                self._ready(Ref.of({**each, "apiVersion": kind.api_version, "kind": kind.kind}), each)
        for kind in WEBHOOKS:
            for each in self.cluster.list(kind):
                if authority := self._authority(each):
                    hooks = [{**hook, "clientConfig": {**hook["clientConfig"], "caBundle": authority}}
                             for hook in each["webhooks"]]  # fmt: skip
                    self._change(kind.ref(each["metadata"]["name"]), each, {"webhooks": hooks})
        for each in self.cluster.list(CUSTOM_RESOURCE_DEFINITION):
            conversion = each["spec"].get("conversion") or {}
            if "webhook" in conversion and (authority := self._authority(each)):
                client = {"clientConfig": {"caBundle": authority}}
                change = {"spec": {"conversion": {"webhook": client}}}
                if conversion["webhook"]["clientConfig"].get("caBundle") != authority:
                    self.cluster.merge(CUSTOM_RESOURCE_DEFINITION.ref(each["metadata"]["name"]), change)

    def _authority(self, manifest: Any) -> str:
        return self.authorities.get(annotations_of(manifest).get(INJECT, ""), "")

    def _change(self, ref: Ref, manifest: Any, change: dict[str, Any]) -> None:
        if any(manifest[key] != value for key, value in change.items()):
            self.cluster.merge(ref, change)

    def _ready(self, ref: Ref, manifest: Any) -> None:
        if not (manifest.get("status") or {}).get("conditions"):
            now = timestamp(datetime.now(UTC))
            ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": now}
            self.cluster.merge(ref, {"status": {"conditions": [ready]}}, subresource="status")

    def _issue(self, certificate: Any) -> None:
        meta, spec = certificate["metadata"], certificate["spec"]
        key = f"{meta['namespace']}/{meta['name']}"
        if key not in self.authorities:
            pair = made_for(spec["dnsNames"])
            secret = {
                "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": pair,
                "metadata": {"name": spec["secretName"], "namespace": meta["namespace"]},
            }  # fmt: skip
            self.cluster.apply(secret, field_manager="cert-manager")
            self.authorities[key] = pair["tls.crt"]


def made_for(names: list[str]) -> dict[str, str]:
    """The data of a Secret with a certificate for these names that is its own authority."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        openssl(
            folder, "req", "-x509", *CURVE, "-keyout", "tls.key", "-out", "tls.crt", "-days", "30",
            "-subj", "/CN=cert-manager", "-addext", f"subjectAltName={','.join(f'DNS:{name}' for name in names)}",
        )  # fmt: skip
        data = {name: base64.b64encode((folder / name).read_bytes()).decode() for name in ("tls.crt", "tls.key")}
        return {**data, "ca.crt": data["tls.crt"]}
