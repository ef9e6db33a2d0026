"""What a namespace waits for: the answer to `why` without an object, on one screen."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eventing.cli.output import table

if TYPE_CHECKING:
    from eventing.journal import Book, Stuck
    from eventing.workqueue import Listed

Row = dict[str, object]
COLUMNS = ("subscription", "version", "phase", "since", "next try", "says")
MOST_ROWS = 25
MOST_NAMES = 30
MOST_PLANS = 5


def waiting(rows: Iterable[Row], book: Book, jobs: Sequence[Listed]) -> list[Row]:
    """Of what is installed what is not as wanted; the first of them, which are shown, with since and until when."""
    troubled = [row for row in rows if row["phase"] != "Succeeded" or row["says"]]
    return [{**row, **_patience(row, book, jobs)} for row in troubled[:MOST_ROWS]] + troubled[MOST_ROWS:]


def _patience(row: Row, book: Book, jobs: Sequence[Listed]) -> Row:
    stuck = next(_stuck(row, book, jobs), None)
    if stuck is None:
        return {"since": "", "next try": ""}
    when = stuck.next_try.isoformat(timespec="seconds") if stuck.next_try else "at the next event"
    says = row["says"] or stuck.waits_for or stuck.verdict
    return {"since": stuck.since, "next try": "`olmf queue retry`" if stuck.attempts else when, "says": says}


def _stuck(row: Row, book: Book, jobs: Sequence[Listed]) -> Iterator[Stuck]:
    """What its CSV waits for, or else its Subscription."""
    from eventing.journal import why
    from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

    version, namespace = str(row["version"]), str(row["namespace"])
    refs = [CLUSTER_SERVICE_VERSION.ref(version, namespace)] if version else []
    for ref in (*refs, SUBSCRIPTION.ref(str(row["subscription"]), namespace)):
        yield from (each for each in why(book, ref, jobs, writes=0).last if each.waits_for or each.attempts)


def show(namespace: str, rows: Sequence[Row], troubled: Sequence[Row], plans: Sequence[str]) -> None:
    """Print the screen; `plans` are the commands that approve what waits for it."""
    write = sys.stdout.write
    names = {str(row["subscription"]) for row in troubled}
    fine = [str(row["subscription"]) for row in rows if row["subscription"] not in names]
    write(f"Namespace {namespace}: {len(rows)} Subscriptions, {len(troubled)} of them wait\n\n")
    if troubled:
        table(troubled[:MOST_ROWS], COLUMNS)
        if len(troubled) > MOST_ROWS:
            write(f"and {len(troubled) - MOST_ROWS} more: `olmf list -n {namespace}`\n")
        write("\n")
    if fine:
        more_fine = f" and {len(fine) - MOST_NAMES} more" if len(fine) > MOST_NAMES else ""
        write(f"as wanted: {', '.join(fine[:MOST_NAMES])}{more_fine}\n")
    for plan in plans[:MOST_PLANS]:
        write(f"waits for approval: {plan}\n")
    if troubled:
        write(f"`olmf why Subscription/{troubled[0]['subscription']} -n {namespace}` tells more\n")
