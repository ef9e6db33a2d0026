"""The files of a bundle, wherever the words of the command line say that it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.failures import cli_errors
from shared.adapters.oci.reference import Reference
from shared.adapters.paths import LOCAL_PREFIXES, image_named_by
from shared.domain.bundle.model import BadBundle, Files, ParsedBundle
from shared.domain.bundle.parse import parse
from shared.domain.bundle.reading import FILE_BYTES

BundleArgument = Annotated[
    str, typer.Argument(metavar="DIR|IMAGE", help="Folder with manifests/ and metadata/, image, or oci:DIR[:TAG].")
]
_FILES: Final = 10_000
_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """A bundle on this machine, until the end of the block."""

    name: str
    """As the user named it."""
    folder: Path
    image: str = ""
    """The reference by which others can pull it; empty for a folder, and for an image on this machine."""

    def files(self) -> Files:
        """Manifests and metadata by path. CliError when they cannot be read."""
        return read(self.folder, self.name)

    def parsed(self) -> ParsedBundle:
        """What the files say. CliError (the answer is no) when they are no bundle."""
        found = parse(self.files(), self.name, is_complete=True)
        if isinstance(found, BadBundle):
            raise CliError(found.message, NEGATIVE)
        return found


@contextmanager
def opened(reference: str) -> Iterator[Source]:
    """The bundle that a word names. CliError when it is not there, or no bundle."""
    with cli_errors(reference):
        image = image_named_by(reference)
    if image:
        with pulled(image, reference) as source:
            yield source
    elif Path(reference).is_dir():
        yield Source(reference, Path(reference))
    else:
        raise CliError(f'ref "{reference}" is not a directory: not allowed; name the folder of a bundle', USAGE)


@contextmanager
def pulled(image: str | Reference, name: str) -> Iterator[Source]:
    """The bundle in an image that messages call so. CliError when it cannot be pulled, or is no bundle."""
    from shared.adapters.images import OciError, unpacked

    is_local = isinstance(image, str) and image.startswith(LOCAL_PREFIXES)
    try:
        with unpacked(image) as found:
            if found.catalog or found.is_database:
                raise CliError(f"{name} is the image of a catalog, not of a bundle: not allowed", NEGATIVE)
            yield Source(name, found.path, "" if is_local else name)
    except OciError as error:
        raise CliError(f'failed to pull image "{name}": {error}', UNKNOWN) from error


def read(folder: Path, name: str) -> Files:
    """Everything in `manifests/` and `metadata/`; of a file too large to be one of a bundle only the beginning."""
    return contents({path.relative_to(folder).as_posix(): path for path in _paths(folder)}, name)


def contents(paths: Mapping[str, Path], name: str) -> Files:
    """The beginning of each file, which is all of it unless it is too large to be one of a bundle."""
    found: dict[str, bytes] = {}
    left = _BYTES
    for key, path in paths.items():
        try:
            with path.open("rb") as stream:
                found[key] = stream.read(FILE_BYTES + 1)
        except OSError as error:
            raise CliError(f"{path}: {error.strerror}", UNKNOWN) from error
        left -= len(found[key])
        if left < 0 or len(found) > _FILES:
            raise CliError(f"{name}: more than {_FILES} files or {_BYTES} bytes: this is no bundle", NEGATIVE)
    return found


def _paths(folder: Path) -> Iterator[Path]:
    for directory in ("manifests", "metadata"):
        for above, names, files in os.walk(folder / directory, onerror=_refused):
            names.sort()
            yield from (path for file in sorted(files) if (path := Path(above, file)).is_file())


def _refused(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise CliError(f"{error.filename}: {error.strerror}", UNKNOWN) from error
