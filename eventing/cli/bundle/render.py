"""`olmf bundle render`: a bundle as it stands in a file-based catalog."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli.catalog.source import (
    BUNDLES,
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
    bundles: Annotated[list[str], typer.Argument(metavar="DIR|IMAGE…", help="Folders or images of bundles.")],
    output: FormOption = "json",
    *,
    migrate: Annotated[bool, typer.Option("--migrate", help="Describe versions instead of embedding files.")] = False,
    migrate_level: LevelOption = "",
    image_template: ImageTemplateOption = "",
) -> None:
    """Print the olm.bundle of each bundle; `olmf catalog render` takes catalogs, too."""
    check_form(output)
    rendering = Rendering.of_options(migrate_level, image_template, migrate=migrate, kinds=BUNDLES)
    write(rendered(bundles, rendering), output)
