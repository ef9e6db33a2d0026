"""The work queue: which (step, ref) runs when, and who holds it."""

from eventing.workqueue.client import UNREACHABLE, connect
from eventing.workqueue.listing import listed
from eventing.workqueue.values import Added, Claim, Depth, Listed, State
from eventing.workqueue.work_queue import JOURNAL, JOURNAL_LENGTH, RECORD, WorkQueue

__all__ = [
    "JOURNAL",
    "JOURNAL_LENGTH",
    "RECORD",
    "UNREACHABLE",
    "Added",
    "Claim",
    "Depth",
    "Listed",
    "State",
    "WorkQueue",
    "connect",
    "listed",
]
