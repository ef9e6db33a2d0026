"""The writes for the objects of a revision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from shared import names
from shared.api.manifest import Manifest, metadata, resource_version_of, uid_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.actions import Teardown
from shared.domain.extension.phases.objects import Task
from shared.domain.extension.phases.stamp import claimed, released, unmarked
from shared.domain.extension.phases.trial import tried
from shared.ports import Attempt
from shared.reading.revision import Left
from shared.step import Apply, Create, Delete, Merge, Ref, Try, Write

_NAMED = 5


def writes_of(tasks: Sequence[Task]) -> Iterator[Write]:
    """The objects by phase, each a batch; one that changes what an older revision runs is tried dry first.

    What was created is declared as applied before that, which changes nothing that runs: else a dry run would keep,
    and be refused for, the fields that the write itself takes out.
    """
    for number, inside in groupby(tasks, lambda one: one.phase):
        phase = tuple(inside)
        yield from filter(None, (_declared(one, number + 1) for one in phase))
        yield from (Try(_at_read(one), names.V1_MANAGER, batch=-number - 1) for one in tried(phase))
        yield from (_written(one, number + 1) for one in phase)


def refused(attempt: Attempt, what: str = "revision reconcile") -> str:
    """What the API server said of the writes of a revision; empty when it refused none."""
    failure = attempt.failure
    if failure is None:
        return ""
    together = [one for one in (failure, *attempt.others) if one is failure or one.kind != "conflict"]
    messages = "; ".join(f"{one.ref}: {one.message}" for one in together[:_NAMED])
    more = f"; and {len(together) - _NAMED} more" if len(together) > _NAMED else ""
    if failure.batch < 0:
        what = f"phase {-failure.batch - 1} validation error"
    return f"{what}: {messages}{more}"


def _declared(task: Task, batch: int) -> Write | None:
    patch = None if task.actual is None else claimed(task.actual)
    if task.actual is None or patch is None:
        return None
    return Merge(Ref.of(task.desired), patch, resource_version_of(task.actual), batch=batch)


def _written(task: Task, batch: int) -> Write:
    """Create what is not there; else apply to exactly what was read. What somebody made meanwhile is never taken."""
    if task.actual is None:
        return Create(task.desired, must_be_new=True, field_manager=names.V1_MANAGER, batch=batch)
    return Apply(_at_read(task), field_manager=names.V1_MANAGER, batch=batch)


def _at_read(task: Task) -> Manifest:
    """The object, with the version that was read."""
    version = resource_version_of(task.actual or {})
    return (
        {**task.desired, "metadata": {**metadata(task.desired), "resourceVersion": version}}
        if version
        else task.desired
    )


def teardown_of(left: Left, revision: ClusterObjectSet) -> Write:
    """What becomes of an object of a revision that goes."""
    version = resource_version_of(left.actual)
    match left.action:
        case Teardown.DELETE:
            return Delete(left.ref, uid=uid_of(left.actual), batch=1, resource_version=version)
        case Teardown.UNMARK:
            return Merge(left.ref, unmarked(), version, batch=1)
    return Merge(left.ref, released(left.actual, revision.uid), version, batch=1)
