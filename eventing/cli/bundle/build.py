"""`olmf bundle build`: the image of a bundle, without a container engine."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
import yaml

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.inputs.bundle import contents, read
from eventing.cli.inputs.failures import unwritable
from eventing.cli.inputs.pulling import pulling
from shared.domain.authoring.bundles.interpret import NotInterpretableError, interpret
from shared.domain.authoring.bundles.labels import LabelOptions, differences, labels
from shared.domain.authoring.validation import Subject, errors_in_one_line, validate
from shared.domain.authoring.validation.form import NO_CSV, lacks_csv, media_type
from shared.domain.authoring.validation.package_manifest import package_manifest
from shared.domain.bundle.reading import FILE_BYTES, documents

_ANNOTATIONS = "metadata/annotations.yaml"


FolderArgument = Annotated[
    Path | None, typer.Argument(metavar="[DIR]", help="Folder with manifests/ and metadata/, or with manifests.")
]
TagOption = Annotated[
    str,
    typer.Option(
        "-t",
        "--tag",
        help="Where the image goes: oci:DIR[:TAG], docker-archive:FILE[:NAME:TAG], or registry/name:tag. Required.",
    ),
]
FolderOption = Annotated[
    Path | None, typer.Option("-d", "--directory", help="Another way to name the folder, as opm does.")
]
PackageOption = Annotated[
    str, typer.Option("-p", "--package", help="Name of the package; default: from the annotations.")
]
ChannelsOption = Annotated[
    str, typer.Option("-c", "--channels", help="Channels, separated by commas; default: from the annotations.")
]
DefaultOption = Annotated[str, typer.Option("-e", "--default", help="Default channel; default: from the annotations.")]
OutOption = Annotated[
    Path | None, typer.Option("-u", "--output-dir", help="Also write what the image holds to this folder.")
]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(build))


def build(
    bundle: FolderArgument = None,
    tag: TagOption = "",
    directory: FolderOption = None,
    *,
    package: PackageOption = "",
    channels: ChannelsOption = "",
    default: DefaultOption = "",
    output_dir: OutOption = None,
    overwrite: Annotated[bool, typer.Option("-o", "--overwrite", help="Replace other annotations.")] = False,
    image_builder: Annotated[str, typer.Option("-b", "--image-builder", hidden=True)] = "none",
    skip_validation: Annotated[
        bool, typer.Option("-v", "--skip-validation", help="Build it even if it is not valid.")
    ] = False,
) -> None:
    """Make the image of a bundle: the same files give the same bytes, wherever and whenever it is built."""
    from shared.adapters.image_writer import write_image
    from shared.adapters.images import OciError

    del image_builder  # images are made without a container engine
    folder = bundle or directory
    if folder is None or not tag:
        raise CliError("name the folder of the bundle, and its image with --tag", USAGE)
    if not folder.is_dir():
        raise CliError(f"{folder} is no folder", USAGE)
    subject = _subject(folder)
    desired = LabelOptions(package, channels, default)
    if not subject.annotations_path and not (package and channels):
        desired = _completed(desired, interpreted(folder, subject))
    files, labels = _content(subject, desired, is_overwritten=overwrite)
    if not skip_validation:
        _check(files, subject)
    try:
        if output_dir is not None:
            _lay_out(files, output_dir)
        written = write_image(files, labels, tag)
    except (OciError, OSError) as error:
        raise unwritable(error) from error
    sys.stdout.write(f"{written}\n")


def _completed(desired: LabelOptions, found: LabelOptions) -> LabelOptions:
    """What somebody wants, and where that says nothing, what was found."""
    return replace(
        desired,
        package=desired.package or found.package,
        channels=desired.channels or found.channels,
        default_channel=desired.default_channel or found.default_channel,
    )


def _subject(folder: Path) -> Subject:
    """The files of the bundle; a folder of manifests alone has its metadata beside it."""
    name = str(folder)
    if (folder / "manifests").is_dir():
        files = read(folder, name)
    else:
        folders = {"manifests": folder, "metadata": folder.resolve().parent / "metadata"}
        files = contents({f"{key}/{path.name}": path for key, above in folders.items() for path in _files(above)}, name)
    for path, content in files.items():
        if len(content) > FILE_BYTES:
            raise CliError(f"{name}/{path}: more than {FILE_BYTES} bytes: no cluster takes such an object", NEGATIVE)
    return Subject(files, name)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def _content(
    subject: Subject, desired: LabelOptions, *, is_overwritten: bool
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files and the labels of the image. CliError when annotations that are there say something else."""
    made = labels(media_type(subject), subject.annotations, desired)
    files = dict(subject.files)
    wrong = list(differences(subject.annotations, made)) if subject.annotations_path else []
    if wrong and not is_overwritten:
        where = f"{subject.where}/{subject.annotations_path}"
        hint = NO_CSV if lacks_csv(subject) else "correct it, or build with --overwrite"
        raise CliError(f"{where}: {'; '.join(wrong)}; {hint}", NEGATIVE)
    if wrong or not subject.annotations_path:
        files[subject.annotations_path or _ANNOTATIONS] = yaml.safe_dump({"annotations": made}).encode()
    return files, made


def _check(files: dict[str, bytes], subject: Subject) -> None:
    if line := errors_in_one_line(validate(Subject(files, subject.where))):
        raise CliError(f"{subject.where}: {line}; --skip-validation builds it nevertheless", NEGATIVE)


def _lay_out(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def interpreted(folder: Path, subject: Subject) -> LabelOptions:
    """Package and channels of the bundle in a folder. CliError when nothing beside it says them."""
    parent = folder.resolve().parent
    what = "please manually input channels and packageName, error interpreting bundle from directory"
    named = {f"package/{path.name}": path for path in sorted(parent.glob("*.package.yaml"))}
    found = [
        one for one in documents(contents(named, str(parent)), "package").by_path.values() if isinstance(one, dict)
    ]
    if not found:
        raise CliError(
            f"{what} {folder}, there is no *.package.yaml in {parent}; use --package and --channels", NEGATIVE
        )
    for one in package_manifest(found[0]):
        sys.stderr.write(f"# {parent}: {one}\n")
    try:
        return interpret(found[0], _replaced(parent), subject.csv_name)
    except NotInterpretableError as error:
        raise CliError(f"{what} {folder}, {error}", NEGATIVE) from error


def _replaced(parent: Path) -> dict[str, str]:
    """What each version replaces, of all bundles in a folder."""
    found: dict[str, str] = {}
    for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
        manifests = folder / "manifests" if (folder / "manifests").is_dir() else folder
        paths = {f"manifests/{path.name}": path for path in sorted(manifests.glob("*.yaml"))}
        one = Subject(contents(paths, str(folder)), str(folder))
        if one.csv_name:
            found[one.csv_name] = str(one.spec.get("replaces") or "")
    return found
