"""Why an object is as it is: write, run, causes, events, back to what came from outside; and what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eventing.diagnosis.why.causes import Tree
from eventing.diagnosis.why.correlation import Correlation, has_statements
from eventing.diagnosis.why.facts import Why
from eventing.diagnosis.why.last_runs import last_runs
from eventing.journal.journal_index import JournalIndex
from shared.kinds import Ref

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed


def why(index: JournalIndex, ref: Ref, jobs: Iterable[Listed] = (), *, writes: int = 3, is_folding: bool = True) -> Why:
    """The causes of the last runs that wrote to an object, and the last run of each step that spoke of it.

    `jobs` is what the work queue holds: it knows when a waiting job is tried next. Folding leaves out of the causes
    what concerns other packages of the namespace.
    """
    correlation = Correlation.of(index, ref)
    tree = Tree(index, correlation if is_folding else None)
    found = {run.id: (run, write) for run, write in index.writes_to(ref) if write.op != "Record"}
    newest = list(found.values())[-writes:][::-1]
    nodes = tuple(tree.write(run, write) for run, write in newest)
    is_known = str(ref) in index.refs() or bool(index.writes_to(ref)) or has_statements(index, ref)
    return Why(str(ref), nodes, tuple(last_runs(index, ref, jobs, correlation)), is_known)
