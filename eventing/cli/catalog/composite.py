"""`olmf catalog template composite`: one package into several catalogs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.catalog.rendering import rendered
from eventing.cli.catalog.source import Rendering, check_form, render, written
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from shared.adapters.judging import judge
from shared.adapters.whole_file import write_whole
from shared.domain.authoring.template import TemplateError
from shared.domain.authoring.template.composite import steps

if TYPE_CHECKING:
    from shared.domain.authoring.template.composite import Step
    from shared.domain.catalog.config import Config

CATALOGS, COMPONENTS = Path("catalogs.yaml"), Path("composite.yaml")
FormOption = Annotated[str, typer.Option("-o", "--output", help="json or yaml.")]


def composite(
    catalogs: Annotated[Path, typer.Option("-f", "--catalog-config", help="Folders and builders of catalogs.")] = (
        CATALOGS
    ),
    components: Annotated[Path, typer.Option("-c", "--composite-config", help="What goes to which catalog.")] = (
        COMPONENTS
    ),
    output: FormOption = "json",
    *,
    validate: Annotated[bool, typer.Option(help="Judge each folder as soon as it is written.")] = True,
) -> None:
    """Build the catalogs that two files describe (olm.composite)."""
    check_form(output)
    plan = steps(_content(catalogs, "catalog"), _content(components, "composite"))
    try:
        for step in plan:
            place = _build(step, components.parent, output)
            if validate:
                _judge(step, place.parent)
            sys.stderr.write(f"wrote {place}\n")
    except TemplateError as error:
        raise CliError(str(error), NEGATIVE) from error


def _build(step: Step, folder: Path, form: str) -> Path:
    try:
        source = Path(step.input)
        config = _config(step, source if source.exists() else folder / source)
        place = Path(step.folder, step.output)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, written(config, form))
    except (CliError, OSError) as error:
        code = error.code if isinstance(error, CliError) else UNKNOWN
        raise CliError(f'building component "{step.catalog}": {error}', code) from error
    return place


def _config(step: Step, source: Path) -> Config:
    if step.template:
        return rendered(source.read_bytes(), step.template.rpartition(".")[2], Rendering())
    if not source.exists():
        raise CliError(f"{source}: no such file or folder", UNKNOWN)
    return render((str(source),), Rendering())


def _judge(step: Step, folder: Path) -> None:
    result = judge(str(folder))
    if not result.is_valid:
        what = f'validating component "{step.catalog}": validation failure in path "{folder}"'
        raise CliError(f"{what}: {result.text()}", NEGATIVE)


def _content(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CliError(f'opening {what} config file "{path}": {error.strerror}', UNKNOWN) from error
