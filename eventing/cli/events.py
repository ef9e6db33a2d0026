"""The event side: `events tail`, `events list`, `events send`."""

from __future__ import annotations

import sys
import uuid
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import UNKNOWN, USAGE, CliError
from eventing.cli.namespace_inputs import opened_capture
from eventing.cli.objects import ref_of
from eventing.cli.output import CaptureOption, OutputOption, fitted, show
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.endpoint.sender import send as post
from eventing.events.event import Event
from eventing.wiring.environment import endpoint_token
from shared import names
from shared.domain.command import olmf

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
    source: CaptureOption = None,
    output: OutputOption = "table",
    *,
    last: Annotated[
        int, typer.Option(min=0, help="Only so many, the newest; 0: all that the journal holds.")
    ] = _NEWEST,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Print the newest events and runs of the journal, or of a capture with their ids, the newest at the end."""
    from eventing.journal import RedisJournal

    if source:
        rows = [row_of(entry) for entry in deque(_entries_of_capture(source), maxlen=last or None)]
    else:
        with choose(state, kubeconfig).redis() as client:
            rows = [row_of(entry) for entry in deque(RedisJournal(client).entries(is_brief=True), maxlen=last or None)]
    columns = ("id", *COLUMNS) if source else COLUMNS
    show(list(map(for_people, rows)) if output == "table" else rows, output, columns=columns)


def _entries_of_capture(source: Path) -> list[Recorded | ReceivedEvent]:
    """The events and runs of a capture, by their time."""
    from eventing.journal import Recorded

    index = opened_capture(source).index
    entries: list[Recorded | ReceivedEvent] = [*index.events.values(), *map(Recorded, index.runs.values())]
    return sorted(entries, key=lambda entry: entry.run.at if isinstance(entry, Recorded) else entry.at)


def send(
    target: Annotated[str, typer.Argument(metavar="[KIND/NAME]", help="What the event is about.")] = "",
    namespace: NamespaceOption = "",
    *,
    type_: Annotated[
        str, typer.Option("--type", help="add, update, delete, or a whole type.")
    ] = "io.olmf.resync.requested",
    source: Annotated[
        Path | None, typer.Option("--from", metavar="CAPTURE", help="Post the events that this capture has, in order.")
    ] = None,
    until: Annotated[str, typer.Option(metavar="ID", help="With --from: up to this event.")] = "",
    endpoint: Annotated[str, typer.Option(help="URL of the endpoint; empty: of the installation.")] = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Post one CloudEvent to the endpoint: by default a request to process the object again, in every step.

    With --from all that a capture has received, as it was. With --endpoint the token is that of OLMF_ENDPOINT_TOKEN or
    OLMF_ENDPOINT_TOKEN_FILE.
    """
    if bool(target) is bool(source) or (until and not source):
        raise CliError("wanted KIND/NAME, or --from CAPTURE (and then perhaps --until)", USAGE)
    place = None if endpoint else choose(state, kubeconfig)
    if source:
        events = _recorded(source, until)
    else:
        kind = f"{names.RESOURCE_EVENT}{type_}" if type_ in ("add", "update", "delete") else type_
        ref = ref_of(target, namespace or (place.namespace if place else "default"))
        events = [Event(id=str(uuid.uuid4()), type=kind, source="/olmf/cli", ref=ref)]
    url = place.endpoint if place else endpoint
    if not url:
        raise CliError("where is the endpoint? Name it with --endpoint, or a state directory with --state", USAGE)
    token = place.endpoint_token if place else endpoint_token()
    for count, event in enumerate(events):
        try:
            post(url, event, token=token)
        except OSError as error:
            raise CliError(f"{url}: {error}" + (f"; {count} events were sent" if source else ""), UNKNOWN) from error
        sys.stdout.write(f"sent {event.type} about {event.ref}\n")


def _recorded(source: Path, until: str) -> list[Event]:
    """The events of a capture in the order in which they came, up to the one of that id."""
    from eventing.journal import ReceivedEvent

    received = [entry for entry in _entries_of_capture(source) if isinstance(entry, ReceivedEvent)]
    last = next((place for place, one in enumerate(received) if one.id == until), None)
    if until and last is None:
        raise CliError(
            f"{source}: no event {until}; {olmf('events', 'list', '--from', str(source))} lists their ids", USAGE
        )
    return [one.event() for one in received[: None if last is None else last + 1]]


def row_of(entry: Recorded | ReceivedEvent) -> dict[str, object]:
    """An entry as JSON."""
    from eventing.journal import ReceivedEvent

    if isinstance(entry, ReceivedEvent):
        id_, at, kind, what, ref, message = entry.id, entry.at, "event", entry.type, entry.ref, ""
    else:
        run = entry.run
        id_, at, kind, what, ref, message = run.id, run.at, "run", run.step, run.ref, run.summary
    return {
        "id": id_,
        "at": datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds"),
        "kind": kind,
        "what": what,
        "ref": ref,
        "message": message,
    }


def for_people(row: dict[str, object]) -> dict[str, object]:
    """The row with its time of the day only, and a mark for its kind."""
    return {**row, "at": str(row["at"])[11:23], "what": f"{_MARKS[str(row['kind'])]} {row['what']}"}
