"""What a namespace waits for: the answer to `why` without an object, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eventing.cli.commands import fix_text, quoted
from eventing.cli.output import print_lines, table
from eventing.cli.status_text import message_of, next_try_of, object_of, row_of, stands
from eventing.diagnosis.status.reader import Sources, detailed
from shared.domain.command import olmf

if TYPE_CHECKING:
    from eventing.diagnosis.status.package_status import PackageStatus

COLUMNS = ("subscription", "version", "phase", "since", "nextTry", "message")
MOST_ROWS = 25
MOST_NAMES = 30
MOST_PLANS = 5


def waiting(statuses: Iterable[PackageStatus], sources: Sources) -> list[PackageStatus]:
    """What is not as wanted; of the first ones, which are shown, also what only the journal knows."""
    troubled = [one for one in statuses if not one.is_well or one.message]
    return [detailed(sources, one) for one in troubled[:MOST_ROWS]] + troubled[MOST_ROWS:]


def paragraphs(status: PackageStatus) -> Iterator[str]:
    """Where one package stands, and what helps."""
    waits = f"\n  since {status.since or 'unknown'}, next try: {next_try_of(status)}" if status.next_try else ""
    yield f"status: {stands(status, is_brief=True)}{waits}"
    if status.advised:
        yield "\n".join(f"fix: {fix_text(one)}" for one in status.advised)


def show(namespace: str, statuses: Sequence[PackageStatus], troubled: Sequence[PackageStatus]) -> None:
    """Print the screen, with the commands that approve what waits for it."""
    names = {one.subscription for one in troubled}
    desired = [one.subscription for one in statuses if one.subscription]
    fine = [name for name in desired if name not in names]
    unclaimed = len(statuses) - len(desired)
    besides = f"; {unclaimed} installed without one" if unclaimed else ""
    many = "Subscription" if len(desired) == 1 else "Subscriptions"
    print_lines(f"Namespace {namespace}: {len(desired)} {many}, {len(desired) - len(fine)} waiting{besides}", "")
    if troubled:
        table([{**row_of(one), "message": message_of(one, is_row=True)} for one in troubled[:MOST_ROWS]], COLUMNS)
        if len(troubled) > MOST_ROWS:
            print_lines(f"and {len(troubled) - MOST_ROWS} more: {quoted(olmf('list', namespace=namespace))}")
        print_lines("")
    if fine:
        more_fine = f" and {len(fine) - MOST_NAMES} more" if len(fine) > MOST_NAMES else ""
        print_lines(f"as wanted: {', '.join(fine[:MOST_NAMES])}{more_fine}")
    print_lines(*(f"{one.subscription}: {one.whole_message}" for one in _deprecated(statuses, fine)))
    for one in [each for each in troubled if each.plan][:MOST_PLANS]:
        print_lines(*(f"fix: {fix_text(fix)}" for fix in one.fixes))
    if troubled:
        print_lines(f"{quoted(olmf('why', object_of(troubled[0]), namespace=namespace))} shows more")


def _deprecated(statuses: Iterable[PackageStatus], fine: Sequence[str]) -> list[PackageStatus]:
    """The first ones of what is as wanted that their catalogs advise to leave."""
    return [one for one in statuses if one.deprecated and one.subscription in fine][:MOST_ROWS]


def show_extensions(extensions: Sequence[PackageStatus]) -> None:
    """Print where the ClusterExtensions stand that install into the namespace."""
    for one in extensions:
        print_lines(f"ClusterExtension {one.extension}: {stands(one)}")
