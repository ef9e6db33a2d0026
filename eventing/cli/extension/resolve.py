"""`olmf extension resolve`: which bundle a ClusterExtension gets, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli.failure import USAGE, CliError


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(resolve)


def resolve(
    *,
    batch: Annotated[
        bool, typer.Option("--batch", help="Read questions from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Say which bundle a ClusterExtension gets, and which rule removed each of the others.

    With --batch a line is {"id", "gates": {NAME: bool}, "catalogs": [{"name", "priority", "labels",
    "availabilityMode"?, "state"?, "fbc": […]}…], "extension": {"packageName", …}, "installed": null or {"name",
    "version", "release"?}}, its answer {"id", "bundle", "version", …, "trace": […]} or {"id", "error", "trace"}.
    """
    if not batch:
        raise CliError("extension resolve: give --batch and questions on stdin", USAGE)
    from eventing.cli.lines import answer_lines
    from shared.domain.extension.question import answered

    answer_lines(answered)
