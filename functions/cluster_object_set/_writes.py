"""The writes for the objects of a revision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared import names
from shared.api.manifest import Manifest, metadata, resource_version_of, uid_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.actions import Teardown
from shared.domain.extension.phases.objects import TRUCE, Task, described
from shared.domain.extension.phases.stamp import claimed, released, unmarked
from shared.reading.revision import Left
from shared.step import Apply, Create, Delete, Merge, Record, Ref, Write

_NAMED = 5


def writes_of(task: Task) -> Iterator[Write]:
    """Create what is not there; else apply to exactly what was read. What somebody made meanwhile is never taken."""
    if task.actual is None:
        yield Create(task.desired, must_be_new=True, field_manager=names.V1_MANAGER)
        return
    version = resource_version_of(task.actual)
    if (patch := claimed(task.actual)) is not None:
        yield Merge(Ref.of(task.desired), patch, version)
        version = ""  # that write was the lock
    yield Apply(_at(task.desired, version), field_manager=names.V1_MANAGER)


def contested(revision: ClusterObjectSet, tasks: Sequence[Task]) -> tuple[Write, ...]:
    """An Event about objects whose fields somebody takes back again and again."""
    if not tasks:
        return ()
    named = ", ".join(described(one.desired) for one in tasks[:_NAMED])
    why = f"others set fields of the revision again and again, and they are put back every {TRUCE.seconds} s: {named}"
    return (Record(Ref.of(revision), "Warning", "Contested", why),)


def _at(desired: Manifest, version: str) -> Manifest:
    return {**desired, "metadata": {**metadata(desired), "resourceVersion": version}} if version else desired


def teardown_of(left: Left, revision: ClusterObjectSet) -> Write:
    """What becomes of an object of a revision that goes."""
    version = resource_version_of(left.actual)
    match left.action:
        case Teardown.DELETE:
            return Delete(left.ref, uid=uid_of(left.actual))
        case Teardown.UNMARK:
            return Merge(left.ref, unmarked(), version)
    return Merge(left.ref, released(left.actual, revision.uid), version)
