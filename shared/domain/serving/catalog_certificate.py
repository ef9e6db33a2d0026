"""How the server of catalogs proves itself to its clients, and where they find the CAs to trust (v1.md §6).

Clients read the CAs when they like: a Pod that mounts them sees new ones after minutes, others ask once in a while.
So a certificate follows the present one half a day after its CA was published, and half a day before it has to.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest
from shared.api.views import Deployment
from shared.domain.endpoints.certificates import ROTATED_BEFORE, Content, Pair, StoredPair
from shared.domain.objects.ownership import labels_for
from shared.domain.serving import serving_certificate
from shared.kinds import CONFIG_MAP, DEPLOYMENT, Ref

AUTHORITY: Final = "ca.crt"
"""The key of the ConfigMap."""
SETTLED: Final = ROTATED_BEFORE / 2
"""After this time clients trust a CA that was published."""


def server_of(namespace: str) -> Ref:
    """Our Deployment in the namespace of the installation."""
    return DEPLOYMENT.ref(names.CATALOGS, namespace)


def hosts(server: Ref) -> tuple[str, ...]:
    """The names of its Service, which its certificate has to have."""
    host = f"{server.name}.{server.namespace}"
    return host, f"{host}.svc", f"{host}.svc.cluster.local"


def takes_ours(deployment: Deployment) -> bool:
    """Whether its Pods mount the Secret that we write: who has certificates of his own names another one, or none."""
    secret = serving_certificate.secret_of(deployment).name
    volumes = fields.parts(deployment.template.raw, "spec", "volumes")
    return any(fields.text(one, "secret", "secretName") == secret for one in volumes)


def content_of(stored: StoredPair | None, server: Ref, now: datetime, issue: Callable[[], Pair]) -> Content:
    """What the Secret should contain now."""
    return serving_certificate.content_of(stored, hosts(server), now, issue, settled=SETTLED)


def authorities_of(server: Ref) -> Ref:
    """The ConfigMap with the CAs that clients trust."""
    return CONFIG_MAP.ref(names.CATALOGS_AUTHORITIES, server.namespace)


def authorities(deployment: Deployment, content: Content) -> Manifest:
    """That ConfigMap; it goes with the Deployment."""
    server = Ref.of(deployment.raw)
    ref = authorities_of(server)
    labels = labels_for(server.name, server.namespace, server.kind)
    meta = {
        "name": ref.name, "namespace": ref.namespace, "labels": {**labels, names.MANAGED: "true"},
        "ownerReferences": [serving_certificate.reference(server, deployment.uid)],
    }  # fmt: skip
    data = {AUTHORITY: content.bundle}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta, "data": data}
