"""What a namespace would get: `resolve`."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from eventing.cli.failure import USAGE, CliError


class Isolation(enum.StrEnum):
    """How far a conflict reaches."""

    COMPONENT = "component"
    NAMESPACE = "namespace"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(resolve)


def resolve(
    *,
    isolation: Annotated[
        Isolation, typer.Option(help="A conflict stops its component, or the namespace as in OLM.")
    ] = Isolation.COMPONENT,
    batch: Annotated[
        bool, typer.Option("--batch", help="Read questions from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Say what the Subscriptions of a namespace would get, without a cluster.

    With --batch a line is {"id", "namespace", "globalNamespace", "catalogs": [{"name", "namespace", "priority",
    "fbc": [blobs…] or "path": DIR}…], "subscriptions": […], "csvs": […]}, its answer {"id", "operators": […],
    "unsatisfiable", "error", "conflict": […], "fixes": […]}.
    """
    if not batch:
        raise CliError("resolve: give --batch and questions on stdin", USAGE)
    from eventing.cli.lines import answer_lines
    from eventing.resolution import answering

    answer_lines(answering(is_whole=isolation is Isolation.NAMESPACE))
