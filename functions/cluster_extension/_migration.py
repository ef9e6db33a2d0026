"""What upstream's older engine installed becomes the first revision, before anything else is decided."""

from __future__ import annotations

from datetime import datetime, timedelta

from functions.cluster_extension._writes import writes_of
from shared.api.views import ClusterExtension
from shared.domain.extension.helm_release import UnusableRelease
from shared.domain.extension.migration import failed, finished, first_revision, may_have_release, unfinished
from shared.domain.extension.revisions import Revisions
from shared.errors import RetryLater
from shared.ports import Cluster
from shared.reading.helm_release import release_for
from shared.step import Outcome, Ref, SetStatus, Wait

_RETRY = timedelta(minutes=1)
"""When a release that could not be read is looked at again."""


def migration(
    extension: ClusterExtension, revisions: Revisions, cluster: Cluster, *, namespace: str, now: datetime
) -> Outcome | None:
    """The next write of a migration; None where there is nothing to migrate (any more)."""
    if (made := unfinished(revisions)) is not None:
        status = SetStatus(Ref.of(made), finished(made, now), made.resource_version)
        return Outcome((status,), summary=f"{made.name} is what was installed")
    if not may_have_release(extension, revisions):
        return None
    try:
        release = release_for(extension, cluster)
        if release is None:
            return None
        found = first_revision(extension, release, namespace)
    except UnusableRelease as error:
        return _failed(extension, str(error), now)
    return Outcome(writes_of(found), summary=f"{found} of a Helm release")


def _failed(extension: ClusterExtension, why: str, now: datetime) -> Outcome:
    status, ref = failed(extension, why, now), Ref.of(extension)
    wait = Wait(why, next_try=now + _RETRY)
    if status == extension.status:
        raise RetryLater(f"{ref}: {why}", after=_RETRY, wait=wait)
    return Outcome((SetStatus(ref, status, extension.resource_version),), again_in=_RETRY, summary=why, wait=wait)
