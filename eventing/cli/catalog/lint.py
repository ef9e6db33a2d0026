"""`olmf catalog lint`: advice about a catalog that nothing forbids."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli.inputs.failures import cli_errors
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import OutputOption, document, table
from shared.adapters.judging import advise

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="Folder, file, image, or - for stdin.")]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(lint))


def lint(path: PathArgument, output: OutputOption = "table") -> None:
    """Tell what will hurt: unreachable heads, jumps, deprecated defaults, loose images, large or dropped content."""
    with cli_errors(path):
        advice = advise(path)
    rows: list[dict[str, object]] = [
        {
            "rule": one.rule,
            "message": one.message,
            "file": one.place.file,
            "document": one.place.document,
            "line": one.place.line,
        }
        for one in advice
    ]
    if output != "table":
        document(rows, output)
        return
    table([row | {"where": f"{row['file']}:{row['line']}"} for row in rows], ("rule", "where", "message"))
