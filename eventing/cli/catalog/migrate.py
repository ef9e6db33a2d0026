"""`olmf catalog migrate`: a catalog written anew, one file for each package."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.catalog.source import (
    CATALOGS,
    CatalogArgument,
    FormOption,
    LevelOption,
    Rendering,
    check_form,
    check_level,
    render,
)
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.pulling import pulling
from shared.adapters.whole_file import write_whole
from shared.domain.authoring.writing.write import Form, Unwritable, files


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(migrate))


def migrate(
    path: CatalogArgument,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write; absent or empty.")],
    output: FormOption = "json",
    migrate_level: LevelOption = "",
) -> None:
    """Write a catalog as <package>/catalog.<form>, after the migrations that are asked for."""
    check_form(output)
    check_level(migrate_level)
    if folder.is_dir() and any(folder.iterdir()):
        raise CliError(f'output dir "{folder}" must be empty', USAGE)
    sys.stderr.write(f'rendering catalog "{path}" as file-based catalog\n')
    try:
        config = render((path,), Rendering(CATALOGS, level=migrate_level))
    except CliError as error:
        raise CliError(f"render catalog image: {error}", error.code) from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, documents in files(config, Form(output)):
            _put(folder / name, documents)
    except Unwritable as error:
        raise CliError(str(error), NEGATIVE) from error
    except OSError as error:
        raise CliError(f"{error.filename}: {error.strerror}", UNKNOWN) from error
    sys.stderr.write(f'wrote rendered file-based catalog to "{folder}"\n')


def _put(path: Path, documents: Iterable[bytes]) -> None:
    """Write a file that is whole as soon as it has its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, documents)
