"""The objects of the revisions of an extension as they stand now: what is done with each, and what its probes say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from shared.api.manifest import uid_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.actions import Action
from shared.domain.extension.phases.content import Content, content_of
from shared.domain.extension.phases.objects import Claim, Task
from shared.domain.extension.phases.revision import siblings
from shared.kinds import CLUSTER_OBJECT_SET, Ref
from shared.reading.present_objects import Present
from shared.reading.revision import every_task, secrets_of
from shared.refs import InvalidName

if TYPE_CHECKING:
    from shared.ports import Cluster, Discovery

_STATES: Final = {
    Action.CREATE: "missing",
    Action.UPDATE: "changed",
    Action.RECOVER: "contested",
    Action.ADOPT: "of an older revision",
    Action.PROGRESSED: "of a newer revision",
    Action.COLLISION: "of somebody else",
}
"""What is said of an object that is not as its revision wants it."""


@dataclass(frozen=True, slots=True)
class ObjectState:
    """One object of a revision."""

    revision: str
    ref: Ref
    state: str
    """`ready`, `not ready`, or why it is not (yet) as the revision wants it."""
    message: str = ""
    """What its probes say, or whose it is."""

    @property
    def is_ready(self) -> bool:
        """Whether nothing is to be done, and every probe succeeds."""
        return self.state == "ready"


def object_states(
    revision: ClusterObjectSet, cluster: Cluster, discovery: Discovery, now: datetime
) -> list[ObjectState]:
    """The state of each object in the order of the roll-out; one entry about the revision when they cannot be had."""
    itself = CLUSTER_OBJECT_SET.ref(revision.name)
    if revision.is_archived:
        return []
    content = content_of(revision, secrets_of(revision, cluster), now)
    if not isinstance(content, Content):
        return [ObjectState(revision.name, itself, "unknown", content.conditions[0].message)]
    others = [one for one in cluster.list(CLUSTER_OBJECT_SET) if ClusterObjectSet(one).owner == revision.owner != ""]
    claim = Claim(revision, now, frozenset(uid_of(one) for one in siblings(revision.raw, others)))
    try:
        tasks = list(every_task(claim, Present(revision, content.phases, cluster, discovery, is_certain=True)))
    except InvalidName as error:
        return [ObjectState(revision.name, itself, "unknown", str(error))]
    return list(_states(revision.name, tasks))


def _states(revision: str, tasks: Sequence[Task]) -> Iterator[ObjectState]:
    for task in tasks:
        probe = task.result.probe
        state = _STATES.get(task.action) or ("ready" if probe.status == "True" else "not ready")
        message = "" if state in ("ready", "missing") else task.result.report or " and ".join(probe.messages)
        yield ObjectState(revision, Ref.of(task.desired), state, " ".join(message.split()))
