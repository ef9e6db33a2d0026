"""When the API of PackageManifests is registered with the API server, and how its server proves itself (csv.md §13.8).

An APIService that nobody serves breaks discovery, and with it the deletion of every namespace. So it exists only while
Pods behind it are available, and leaves again when the API server does not reach them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import Manifest, instant
from shared.api.views import ApiService, Deployment, Object
from shared.domain.endpoints import naming
from shared.domain.endpoints.certificates import SETTLED, Content, Pair, StoredPair
from shared.domain.endpoints.webhooks import encoded
from shared.domain.objects.ownership import labels_for
from shared.domain.serving import serving_certificate
from shared.domain.serving.serving_certificate import reference
from shared.kinds import API_SERVICE, CLUSTER_ROLE, DEPLOYMENT, Ref

GROUP, VERSION = "packages.operators.coreos.com", "v1"
API: Final = API_SERVICE.ref(f"{VERSION}.{GROUP}")
OWNER: Final = CLUSTER_ROLE.ref(names.PACKAGES)
"""What of the installation is cluster-scoped, too: when it is removed, garbage collection removes the APIService."""
GRACE: Final = timedelta(seconds=30)
"""How long an API may be unavailable: Pods move, and API servers take a moment to notice."""
PAUSE: Final = timedelta(hours=1)
"""How long nothing is registered after the API server did not reach what was available."""
_PORT: Final = 443
_PRIORITIES: Final = {"groupPriorityMinimum": 2000, "versionPriority": 15}


@dataclass(frozen=True, slots=True)
class PublicationState:
    """Whether the API has to be registered."""

    is_desired: bool
    why: str
    again_in: timedelta | None = None
    """When time alone changes the answer."""
    is_unreachable: bool = False
    """The Pods are available, and the API server does not reach them."""


def publication_state(deployment: Deployment | None, present: ApiService | None, now: datetime) -> PublicationState:
    """Whether the API has to be registered, by what Deployment and APIService say of themselves."""
    if deployment is None or deployment.is_deleted or deployment.wanted_replicas == 0:
        return PublicationState(is_desired=False, why="nothing serves PackageManifests")
    if not deployment.available_replicas:
        since = deployment.condition("Available").since
        return _while_in_grace(present is not None, since, now, "no Pod that serves PackageManifests is available")
    tried = instant(deployment.annotation(names.UNREACHED))
    if present is None and tried and now < tried + PAUSE:
        why = "the API server did not reach the Pods that serve PackageManifests"
        return PublicationState(is_desired=False, why=why, again_in=tried + PAUSE - now)
    if present is None or present.is_available:
        return PublicationState(is_desired=True, why="PackageManifests are served")
    condition = present.condition("Available")
    since = condition.since or present.created
    found = _while_in_grace(True, since, now, f"the API server does not reach them: {condition.message}"[:300])
    return replace(found, is_unreachable=not found.is_desired)


def _while_in_grace(is_there: bool, since: datetime | None, now: datetime, why: str) -> PublicationState:
    left = (since or now) + GRACE - now
    is_kept = is_there and left > timedelta()
    return PublicationState(True, why, left) if is_kept else PublicationState(is_desired=False, why=why)


def is_ours(present: ApiService, server: Ref) -> bool:
    """Whether an APIService is that of our Deployment, and not of the package server of OLM."""
    return labels_for(server.name, server.namespace, server.kind).items() <= present.labels.items()


def content_of(stored: StoredPair | None, server: Ref, now: datetime, issue: Callable[[], Pair]) -> Content:
    """What the Secret should contain now."""
    return serving_certificate.content_of(stored, hosts(server), now, issue, settled=SETTLED)


def hosts(server: Ref) -> tuple[str, ...]:
    """The names in the certificate of our Deployment."""
    return naming.hosts(server.name, server.namespace)


def api_service(server: Ref, content: Content, owner: Object | None) -> Manifest:
    """The APIService, whose clients trust the CAs of the content."""
    labels = {**labels_for(server.name, server.namespace, server.kind), names.MANAGED: "true"}
    meta: Manifest = {"name": API.name, "labels": labels}
    if owner is not None:
        meta["ownerReferences"] = [reference(OWNER, owner.uid)]
    service = {"namespace": server.namespace, "name": naming.service_name(server.name), "port": _PORT}
    spec = {"group": GROUP, "version": VERSION, "service": service, "caBundle": encoded(content.bundle), **_PRIORITIES}
    return {"apiVersion": API.api_version, "kind": API.kind, "metadata": meta, "spec": spec}


def server_of(namespace: str) -> Ref:
    """Our Deployment in the namespace of the installation."""
    return DEPLOYMENT.ref(names.PACKAGES, namespace)
