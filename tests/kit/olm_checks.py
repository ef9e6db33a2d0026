"""What OLM looks for around an operator that serves, before it leaves it as it is (csv.md §7.5–7.8)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509

from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, annotations_of, instant, labels_of
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    MUTATING_WEBHOOKS,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    VALIDATING_WEBHOOKS,
    Ref,
)

CONFIGURATIONS = {"ValidatingAdmissionWebhook": VALIDATING_WEBHOOKS, "MutatingAdmissionWebhook": MUTATING_WEBHOOKS}
FILES = {
    "apiservice-cert": {"tls.crt": "apiserver.crt", "tls.key": "apiserver.key"},
    "webhook-cert": {"tls.crt": "tls.crt", "tls.key": "tls.key"},
}
MANAGED = {"olm.managed": "true"}


class OlmChecks:
    """The complaints that OLM would have about one version."""

    def __init__(self, cluster: KubeClient, csv: Ref) -> None:
        self._cluster = cluster
        found = cluster.get(csv)
        assert found, f"{csv} is gone"
        self._csv, self._namespace = found, csv.namespace
        self._owner = {
            "olm.owner": csv.name, "olm.owner.namespace": csv.namespace, "olm.owner.kind": "ClusterServiceVersion",
        }  # fmt: skip

    def complaints(self) -> list[str]:
        """In words; none when OLM would write nothing but its own hashes of descriptions."""
        spec = self._csv["spec"]
        hooks = spec.get("webhookdefinitions") or []
        apis = (spec.get("apiservicedefinitions") or {}).get("owned") or []
        served = dict.fromkeys(one["deploymentName"] for one in (*hooks, *apis))
        assert served, "it serves nothing"
        found = [f"{name}: {one}" for name in served for one in self._around(name)]
        found += [one for api in apis for one in self._of_api(api)]
        found += [one for hook in hooks for one in self._of_webhook(hook)]
        return found

    def _get(self, ref: Ref) -> Any:
        return self._cluster.get(ref) or {}

    def _bundle(self, deployment: str) -> str:
        secret = self._get(SECRET.ref(f"{deployment}-service-cert", self._namespace))
        return str(secret["data"].get("olmCAKey"))

    def _around(self, name: str) -> Iterator[str]:
        """Secret, Service, rights and Pods of a Deployment; its certificate must not have to be rotated."""
        place, service = self._namespace, f"{name}-service"
        there = (
            SERVICE.ref(service, place), SECRET.ref(f"{service}-cert", place), ROLE.ref(f"{service}-cert", place),
            ROLE_BINDING.ref(f"{service}-cert", place), CLUSTER_ROLE_BINDING.ref(f"{service}-system:auth-delegator"),
            ROLE_BINDING.ref(f"{service}-auth-reader", "kube-system"), DEPLOYMENT.ref(name, place),
        )  # fmt: skip
        yield from (f"{ref} without olm.managed" for ref in there if not MANAGED.items() <= self._labels(ref).items())
        secret = self._get(there[1])
        data = {key: base64.b64decode(value) for key, value in secret["data"].items()}
        yield from self._certificate(data, service)
        digest = hashlib.sha256(data["olmCAKey"]).hexdigest()
        template = self._get(there[-1])["spec"]["template"]
        for what, reported in (("Secret", secret), ("template", template)):
            if annotations_of(reported).get("olmcahash") != digest:
                yield f"olmcahash of the {what}"
        yield from self._pod(template["spec"], f"{service}-cert")

    def _labels(self, ref: Ref) -> dict[str, str]:
        return dict(labels_of(self._get(ref) or {"metadata": {}}))

    def _certificate(self, data: dict[str, bytes], service: str) -> Iterator[str]:
        if set(data) != {"tls.crt", "tls.key", "olmCAKey"}:
            yield f"keys {sorted(data)}"
        authority, leaf = (x509.load_pem_x509_certificate(data[key]) for key in ("olmCAKey", "tls.crt"))
        leaf.verify_directly_issued_by(authority)
        now = datetime.now(UTC)
        for one in (authority, leaf):
            if not one.not_valid_before_utc <= now < one.not_valid_after_utc - timedelta(days=1):
                yield f"valid from {one.not_valid_before_utc} to {one.not_valid_after_utc}"
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        for suffix in ("", ".svc", ".svc.cluster.local"):
            if (host := f"{service}.{self._namespace}{suffix}") not in names.get_values_for_type(x509.DNSName):
                yield f"not for {host}"
        rotates = instant(self._csv["status"].get("certsRotateAt"))
        if rotates != leaf.not_valid_after_utc - timedelta(days=1):
            yield f"certsRotateAt {rotates}"

    def _pod(self, pod: Manifest, secret: str) -> Iterator[str]:
        volumes = {one["name"]: one.get("secret", {}) for one in pod["volumes"]}
        for name, files in FILES.items():
            volume = volumes.get(name, {})
            if (volume.get("secretName"), {one["key"]: one["path"] for one in volume["items"]}) != (secret, files):
                yield f"volume {name}: {volume}"
        account = SERVICE_ACCOUNT.ref(pod.get("serviceAccountName") or "default", self._namespace)
        if self._cluster.get(account) is None:
            yield f"{account} is gone"

    def _of_api(self, api: Manifest) -> Iterator[str]:
        ref = API_SERVICE.ref(f"{api['version']}.{api['group']}")
        found = self._get(ref)
        if not self._owner.items() <= labels_of(found).items():
            yield f"{ref} is unadoptable"
        place = found["spec"]["service"]
        if (place["namespace"], place["name"]) != (self._namespace, f"{api['deploymentName']}-service"):
            yield f"{ref}: service reference mismatch"
        if found["spec"]["caBundle"] != self._bundle(api["deploymentName"]):
            yield f"{ref}: CA"

    def _of_webhook(self, hook: Manifest) -> Iterator[str]:
        bundle = self._bundle(hook["deploymentName"])
        for name in hook.get("conversionCRDs") or ():
            conversion = self._get(CUSTOM_RESOURCE_DEFINITION.ref(name))["spec"]["conversion"]
            if conversion["strategy"] != "Webhook" or conversion["webhook"]["clientConfig"].get("caBundle") != bundle:
                yield f"conversion of {name}"
        if kind := CONFIGURATIONS.get(hook["type"]):
            labels = {**self._owner, "olm.webhook-description-generate-name": hook["generateName"], **MANAGED}
            found = self._cluster.list(kind, labels=labels)
            names = [(one["webhooks"][0]["name"], one["webhooks"][0]["clientConfig"]["caBundle"]) for one in found]
            if names != [(hook["generateName"], bundle)]:
                yield f"configurations of {hook['generateName']}: {names}"
