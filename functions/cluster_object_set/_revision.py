"""The writes for a revision itself, its Secrets, and the revisions that it has replaced."""

from __future__ import annotations

from collections.abc import Sequence

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, resource_version_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.demands import recorded
from shared.domain.extension.phases.order import Phase
from shared.step import Merge, Ref, Write


def prepared(revision: ClusterObjectSet, phases: Sequence[Phase]) -> tuple[Write, ...]:
    """The finalizer and what is to be watched, where they are not there: before any object that they are about."""
    meta: Manifest = {}
    if names.V1_TEARDOWN not in revision.finalizers:
        meta["finalizers"] = [*revision.finalizers, names.V1_TEARDOWN]
    if (watched := recorded(phases)) != (revision.annotation(names.KINDS_OF_OBJECTS) or ""):
        meta["annotations"] = {names.KINDS_OF_OBJECTS: watched or None}
    return (Merge(Ref.of(revision), {"metadata": meta}, revision.resource_version),) if meta else ()


def unguarded(revision: ClusterObjectSet) -> tuple[Write, ...]:
    """The revision without the finalizer."""
    if names.V1_TEARDOWN not in revision.finalizers:
        return ()
    patch = {"metadata": {"finalizers": [one for one in revision.finalizers if one != names.V1_TEARDOWN]}}
    return (Merge(Ref.of(revision), patch, revision.resource_version),)


def owned(revision: ClusterObjectSet, place: tuple[str, str]) -> Write:
    """A Secret of the revision goes with it."""
    namespace, name = place
    return Merge(kinds.SECRET.ref(name, namespace), {"metadata": {"ownerReferences": [dict(revision.reference)]}})


def archived(replaced: ReadOnly) -> Write:
    """A revision whose objects are not wanted any more."""
    return Merge(Ref.of(replaced), {"spec": {"lifecycleState": "Archived"}}, resource_version_of(replaced))
