"""`olmf catalog graph`: the update graph as a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.catalog.source import CATALOGS, Rendering, check_form, render
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.inputs.pulling import pulling
from shared.domain.authoring.identity import InvalidBundle
from shared.domain.authoring.pictures.drawing import GraphOptions, Undrawable, draw
from shared.domain.authoring.pictures.graphviz import graphviz
from shared.domain.authoring.pictures.mermaid import mermaid
from shared.domain.authoring.pictures.svg import svg

if TYPE_CHECKING:
    from shared.domain.authoring.pictures.drawing import Drawing
    from shared.domain.catalog.config import Config

FORMS = ("mermaid", "dot", "svg")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(graph))


def graph(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders, files, images, oci:DIR, or -.")],
    package: Annotated[str, typer.Option("-p", "--package-name", help="Only this package.")] = "",
    minimum: Annotated[str, typer.Option("--minimum-edge", help="Only what leads from this bundle upwards.")] = "",
    output: Annotated[str, typer.Option("-o", "--output", help="mermaid, dot or svg.")] = "mermaid",
    *,
    marks_skipped: Annotated[
        bool, typer.Option("--draw-v0-semantics", help="Mark what OLM v0 never installs: entries that others skip.")
    ] = False,
) -> None:
    """Draw the update graph of catalogs. Nothing is validated."""
    check_form(output, FORMS)
    config = render(paths, Rendering(CATALOGS))
    sys.stdout.write(drawn(config, GraphOptions(package, minimum, marks_skipped), output))


def drawn(config: Config, options: GraphOptions, form: str) -> str:
    """The picture; warnings go to stderr. CliError when there is none."""
    return _language(form)(drawing_of(config, options))


def drawing_of(config: Config, options: GraphOptions) -> Drawing:
    """What the picture shows; warnings go to stderr. CliError when there is none."""
    try:
        drawing = draw(config, options)
    except (InvalidBundle, Undrawable) as error:
        raise CliError(str(error), NEGATIVE) from error
    for warning in drawing.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    return drawing


def _language(form: str) -> Callable[[Drawing], str]:
    if form == "dot":
        return graphviz
    if form == "svg":
        return svg

    return mermaid
