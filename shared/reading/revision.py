"""Reads the objects of a revision phase by phase, as far as the phases before are complete (v1.md §21.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared import kinds, names
from shared.api.manifest import ReadOnly, annotations_of
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.phases.actions import Teardown, teardown_action
from shared.domain.extension.phases.objects import WRITTEN, Claim, Task
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.rollout import PhaseResult
from shared.domain.extension.phases.sources import Secrets, references
from shared.domain.extension.phases.trial import takes_over
from shared.ports import Cluster
from shared.reading.objects import read_all
from shared.reading.present_objects import Present
from shared.refs import InvalidName
from shared.step import Ref

ENOUGH: Final = 45
"""Objects that one run writes: with its status they are about what a run may write (`eventing.effects`). What is
decided beyond them would be decided, and recorded, once more by the next. A larger phase that takes over is whole."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What became of each phase, and what there is to write."""

    phases: tuple[PhaseResult, ...]
    tasks: tuple[Task, ...]
    contested: tuple[Task, ...] = ()
    """What is left as it is for a while, because somebody takes back what we put back."""
    is_cut: bool = False
    """Whether it ended only because there is enough to write."""


def secrets_of(revision: ClusterObjectSet, cluster: Cluster) -> Secrets:
    """The Secrets of a revision by namespace and name, as far as they are there."""
    refs = (kinds.SECRET.ref_or_none(name, namespace) for namespace, name in references(revision.raw))
    found = read_all(cluster, filter(None, refs))
    return {(ref.namespace, ref.name): secret for ref, secret in found.items() if secret is not None}


def advance(claim: Claim, present: Present) -> Pass:
    """The phases up to the first one that is not complete; each takes one look at its objects.

    It ends before that where there is enough to write for one run.
    """
    phases = present.phases
    results: list[PhaseResult] = []
    tasks: list[Task] = []
    contested: list[Task] = []
    is_cut = False
    for number, phase in enumerate(phases):
        try:
            found = list(_tasks(claim, phase, number, present))
        except InvalidName as error:
            results.append(PhaseResult(problem=str(error)))
            break
        written = [one for one in found if one.action in WRITTEN]
        desired = [one for one in written if not one.rest]
        tasks += (enough := _enough(desired, tasks))
        contested += (one for one in written if one.rest)
        result = PhaseResult(tuple(one.result for one in found))
        if (is_cut := len(enough) < len(desired)) and result.is_complete:
            break  # not before the next run has written the others
        results.append(result)
        if not result.is_complete:
            break
    unreached = [PhaseResult(is_reached=False)] * (len(phases) - len(results))
    return Pass((*results, *unreached), tuple(tasks), tuple(contested), is_cut=is_cut)


def _enough(phase: Sequence[Task], before: Sequence[Task]) -> Sequence[Task]:
    """What of a phase this run writes beside what is `before` it: all or nothing of one that takes over an object.

    Half of it could be tried dry and written, and the other half be refused.
    """
    room = max(ENOUGH - len(before), 0)
    if len(phase) > room and takes_over(phase):
        return () if before else phase
    return phase[:room]


def every_task(claim: Claim, present: Present) -> Iterator[Task]:
    """How every object stands, also those of phases whose turn has not come. InvalidName."""
    for number, phase in enumerate(present.phases):
        yield from _tasks(claim, phase, number, present)


def _tasks(claim: Claim, phase: Phase, number: int, present: Present) -> Iterator[Task]:
    placed = [present.with_real_namespace(one) for one in phase.objects]
    refs = [Ref.of(manifest) for manifest, _ in placed]
    actual = present.of(refs)
    for index, (manifest, is_namespaced) in enumerate(placed):
        yield claim.task(manifest, actual[refs[index]], (number, index), is_namespaced=is_namespaced)


@dataclass(frozen=True, slots=True)
class Left:
    """An object that is still there, and what is to become of it."""

    ref: Ref
    actual: ReadOnly
    action: Teardown


def left_of(present: Present) -> tuple[Left, ...]:
    """What is left: of its own objects those of the last phase that has any, and every object that is another's now."""
    found: list[Left] = []
    for phase in reversed(present.phases):
        is_turn = all(one.action is not Teardown.DELETE for one in found)
        left = _left(phase, present)
        found += (one for one in left if is_turn or one.action is not Teardown.DELETE)
    return tuple(found)


def _left(phase: Phase, present: Present) -> Iterator[Left]:
    revision = present.revision
    refs = (Ref.read(present.with_real_namespace(one)[0]) for one in phase.objects)  # what nobody can have is left out
    for ref, actual in present.of(filter(None, refs)).items():
        action = teardown_action(actual, revision.raw)
        if actual is not None and action is not Teardown.GONE and _is_marked(actual, revision, action):
            yield Left(ref, actual, action)


def _is_marked(actual: ReadOnly, revision: ClusterObjectSet, action: Teardown) -> bool:
    """Whether the object still bears what is to be taken off it."""
    if action is Teardown.UNMARK:
        return annotations_of(actual).get(names.V1_REVISION) == str(revision.number)
    return any(one.uid == revision.uid for one in Object(actual).owners)
