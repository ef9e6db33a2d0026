"""`olmf bundle unpack`: the files of a bundle image in a folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle import Source, opened
from eventing.cli.inputs.pulling import pulling
from shared.domain.authoring.validation import Subject, errors_in_one_line, validate
from shared.domain.authoring.validation.form import form


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(unpack))


def unpack(
    bundle: Annotated[str, typer.Argument(metavar="IMAGE", help="Image, oci:DIR[:TAG] or docker-archive:FILE.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder that gets the files; made when it is not there.")
    ] = Path(),
    *,
    skip_validation: Annotated[
        bool, typer.Option("-v", "--skip-validation", help="Copy the files whatever they are.")
    ] = False,
) -> None:
    """Write everything that a bundle image holds to a folder, after checking that it is a bundle."""
    if out.exists() and not out.is_dir():
        raise CliError(f"out {out} is not a directory", USAGE)
    with opened(bundle) as source:
        if not skip_validation:
            _check(source)
        try:
            shutil.copytree(source.folder, out, dirs_exist_ok=True)
        except (OSError, shutil.Error) as error:
            raise CliError(f"failed to copy unpacked content to output directory: {error}", UNKNOWN) from error
    sys.stderr.write(f"# unpacked to {out}\n")


def _check(source: Source) -> None:
    """CliError when the image is no sound bundle."""
    subject = Subject(source.files(), source.name)
    for what, findings in (("format", form(subject)), ("content", validate(subject))):
        if line := errors_in_one_line(findings):
            raise CliError(f"bundle {what} validation failed: {line}", NEGATIVE)
