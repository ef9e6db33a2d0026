"""`olmf catalog diff`: what users gain, lose and cannot reach any more."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE
from eventing.cli.inputs.failures import cli_errors
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import OutputOption, show
from shared.adapters.judging import compared
from shared.domain.authoring.judging.comparison import Kind, compare

OlderArgument = Annotated[str, typer.Argument(metavar="A", help="The catalog that is used now.")]
NewerArgument = Annotated[str, typer.Argument(metavar="B", help="The catalog that shall take its place.")]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(diff))


def diff(older: OlderArgument, newer: NewerArgument, output: OutputOption = "table") -> None:
    """Compare two catalogs; the exit code is 1 when somebody loses something or is stuck."""
    with cli_errors(older):
        before = compared(older)
    with cli_errors(newer):
        after = compared(newer)
    changes = compare(before, after)
    rows: list[dict[str, object]] = [
        {"kind": one.kind, "package": one.package, "message": one.message} for one in changes
    ]
    show(rows, output, columns=("kind", "package", "message"))
    if any(one.kind in (Kind.LOST, Kind.STUCK) for one in changes):
        raise typer.Exit(NEGATIVE)
