"""The first revision of an extension that upstream's older engine installed (v1.md §21.9)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.domain.conditions import Condition
from shared.domain.extension.helm_release import Release, UnusableRelease
from shared.domain.extension.identity import NoIdentity, of_installed
from shared.domain.extension.making import Addition
from shared.domain.extension.model import Installed
from shared.domain.extension.phases.order import MOST_OBJECTS, MOST_PHASES
from shared.domain.extension.phases.packing import Owner, TooLarge, pack
from shared.domain.extension.phases.revision import Content, desired, guarded, phases_of, revision_name
from shared.domain.extension.report import retrying
from shared.domain.extension.revisions import Revisions
from shared.domain.extension.status import with_conditions

_SUCCEEDED: Final = Condition("Succeeded", "True", "Succeeded", "Revision succeeded - migrated from Helm release")


def may_have_release(extension: ClusterExtension, revisions: Revisions) -> bool:
    """Whether an older engine may have installed it: it says that something is, and there is no revision."""
    return not revisions.all and bool(extension.status.get("install"))


def unfinished(revisions: Revisions) -> ClusterObjectSet | None:
    """The revision that was made of a release and does not say so yet: whoever made it was ended before."""
    found = (one for one in revisions.active if one.number == 1 and one.is_migrated and not one.has_succeeded)
    return next(found, None)


def first_revision(extension: ClusterExtension, release: Release, namespace: str) -> Addition:
    """The revision that takes the objects of a release over; `namespace` is that of its Secrets. UnusableRelease."""
    labels = release.labels
    installed = Installed(
        labels.get(names.V1_BUNDLE_NAME, ""),
        labels.get(names.V1_BUNDLE_VERSION, ""),
        labels.get(names.V1_BUNDLE_RELEASE),
    )
    try:
        content = Content(
            labels.get(names.V1_PACKAGE_NAME, ""), installed.name, of_installed(installed),
            labels.get(names.V1_BUNDLE_REFERENCE, ""), release.objects, release.annotations,
            has_releases=installed.release is not None,
        )  # fmt: skip
        phases = phases_of(extension.raw, content)
        if len(phases) > MOST_PHASES:
            raise UnusableRelease(
                f"{len(release.objects)} objects are more than {MOST_PHASES} phases of {MOST_OBJECTS}"
            )
        packed = pack(phases, Owner(revision_name(extension.raw, 1), extension.name, namespace))
    except (NoIdentity, TooLarge) as error:
        raise UnusableRelease(str(error)) from error
    found = desired(extension.raw, content, packed)
    found["spec"]["collisionProtection"] = "None"  # the extension controls them still
    found["metadata"]["labels"][names.V1_MIGRATED] = "true"
    return Addition(found, guarded(packed.secrets, extension.raw), ())


def finished(revision: ClusterObjectSet, now: datetime) -> Manifest:
    """The status of the first revision: what it is about was installed already."""
    return {**revision.status, "conditions": with_conditions(revision, (_SUCCEEDED,), now)}


def failed(extension: ClusterExtension, why: str, now: datetime) -> Manifest:
    """The status that says why nothing is taken over; what is installed, stays said."""
    return {**extension.status, "conditions": with_conditions(extension, (retrying(f"migrating storage: {why}"),), now)}
