"""Which objects belong together: the Subscription, the plan, the CSV, the Job and the Deployment of one package.

A step on a whole namespace runs because of every package there, and makes statements about all of them; an answer about
one object leaves out the others. No single object lists what belongs together, so two sources are joined until nothing
is added: owners, as events name them, and the objects that a statement of a step is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from eventing.events.event import OWNERS, Owner
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import Run, StatementRecord
from shared.domain.objects.denials import plain
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, JOB, NAMESPACE, SUBSCRIPTION, Ref

PACKAGED = frozenset(kind.kind for kind in (SUBSCRIPTION, INSTALL_PLAN, CLUSTER_SERVICE_VERSION, JOB))
"""Kinds of which each object belongs to a package or a few; the others concern everybody in the namespace."""
_LOOK_BACK = 200
"""Runs on a namespace whose statements are read: each may be about hundreds of packages, as the next one is, too."""

Key: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """The objects that belong to the requested one."""

    mine: frozenset[Key] | None
    """None: all of them. So it is for a Namespace, and where the journal is of a build that made no statements."""

    @classmethod
    def of(cls, index: JournalIndex, ref: Ref) -> Correlation:
        """What the journal knows."""
        statements = [] if ref.kind == NAMESPACE.kind else list(_statements(index, ref.namespace))
        if not statements:
            return cls(None)
        links = [*_owned(index, ref.namespace), *({key_of(each) for each in one.about} for one in statements)]
        mine = {key_of(str(ref)), *(key_of(run.ref) for run, _ in index.writes_to(ref) if is_packaged(run.ref))}
        while grown := {key for link in links if not mine.isdisjoint(link) for key in link} - mine:
            mine |= grown
        return cls(frozenset(mine))

    def concerns(self, about: Iterable[str]) -> bool:
        """Whether something about these refs (none: about everybody) concerns the object."""
        keys = set(map(key_of, about))
        return self.mine is None or not keys or not self.mine.isdisjoint(keys)

    def is_foreign(self, ref: str) -> bool:
        """Whether the ref belongs to other packages only."""
        return is_packaged(ref) and not self.concerns((ref,))

    def statements(self, run: Run) -> list[StatementRecord]:
        """The statements of the run about the object."""
        found = run.decisions[-1].statements if run.decisions else []
        return [one for one in found if self.concerns(one.about)]

    def texts(self, run: Run) -> list[str]:
        """What the run says of the object, or of everybody: its statements; of an entry without them its summary."""
        last = run.decisions[-1] if run.decisions else None
        if run.message or last is None or not last.statements or (self.mine is None and last.summary):
            return [run.summary]
        return [one.message for one in self.statements(run)]

    def message(self, run: Run) -> str:
        """The same in one sentence; what an account may not do is told shortly."""
        return "; ".join(dict.fromkeys(map(plain, self.texts(run))))

    def is_about(self, run: Run) -> bool:
        """Whether a run on the whole namespace is about the object."""
        return self.mine is None or bool(self.statements(run))


def key_of(ref: str) -> Key:
    """The key of the text of a ref."""
    *_, kind, namespace, name = ref.split("/")
    return kind, namespace, name


def is_packaged(ref: str) -> bool:
    """Whether an object of that kind belongs to a package or a few."""
    return key_of(ref)[0] in PACKAGED


def has_statements(index: JournalIndex, ref: Ref) -> bool:
    """Whether a step that ran on the namespace made a statement about the object."""
    return any(str(ref) in one.about for one in _statements(index, ref.namespace))


def _owned(index: JournalIndex, namespace: str) -> Iterator[set[Key]]:
    """Of each object in the namespace that a package owns it and what owns it."""
    for event in index.events.values():
        key = key_of(event.ref)
        if (owners := event.hints.get(OWNERS)) and key[1] == namespace:
            found = {(one.kind, one.namespace or namespace, one.name) for one in Owner.split(owners)}
            yield {key, *(one for one in found if one[0] in PACKAGED)}


def _statements(index: JournalIndex, namespace: str) -> Iterator[StatementRecord]:
    runs = [run for run in index.runs_for(NAMESPACE.ref(namespace)) if not run.failure] if namespace else []
    for run in runs[-_LOOK_BACK:]:
        for decision in run.decisions[-1:]:
            yield from decision.statements
