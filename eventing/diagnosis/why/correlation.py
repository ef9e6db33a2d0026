"""Which names belong to an object: the Subscription, the plan, the CSV, the Job and the Deployment of one package.

A step that looks at a whole namespace is rung by every package there and tells of all of them. Who asks about one
object wants to hear of that one. Nothing in the cluster says in one place which names go together, so two sources are
put together until nothing is added: owners, as events told of them, and the clauses (`<name>: <sentence>`) of verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from eventing.diagnosis.why.facts import verdict_of
from eventing.events.event import OWNERS, Owner
from eventing.journal.journal_index import JournalIndex
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, JOB, NAMESPACE, SUBSCRIPTION, Ref

PACKAGED = frozenset(kind.kind for kind in (SUBSCRIPTION, INSTALL_PLAN, CLUSTER_SERVICE_VERSION, JOB))
"""Kinds of which each object belongs to a package or a few; the others concern everybody in the namespace."""
_CLAUSE = re.compile(r"; (?=[\w.-]+: )")
_NAME = re.compile(r"[\w.-]*\w")
_LIST = re.compile(r"[\w.-]*\w(?:, [\w.-]*\w)+")
_FEW = 2
_LOOK_BACK = 200
"""Runs on a namespace whose verdicts are read: each may tell of hundreds of packages, and the next tells the same."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """The names that belong to an object, and those of other packages."""

    names: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(cls, book: JournalIndex, ref: Ref) -> Correlation:
        """What the journal knows; a Namespace is everybody's."""
        if ref.kind == NAMESPACE.kind:
            return cls(frozenset(), frozenset())
        clauses = [*_clauses(book, ref.namespace)]
        known = {name_of(told) for told in book.told() if _is_packaged(told)} | {head for head, _ in clauses}
        names = {ref.name, *(name_of(run.ref) for run, _ in book.writes_to(ref) if _is_packaged(run.ref))}
        links = [*_owned(book, ref.namespace), *({head, *(known & told)} for head, told in clauses)]
        while grown := {name for link in links if not names.isdisjoint(link) for name in link} - names:
            names |= grown
        return cls(frozenset(names), frozenset(known - names))

    def are_named(self, text: str) -> bool:
        """The text tells of one of them."""
        return not self.names.isdisjoint(_NAME.findall(text))

    def is_foreign(self, ref: str) -> bool:
        """The ref belongs to other packages only."""
        return _is_packaged(ref) and name_of(ref) in self.others

    def is_foreign_text(self, text: str) -> bool:
        """The text tells of other packages only."""
        return not self.others.isdisjoint(_NAME.findall(text)) and not self.are_named(text)

    def told(self, verdict: str) -> str:
        """What a verdict tells of them, or of everybody; others in a list are only counted."""
        clauses = _CLAUSE.split(verdict)
        mine = [clause for clause in clauses if self.are_named(clause)]
        chosen = mine or [clause for clause in clauses if not self.is_foreign_text(clause)]
        return _LIST.sub(self._counted, "; ".join(chosen))

    def _counted(self, found: re.Match[str]) -> str:
        names = found[0].split(", ")
        kept = [name for name in names if name not in self.others]
        others = len(names) - len(kept)
        return ", ".join([*kept, f"{others} others"]) if others > _FEW else found[0]


def name_of(ref: str) -> str:
    """The name in the text of a ref."""
    return ref.rpartition("/")[2]


def _is_packaged(ref: str) -> bool:
    return ref.split("/")[-3] in PACKAGED


def _owned(book: JournalIndex, namespace: str) -> Iterator[set[str]]:
    for saw in book.events.values():
        if (owners := saw.hints.get(OWNERS)) and saw.ref.split("/")[-2] == namespace:
            yield {name_of(saw.ref), *(owner.name for owner in Owner.split(owners))}


def _clauses(book: JournalIndex, namespace: str) -> Iterator[tuple[str, set[str]]]:
    """Of each clause its head, and the words of its sentence."""
    runs = [run for run in book.runs_for(NAMESPACE.ref(namespace)) if not run.failure]
    verdicts = {verdict_of(run) for run in runs[-_LOOK_BACK:]}
    for clause in {clause for verdict in verdicts for clause in _CLAUSE.split(verdict)}:
        head, colon, sentence = clause.partition(": ")
        if colon and _NAME.fullmatch(head):
            yield head, set(_NAME.findall(sentence))
