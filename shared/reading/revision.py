"""Reads the objects of a revision phase by phase, as far as the phases before are complete (v1.md §21.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, metadata
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.phases.actions import Teardown, teardown_action
from shared.domain.extension.phases.objects import WRITTEN, Claim, Task
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.rollout import PhaseResult
from shared.domain.extension.phases.sources import Secrets, references
from shared.domain.extension.scopes import scope_of
from shared.ports import Cluster, Discovery
from shared.reading.objects import read_all
from shared.refs import InvalidName
from shared.step import Ref


@dataclass(frozen=True, slots=True)
class Pass:
    """What became of each phase, and what there is to write."""

    phases: tuple[PhaseResult, ...]
    tasks: tuple[Task, ...]
    contested: tuple[Task, ...] = ()
    """What is left as it is for a while, because somebody takes back what we put back."""


def secrets_of(revision: ClusterObjectSet, cluster: Cluster) -> Secrets:
    """The Secrets of a revision by namespace and name, as far as they are there."""
    refs = (kinds.SECRET.ref_or_none(name, namespace) for namespace, name in references(revision.raw))
    found = read_all(cluster, filter(None, refs))
    return {(ref.namespace, ref.name): secret for ref, secret in found.items() if secret is not None}


def advance(claim: Claim, phases: Sequence[Phase], cluster: Cluster, discovery: Discovery) -> Pass:
    """The phases up to the first one that is not complete; each takes one look at its objects."""
    results: list[PhaseResult] = []
    tasks: list[Task] = []
    for number, phase in enumerate(phases):
        try:
            found = list(_tasks(claim, phase, number, (cluster, discovery)))
        except InvalidName as error:
            results.append(PhaseResult(problem=str(error)))
            break
        results.append(PhaseResult(tuple(one.result for one in found)))
        tasks += (one for one in found if one.action in WRITTEN)
        if not results[-1].is_complete:
            break
    unreached = [PhaseResult(is_reached=False)] * (len(phases) - len(results))
    contested = tuple(one for one in tasks if one.rest)
    return Pass((*results, *unreached), tuple(one for one in tasks if not one.rest), contested)


def every_task(claim: Claim, phases: Sequence[Phase], cluster: Cluster, discovery: Discovery) -> Iterator[Task]:
    """How every object stands, also those of phases whose turn has not come. InvalidName."""
    for number, phase in enumerate(phases):
        yield from _tasks(claim, phase, number, (cluster, discovery))


def look(phase: Phase, cluster: Cluster, discovery: Discovery) -> Iterator[tuple[Ref, ReadOnly | None]]:
    """The objects of a phase as the cluster has them; those that nobody can have are left out."""
    refs = (Ref.read(_placed(one, discovery)[0]) for one in phase.objects)
    yield from read_all(cluster, filter(None, refs)).items()


def _tasks(claim: Claim, phase: Phase, number: int, ports: tuple[Cluster, Discovery]) -> Iterator[Task]:
    placed = [_placed(one, ports[1]) for one in phase.objects]
    refs = [Ref.of(manifest) for manifest, _ in placed]
    actual = read_all(ports[0], refs)
    for index, (manifest, is_namespaced) in enumerate(placed):
        yield claim.task(manifest, actual[refs[index]], (number, index), is_namespaced=is_namespaced)


def _placed(manifest: ReadOnly, discovery: Discovery) -> tuple[Manifest, bool]:
    """The object with the namespace that it really has, and whether its kind has one."""
    stated = Object(manifest)
    kind = discovery.find(stated.api_version, stated.kind)
    is_namespaced = kind.is_namespaced if kind else bool(scope_of(manifest))
    if is_namespaced:
        return dict(manifest), True
    meta = {key: value for key, value in metadata(manifest).items() if key != "namespace"}
    return {**manifest, "metadata": meta}, False


@dataclass(frozen=True, slots=True)
class Left:
    """An object that is still there, and what is to become of it."""

    ref: Ref
    actual: ReadOnly
    action: Teardown


def left_of(
    revision: ClusterObjectSet, phases: Sequence[Phase], cluster: Cluster, discovery: Discovery
) -> tuple[Left, ...]:
    """What is left: of its own objects those of the last phase that has any, and every object that is another's now."""
    found: list[Left] = []
    for phase in reversed(phases):
        is_turn = all(one.action is not Teardown.DELETE for one in found)
        left = _left(revision, phase, cluster, discovery)
        found += (one for one in left if is_turn or one.action is not Teardown.DELETE)
    return tuple(found)


def _left(revision: ClusterObjectSet, phase: Phase, cluster: Cluster, discovery: Discovery) -> Iterator[Left]:
    for ref, actual in look(phase, cluster, discovery):
        action = teardown_action(actual, revision.raw)
        if actual is not None and action is not Teardown.GONE and _is_marked(actual, revision, action):
            yield Left(ref, actual, action)


def _is_marked(actual: ReadOnly, revision: ClusterObjectSet, action: Teardown) -> bool:
    """Whether the object still bears what is to be taken off it."""
    if action is Teardown.UNMARK:
        return annotations_of(actual).get(names.V1_REVISION) == str(revision.number)
    return any(one.uid == revision.uid for one in Object(actual).owners)
