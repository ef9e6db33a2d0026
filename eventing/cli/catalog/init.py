"""`olmf catalog init`: the first document of a new catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.catalog.source import FormOption, check_form, write
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from shared.domain.authoring.init import NotAnImage, new_package
from shared.domain.catalog.config import Config


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(init)


def init(
    package: Annotated[str, typer.Argument(metavar="PACKAGE")],
    default_channel: Annotated[
        str, typer.Option("-c", "--default-channel", help="Channel of whoever names none.")
    ] = "",
    *,
    icon: Annotated[Path | None, typer.Option("-i", "--icon", help="Picture of the package.")] = None,
    description: Annotated[
        Path | None, typer.Option("-d", "--description", help="Text file about the package.")
    ] = None,
    output: FormOption = "json",
) -> None:
    """Print the olm.package of a new package."""
    check_form(output)
    if not package:
        raise CliError("a package needs a name", USAGE)
    content = _read(icon, "icon") if icon else None
    text = _read(description, "description").decode("utf-8", "replace") if description else ""
    try:
        blob = new_package(package, default_channel=default_channel, description=text, icon=content)
    except NotAnImage as error:
        raise CliError(str(error), NEGATIVE) from error
    write(Config(packages=[blob]), output)


def _read(path: Path, what: str) -> bytes:
    try:
        stream = path.open("rb")
    except OSError as error:
        raise CliError(f"open {what} file: open {path}: {error.strerror}", UNKNOWN) from error
    with stream:
        try:
            return stream.read()
        except OSError as error:
            raise CliError(f"read {what}: {path}: {error.strerror}", UNKNOWN) from error
