"""What is written about a bundle that an extension is to run."""

from __future__ import annotations

from datetime import datetime

from functions.cluster_extension._notices import announced
from shared import kinds, names
from shared.api.views import ClusterExtension
from shared.domain.conditions import sanitised
from shared.domain.extension import report
from shared.domain.extension.decision import Target
from shared.domain.extension.making import Change, Refusal, Renewal
from shared.domain.extension.revisions import Revisions
from shared.errors import RetryLater
from shared.step import Create, Delete, Merge, Outcome, Ref, Wait, Write


def writes_of(change: Change) -> tuple[Write, ...]:
    """The Secrets before the revision that refers to them: who is killed in between finds them again by their names."""
    if isinstance(change, Renewal):
        return (Merge(Ref.of(change.revision), change.patch, change.revision.resource_version),)
    return (
        *(Delete(kinds.CLUSTER_OBJECT_SET.ref(name)) for name in change.superfluous),
        *(Create(secret) for secret in change.secrets),
        Create(change.revision, must_be_new=True, field_manager=names.V1_EXTENSION_MANAGER),
    )


def let_go(extension: ClusterExtension) -> tuple[Write, ...]:
    """A deleted extension without the finalizers of upstream's program, which has no caches here to empty."""
    kept = [one for one in extension.finalizers if one not in names.V1_EXTENSION_FINALIZERS]
    if len(kept) == len(extension.finalizers):
        return ()
    return (Merge(Ref.of(extension), {"metadata": {"finalizers": kept}}, extension.resource_version),)


def refused(
    extension: ClusterExtension, revisions: Revisions, target: Target, why: Refusal, *, now: datetime
) -> Outcome:  # fmt: skip
    """The status that says why the bundle is not rolled out; RetryLater when it says so already."""
    sentence = report.about(target, why.why)
    progress = (report.refused(sentence, terminal=why.terminal), *report.available(revisions))
    status = report.status(extension, revisions, progress, now)
    ref = Ref.of(extension)
    writes, emits = announced(extension, status)
    if why.terminal:
        return Outcome(writes, emits, summary=sentence)
    wait = Wait(sanitised(sentence), next_try=now + why.after)
    if not writes:
        raise RetryLater(f"{ref}: {sentence}", after=why.after, wait=wait)
    return Outcome(writes, emits, again_in=why.after, summary=sentence, wait=wait)
