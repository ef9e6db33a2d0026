"""Why an object is as it is: write, run, causes, events, back to what came from outside; and what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eventing.diagnosis.why.causes import Tree
from eventing.diagnosis.why.correlation import Correlation
from eventing.diagnosis.why.facts import Why
from eventing.diagnosis.why.verdicts import last_verdicts
from eventing.journal.journal_index import JournalIndex
from shared.kinds import Ref

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed


def why(book: JournalIndex, ref: Ref, jobs: Iterable[Listed] = (), *, writes: int = 3, is_folding: bool = True) -> Why:
    """The causes of the last runs that wrote to an object, and the last verdict of each step that told of it.

    `jobs` is what the work queue holds: it knows when a waiting job is tried next. Folding leaves out of the causes
    what concerns other packages of the namespace.
    """
    correlation = Correlation.of(book, ref)
    tree = Tree(book, correlation if is_folding else None)
    found = {run.id: (run, write) for run, write in book.writes_to(ref) if write.op != "Record"}
    newest = list(found.values())[-writes:][::-1]
    nodes = tuple(tree.write(run, write) for run, write in newest)
    is_known = str(ref) in book.told() or bool(book.writes_to(ref))
    return Why(str(ref), nodes, tuple(last_verdicts(book, ref, jobs, correlation)), is_known)
