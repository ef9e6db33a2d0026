"""The event side: `events tail`, `events list`, `events send`."""

from __future__ import annotations

import sys
import uuid
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import UNKNOWN, USAGE, CliError
from eventing.cli.objects import ref_of
from eventing.cli.output import OutputOption, fitted, show
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.endpoint.sender import send as post
from eventing.events.event import Event
from shared import names

if TYPE_CHECKING:
    from eventing.journal import ReceivedEvent, Recorded

COLUMNS = ("at", "what", "ref", "message")
_MARKS = {"event": "●", "run": "▶"}
"""How a person tells the kinds of entries apart."""
_NEWEST = 200


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="events", help="Received events and finished runs in the journal.", no_args_is_help=True)
    group.command()(tail)
    group.command("list")(list_entries)
    group.command()(send)
    app.add_typer(group)


def tail(state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Print events and runs as they come, until Ctrl-C."""
    from eventing.journal import RedisJournal

    with choose(state, kubeconfig).redis() as client:
        for entry in RedisJournal(client).tail():
            row = for_people(row_of(entry))
            sys.stdout.write(fitted("  ".join(str(row[column]) for column in COLUMNS)) + "\n")
            sys.stdout.flush()


def list_entries(
    output: OutputOption = "table",
    last: Annotated[
        int, typer.Option(min=0, help="Only so many, the newest; 0: all that the journal holds.")
    ] = _NEWEST,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Print the newest events and runs of the journal, the newest at the end."""
    from eventing.journal import RedisJournal

    with choose(state, kubeconfig).redis() as client:
        rows = [row_of(entry) for entry in deque(RedisJournal(client).entries(is_brief=True), maxlen=last or None)]
    show(list(map(for_people, rows)) if output == "table" else rows, output, columns=COLUMNS)


def send(
    target: Annotated[str, typer.Argument(metavar="KIND/NAME", help="What the event is about.")],
    namespace: NamespaceOption = "",
    type_: Annotated[
        str, typer.Option("--type", help="add, update, delete, or a whole type.")
    ] = "io.olmf.resync.requested",
    endpoint: Annotated[str, typer.Option(help="URL of the endpoint; empty: of the installation.")] = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Post one CloudEvent to the endpoint: by default a request to process the object again, in every step.

    With --endpoint the token is that of OLMF_ENDPOINT_TOKEN or OLMF_ENDPOINT_TOKEN_FILE.
    """
    from eventing import wiring

    kind = f"{names.RESOURCE_EVENT}{type_}" if type_ in ("add", "update", "delete") else type_
    place = None if endpoint else choose(state, kubeconfig)
    ref = ref_of(target, namespace or (place.namespace if place else "default"))
    event = Event(id=str(uuid.uuid4()), type=kind, source="/olmf/cli", ref=ref)
    url = place.endpoint if place else endpoint
    if not url:
        raise CliError("where is the endpoint? Name it with --endpoint, or a state directory with --state", USAGE)
    try:
        post(url, event, token=place.endpoint_token if place else wiring.endpoint_token())
    except OSError as error:
        raise CliError(f"{url}: {error}", UNKNOWN) from error
    sys.stdout.write(f"sent {event.type} about {event.ref}\n")


def row_of(entry: Recorded | ReceivedEvent) -> dict[str, object]:
    """An entry as JSON."""
    from eventing.journal import ReceivedEvent

    if isinstance(entry, ReceivedEvent):
        at, kind, what, ref, message = entry.at, "event", entry.type, entry.ref, ""
    else:
        run = entry.run
        at, kind, what, ref, message = run.at, "run", run.step, run.ref, run.summary
    return {
        "at": datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds"),
        "kind": kind,
        "what": what,
        "ref": ref,
        "message": message,
    }


def for_people(row: dict[str, object]) -> dict[str, object]:
    """The row with its time of the day only, and a mark for its kind."""
    return {**row, "at": str(row["at"])[11:23], "what": f"{_MARKS[str(row['kind'])]} {row['what']}"}
