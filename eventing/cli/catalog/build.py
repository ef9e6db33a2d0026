"""`olmf catalog build`: an image of a catalog, without a container engine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.inputs.failures import unwritable
from eventing.cli.inputs.pulling import pulling
from shared.adapters import files
from shared.adapters.judging import judge
from shared.domain.bundle.annotations import CONFIGS

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the catalog.")]
TargetArgument = Annotated[
    str, typer.Argument(metavar="IMAGE", help="registry/name:tag, oci:DIR[:TAG] or docker-archive:FILE[:NAME:TAG].")
]
LabelOption = Annotated[list[str] | None, typer.Option("-l", "--label", help="Another label, KEY=VALUE.")]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(build))


def build(
    folder: FolderArgument,
    image: TargetArgument,
    label: LabelOption = None,
    *,
    validate: Annotated[bool, typer.Option(help="Check the catalog first.")] = True,
) -> None:
    """Build the image of a catalog and push or save it; the same files give the same image. Prints it by digest."""
    from shared.adapters.image_writer import write_image
    from shared.adapters.images import OciError

    labels = {CONFIGS: "/configs"} | dict(map(_pair, label or ()))
    if not folder.is_dir():
        raise CliError(f'provided root path "{folder}" is not a directory', NEGATIVE if folder.exists() else USAGE)
    if validate:
        _check(folder)
    try:
        contents = {f"configs/{one.name}": one.path for one in files.files(folder)}
        written = write_image(contents, labels, image)
    except (OciError, OSError) as error:
        raise unwritable(error) from error
    sys.stdout.write(f"{written}\n")


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise CliError(f'invalid label "{text}": wanted KEY=VALUE', USAGE)
    return key, value


def _check(folder: Path) -> None:
    result = judge(str(folder))
    if not result.is_valid:
        raise CliError(f"{result.text()}\nthe catalog is not valid: correct it, or build with --no-validate", NEGATIVE)
