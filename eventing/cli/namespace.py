"""What a namespace waits for: the answer to `why` without an object, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eventing.cli.aim import aimed
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import say, table
from eventing.diagnosis.status.fixes import UNRESOLVED
from shared.api.manifest import namespace_of
from shared.domain.subscription.health import UNHEALTHY
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from datetime import datetime

    from eventing.diagnosis.why.facts import Stuck
    from eventing.journal import JournalIndex
    from eventing.workqueue import Listed
    from shared.ports import Cluster

Row = dict[str, object]
COLUMNS = ("subscription", "version", "phase", "since", "nextTry", "says")
MOST_ROWS = 25
MOST_NAMES = 30
MOST_PLANS = 5
_AT_EVENT = "at the next event"


def check_namespace(namespace: str, cluster: Cluster) -> None:
    """CliError when a namespace has no Subscription, as that may be a wrong word; it says where some are."""
    found = cluster.list(SUBSCRIPTION)
    if not any(namespace_of(one) == namespace for one in found):
        others = ", ".join(sorted(set(map(namespace_of, found))))
        raise CliError(
            f"no Subscription in {namespace}" + (f"; there are some in {others} (-n)" if others else ""), NEGATIVE
        )


def waiting(rows: Iterable[Row], book: JournalIndex, jobs: Sequence[Listed]) -> list[Row]:
    """Of what is installed what is not as wanted; the first of them, which are shown, with since and until when."""
    troubled = [row for row in rows if row["phase"] != "Succeeded" or row["says"]]
    return [{**row, **_patience(row, book, jobs)} for row in troubled[:MOST_ROWS]] + troubled[MOST_ROWS:]


def standing_of(row: Row, book: JournalIndex, jobs: Sequence[Listed]) -> Row:
    """Where the package of one row stands; since when and until when, if it waits; nothing for an empty row."""
    if not row:
        return dict.fromkeys(("stands", "approve", "plan", "held", "reason", "since", "nextTry"), "")
    patient = next(iter(waiting([row], book, jobs)), {"since": "", "nextTry": ""})
    said = " ".join(filter(None, (str(row["version"]), str(row["phase"]))))
    return {
        "stands": ": ".join(filter(None, (said, str(row["says"])))),
        "approve": _approve(row),
        **{key: row.get(key, "") for key in ("plan", "held", "reason")},
        **{key: patient[key] for key in ("since", "nextTry")},
    }


def told_of(standing: Row) -> Iterator[str]:
    """The same as paragraphs."""
    if standing["stands"]:
        waits = f"\n  since {standing['since'] or 'unknown'}, next try: {standing['nextTry']}"
        yield f"stands at: {standing['stands']}{waits if standing['nextTry'] else ''}"
    if standing["approve"]:
        yield _proposal(standing)


def _approve(row: Row) -> str:
    """The command that approves what it waits for."""
    return aimed(f"olmf approve {row['plan']} -n {row['namespace']}") if row.get("plan") else ""


def _proposal(standing: Row) -> str:
    """What approves its plan; a hold that came after the plan is named, because it does not stop that."""
    held = f" (but it is held at {standing['held']}; approved, it goes on all the same)" if standing.get("held") else ""
    return f"waits for approval: {standing['approve']}{held}"


def _patience(row: Row, book: JournalIndex, jobs: Sequence[Listed]) -> Row:
    """Since when and until when it waits: as its steps said, else as its status says."""
    last = _last(row, book, jobs)
    stuck = next((each for each in last if each.waits_for or each.attempts), None)
    if row.get("plan"):
        return {"nextTry": "when approved", "since": row.get("since") or (stuck.since if stuck else "")}
    due, until = _catalog_due(row, book, jobs), str(row.get("until") or _AT_EVENT)
    failing = aimed(str(row.get("nextTry") or ""))
    if stuck is None:
        # why: a step on a namespace tells what the first package waits for, and tries all of them at once
        due = due or next((each.next_try for each in last if each.next_try and not row.get("until")), None)
        return {"nextTry": failing or _when(due, until), "since": row.get("since", "")}
    when = failing or (aimed("`olmf queue retry`") if stuck.attempts else _when(stuck.next_try or due, until))
    says = row["says"] or stuck.waits_for or stuck.verdict
    return {"since": row.get("since") or stuck.since, "nextTry": when, "says": says}


def _when(at: datetime | None, until: str) -> str:
    return at.isoformat(timespec="seconds") if at else until


def _catalog_due(row: Row, book: JournalIndex, jobs: Sequence[Listed]) -> datetime | None:
    """When its catalog is tried again, if that one waits for something; one that can be read is only polled."""
    from eventing.diagnosis.why.explain import why

    if row.get("reason", "") not in ("", UNRESOLVED, UNHEALTHY):
        return None
    namespace, _, name = str(row.get("catalog") or "").partition("/")
    if (ref := CATALOG_SOURCE.ref_or_none(name, namespace)) is None:
        return None
    last = why(book, ref, jobs, writes=0).last
    return next((each.next_try for each in last if each.waits_for), None)


def _last(row: Row, book: JournalIndex, jobs: Sequence[Listed]) -> list[Stuck]:
    """Where the steps left its CSV, then its Subscription."""
    from eventing.diagnosis.why.explain import why

    version, name, namespace = (str(row[key]) for key in ("version", "subscription", "namespace"))
    refs = (CLUSTER_SERVICE_VERSION.ref_or_none(version, namespace), SUBSCRIPTION.ref_or_none(name, namespace))
    return [each for ref in filter(None, refs) for each in why(book, ref, jobs, writes=0).last]


def show(namespace: str, rows: Sequence[Row], troubled: Sequence[Row]) -> None:
    """Print the screen, with the commands that approve what waits for it."""
    names = {str(row["subscription"]) for row in troubled}
    wanted = [str(row["subscription"]) for row in rows if row["subscription"]]
    fine = [name for name in wanted if name not in names]
    unclaimed = len(rows) - len(wanted)
    besides = f"; {unclaimed} installed without one" if unclaimed else ""
    say(f"Namespace {namespace}: {len(wanted)} Subscriptions, {len(wanted) - len(fine)} of them wait{besides}", "")
    if troubled:
        table(troubled[:MOST_ROWS], COLUMNS)
        if len(troubled) > MOST_ROWS:
            say(f"and {len(troubled) - MOST_ROWS} more: `olmf list -n {namespace}`")
        say("")
    if fine:
        more_fine = f" and {len(fine) - MOST_NAMES} more" if len(fine) > MOST_NAMES else ""
        say(f"as wanted: {', '.join(fine[:MOST_NAMES])}{more_fine}")
    for row in [each for each in troubled if each.get("plan")][:MOST_PLANS]:
        say(_proposal({**row, "approve": _approve(row)}))
    if troubled:
        say(f"`olmf why {_named(troubled[0])} -n {namespace}` tells more")


def _named(row: Row) -> str:
    return f"Subscription/{row['subscription']}" if row["subscription"] else f"ClusterServiceVersion/{row['version']}"
