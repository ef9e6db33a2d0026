"""Register the API of PackageManifests with the API server while somebody serves it, and make its certificate.

Reads:  our Deployment and its Secret, in public; the APIService, and the ClusterRole that it goes with.
Writes: the Secret; creates, changes or deletes the APIService; an annotation that says that it was not reached.
"""

from __future__ import annotations

from functions.maintenance._certificates import kept
from shared import names
from shared.api.manifest import timestamp
from shared.api.views import ApiService, Deployment, Object
from shared.domain.endpoints.certificates import SETTLED, Content
from shared.domain.endpoints.changes import change
from shared.domain.serving import publication, serving_certificate
from shared.domain.serving.publication import API, PublicationState
from shared.ports import Clock, Cluster, Keys, Policy
from shared.step import Apply, Delete, Merge, Outcome, Ref, Write


def publish_packages(ref: Ref, cluster: Cluster, keys: Keys, clock: Clock, *, policy: Policy) -> Outcome:
    """Key: the Deployment `olmf-packages`; only that in the namespace of the installation counts."""
    if ref != publication.server_of(policy.global_namespace):
        return Outcome(summary="only the Deployment of the installation serves PackageManifests")
    present = ApiService.of(cluster.get(API))
    if present is not None and not publication.is_ours(present, ref):
        return Outcome(summary=f"APIService {API.name} belongs to somebody else")
    now, deployment = clock.now(), Deployment.of(cluster.get(ref))
    found = publication.publication_state(deployment, present, now)
    if deployment is None or deployment.is_deleted:
        return Outcome(_withdrawn(present, deployment, found, timestamp(now)), summary=found.why)
    stored = keys.stored(serving_certificate.secret_of(deployment))
    hosts = publication.hosts(ref)
    content = publication.content_of(stored, ref, now, lambda: keys.issue(hosts, now))
    writes = kept(deployment, content, stored)
    if found.is_desired:
        writes += _registered(ref, content, present, Object.of(cluster.get(publication.OWNER)))
    else:
        writes += _withdrawn(present, deployment, found, timestamp(now))
    again = SETTLED if content.following else found.again_in  # what takes longer is left to the audit
    return Outcome(writes, again_in=again, summary=found.why)


def _registered(server: Ref, content: Content, present: ApiService | None, owner: Object | None) -> tuple[Write, ...]:
    desired = publication.api_service(server, content, owner)
    return (Apply(desired),) if change(desired, present) else ()


def _withdrawn(
    present: ApiService | None, deployment: Deployment | None, found: PublicationState, now: str
) -> tuple[Write, ...]:
    if present is None:
        return ()
    note = {"metadata": {"annotations": {names.UNREACHED: now}}}
    noted = (Merge(Ref.of(deployment.raw), note),) if deployment and found.is_unreachable else ()
    return (*noted, Delete(API, present.uid))
