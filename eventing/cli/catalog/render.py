"""`olmf catalog render`: whatever references lead to, as one stream of a file-based catalog."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli.catalog.source import (
    FormOption,
    ImageTemplateOption,
    LevelOption,
    Rendering,
    check_form,
    write,
)
from eventing.cli.catalog.source import render as rendered
from eventing.cli.inputs.pulling import pulling


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(render))


def render(
    references: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Catalogs and bundles: folders, files, images, oci:DIR, or -.")
    ],
    output: FormOption = "json",
    *,
    migrate: Annotated[bool, typer.Option("--migrate", help="Run all migrations.")] = False,
    migrate_level: LevelOption = "",
    image_template: ImageTemplateOption = "",
) -> None:
    """Print the documents of catalogs and bundles, in the order that `opm render` gives them. Nothing is validated."""
    check_form(output)
    rendering = Rendering.of_options(migrate_level, image_template, migrate=migrate)
    write(rendered(references, rendering), output)
