"""`olmf catalog template`: catalogs made from their short forms, and short forms made from catalogs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.catalog.composite import composite
from eventing.cli.catalog.graph import drawn
from eventing.cli.catalog.rendering import rendered
from eventing.cli.catalog.source import (
    STDIN,
    CatalogArgument,
    FormOption,
    ImageTemplateOption,
    LevelOption,
    Rendering,
    check_form,
    opened,
    write,
)  # fmt: skip
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.pulling import pulling
from shared.domain.authoring.pictures.drawing import GraphOptions
from shared.domain.authoring.template import SCHEMAS, TemplateError
from shared.domain.authoring.template.convert import TYPES, text
from shared.domain.authoring.template.convert import convert as converted
from shared.domain.authoring.writing.write import Form

TemplateArgument = Annotated[str, typer.Argument(metavar="[FILE]", help="The template; else stdin.")]
PictureOption = Annotated[str, typer.Option("-o", "--output", help="json, yaml or mermaid.")]
_TYPES = {
    "basic": "Render a catalog whose bundles are only images (olm.template.basic).",
    "semver": "Render channels made from versions (olm.semver).",
    "substitutes": "Render a catalog in which bundles stand in for others (olm.template.substitutes).",
}
FORMS = ("json", "yaml", "mermaid")
_LARGEST = 64 * 2**20


def register(group: typer.Typer) -> None:
    """Add the verbs."""
    below = typer.Typer(name="template", help="Catalogs from templates: basic, semver, substitutes, composite.",
                        no_args_is_help=True)  # fmt: skip
    for kind, what in _TYPES.items():
        below.command(kind)(pulling(_verb(kind, what)))
    for verb in (composite, render, convert):
        below.command()(pulling(verb))
    group.add_typer(below)


def _verb(kind: str, what: str) -> Callable[..., None]:
    """The verb of one type of template."""

    def render_one(
        file: TemplateArgument = STDIN,
        output: PictureOption = "json",
        migrate_level: LevelOption = "",
        image_template: ImageTemplateOption = "",
    ) -> None:
        _print(kind, file, output, Rendering.of_options(migrate_level, image_template))

    render_one.__doc__ = what
    return render_one


def render(
    words: Annotated[list[str] | None, typer.Argument(metavar="[TYPE] [FILE]")] = None,
    output: PictureOption = "json",
    migrate_level: LevelOption = "",
    image_template: ImageTemplateOption = "",
) -> None:
    """Render a template of any type, found out from its schema (as `opm alpha render-template`)."""
    arguments = list(words or ())
    kind = arguments.pop(0) if arguments and (arguments[0] in SCHEMAS or len(arguments) > 1) else ""
    if len(arguments) > 1:
        raise CliError("template render: at most [TYPE] [FILE]", USAGE)
    if kind and kind not in SCHEMAS:
        raise CliError(f'invalid template type "{kind}", must be one of: [{" ".join(SCHEMAS)}]', USAGE)
    rendering = Rendering.of_options(migrate_level, image_template)
    _print(kind, arguments[0] if arguments else STDIN, output, rendering)


def convert(
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="basic or substitutes.")],
    path: CatalogArgument = STDIN,
    output: FormOption = "json",
) -> None:
    """Print the template that a catalog could have been made from."""
    check_form(output)
    if kind not in TYPES:
        raise CliError(f"template convert {kind}: wanted {' or '.join(TYPES)}", USAGE)
    try:
        with opened(path) as found:
            template = converted(found.files(), kind)
    except TemplateError as error:
        raise CliError(f"converting: {error}", NEGATIVE) from error
    sys.stdout.buffer.write(text(template, Form(output)))


def _print(kind: str, file: str, output: str, rendering: Rendering) -> None:
    check_form(output, FORMS)
    config = rendered(_content(file), kind, rendering)
    if output == "mermaid":
        sys.stdout.write(drawn(config, GraphOptions(), output))
    else:
        write(config, output)


def _content(file: str) -> bytes:
    try:
        with sys.stdin.buffer if file == STDIN else Path(file).open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        code = USAGE if isinstance(error, FileNotFoundError) else UNKNOWN
        raise CliError(f'unable to open "{file}": {error.strerror}', code) from error
    if len(content) > _LARGEST:
        raise CliError(f'"{file}" has more than {_LARGEST} bytes, which no template has', NEGATIVE)
    return content
