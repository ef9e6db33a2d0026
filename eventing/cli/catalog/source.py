"""Catalogs and bundles, wherever the words of the command line say that they are (fbc.md §10.1)."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle import Source
from eventing.cli.inputs.failures import cli_errors
from shared.adapters.files import File, files, stdin
from shared.adapters.paths import LOCAL_PREFIXES, image_named_by
from shared.adapters.progress import ended
from shared.domain.authoring import migrate as migration
from shared.domain.authoring.bundles.render import ImageTemplateError, blob, image_from
from shared.domain.authoring.identity import csv_of
from shared.domain.authoring.migrate import migrate
from shared.domain.authoring.template import Rendered
from shared.domain.authoring.writing.arrange import arrange
from shared.domain.authoring.writing.write import Form, Unwritable, stream
from shared.domain.catalog.blobs import Unreadable
from shared.domain.catalog.config import Config, read_config
from shared.domain.go_types.engine import MisfitError

STDIN: Final = "-"
CatalogArgument = Annotated[str, typer.Argument(metavar="PATH", help="Folder, file, image, oci:DIR, or - for stdin.")]
ImageTemplateOption = Annotated[
    str, typer.Option("--image-ref-template", "--alpha-image-ref-template",
                      help="Image of a bundle in a folder, e.g. quay.io/acme/{{.Package}}:v{{.Version}}."),
]  # fmt: skip
FormOption = Annotated[str, typer.Option("-o", "--output", help="json or yaml.")]
LevelOption = Annotated[
    str, typer.Option(help="Last migration to run: none, bundle-object-to-csv-metadata or all; without it none runs.")
]


class Kind(enum.Enum):
    """What a reference leads to."""

    CATALOG = "declarative config directory"
    CATALOG_IMAGE = "declarative config image"
    BUNDLE = "bundle directory"
    BUNDLE_IMAGE = "bundle image"


ANYTHING: Final = frozenset(Kind)
CATALOGS: Final = frozenset({Kind.CATALOG, Kind.CATALOG_IMAGE})
BUNDLES: Final = frozenset({Kind.BUNDLE, Kind.BUNDLE_IMAGE})


class NotAllowed(CliError):
    """The reference leads to something that this verb does not take."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference leads to, until the end of the block."""

    kind: Kind
    reference: str
    path: Path
    """The folder or file; of stdin, where it was put aside."""
    image: str = ""
    """The reference by which others can pull it; empty for a folder, and for an image on this machine."""

    def listed(self) -> list[File]:
        """The files of a catalog, in the order in which they are read. CliError when they cannot be."""
        try:
            return [File(STDIN, self.path)] if self.reference == STDIN else files(self.path)
        except OSError as error:
            raise _unread(error) from error

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The files of a catalog by name, one at a time. CliError when one of them cannot be read."""
        try:
            for file in self.listed():
                yield file.name, file.read()
        except OSError as error:
            raise _unread(error) from error
        ended()

    def config(self) -> Config:
        """The documents of a catalog. CliError when they cannot be read, or one of them is none."""
        try:
            return read_config(self.files())
        except Unreadable as error:
            raise CliError(str(error), NEGATIVE) from error
        except RecursionError as error:
            raise CliError("a document is nested too deeply", NEGATIVE) from error


def _unread(error: OSError) -> CliError:
    return CliError(f"read {error.filename}: {(error.strerror or str(error)).lower()}", UNKNOWN)


@dataclass(frozen=True, slots=True)
class Rendering:
    """What is made of references, and which of them are taken."""

    kinds: frozenset[Kind] = ANYTHING
    template: str = ""
    """The image of a bundle on this machine, with placeholders; it has none when empty."""
    level: str = ""
    """The last migration to run; none runs when empty."""

    @classmethod
    def of_options(
        cls, level: str, template: str, *, migrate: bool = False, kinds: frozenset[Kind] = ANYTHING
    ) -> Rendering:
        """As the options of a verb ask for it; to `migrate` is to run all migrations. CliError when they cannot be."""
        if migrate and level:
            raise CliError("--migrate and --migrate-level exclude each other", USAGE)
        check_level(level)
        if template.count("{{") != template.count("}}"):
            raise CliError(f"invalid image reference template: {template}: a placeholder is not closed", USAGE)
        return cls(kinds, template, "all" if migrate else level)


def render(references: Iterable[str], rendering: Rendering) -> Config:
    """The documents of all references, in their order. CliError names the reference that cannot be rendered."""
    whole = Config()
    for reference in references:
        with _named(reference), opened(reference, rendering.kinds) as found:
            config = _config(found, rendering)
        arrange(config)
        try:
            migrate(config, rendering.level)
        except MisfitError as error:
            raise CliError(f"migrate: {error}", NEGATIVE) from error
        whole.extend(config)
    return whole


def render_bundle(reference: str, rendering: Rendering) -> list[Rendered]:
    """The bundle that an image (or a folder) holds, as templates want it."""
    config = render((reference,), replace(rendering, kinds=BUNDLES, level=""))
    csvs = [csv_of(bundle) for bundle in config.bundles]
    migrate(config, rendering.level)
    return [Rendered(bundle, csv) for bundle, csv in zip(config.bundles, csvs, strict=True)]


def _config(found: Found, rendering: Rendering) -> Config:
    if found.kind in CATALOGS:
        return found.config()
    return Config(bundles=[_bundle(found, rendering.template)])


def _bundle(found: Found, template: str) -> Mapping[str, object]:
    bundle = Source(found.reference, found.path).parsed()
    for warning in bundle.warnings:
        sys.stderr.write(f"# {warning}\n")
    try:
        return blob(bundle, found.image or (image_from(template, bundle) if template else ""))
    except ImageTemplateError as error:
        what = f'failed templating image reference from bundle for "{found.reference}"'
        raise CliError(f"{what}: {error}", USAGE) from error


@contextmanager
def _named(reference: str) -> Iterator[None]:
    try:
        yield
    except CliError as error:
        error.args = (f'render reference "{reference}": {error}',)
        raise


@contextmanager
def opened(reference: str, kinds: frozenset[Kind] = CATALOGS) -> Iterator[Found]:
    """What a reference leads to. NotAllowed when it is of another kind; CliError when it cannot be had."""
    if reference == STDIN:
        with stdin() as found:
            yield _allowed(Found(Kind.CATALOG, reference, found.path), kinds)
        return
    with cli_errors(reference):
        image = image_named_by(reference)
    if image:
        yield from _pulled(reference, image, kinds)
    else:
        path = Path(reference)
        is_bundle = (path / "manifests").is_dir() and (path / "metadata").is_dir()
        yield _allowed(Found(Kind.BUNDLE if is_bundle else Kind.CATALOG, reference, path), kinds)


def _pulled(reference: str, name: str, kinds: frozenset[Kind]) -> Iterator[Found]:
    from shared.adapters.images import OciError, unpacked

    try:
        with unpacked(name) as image:
            if image.catalog is not None:
                yield _allowed(Found(Kind.CATALOG_IMAGE, reference, image.catalog), kinds)
            elif image.is_bundle:
                public = "" if name.startswith(LOCAL_PREFIXES) else reference
                yield _allowed(Found(Kind.BUNDLE_IMAGE, reference, image.path, public), kinds)
            elif image.is_database:
                what = "sqlite-based index images are no longer supported, migrate to a file-based catalog"
                raise NotAllowed(f'render "{reference}": {what}: not allowed', USAGE)
            else:
                labels = "".join(f"\n  {key}={value}" for key, value in sorted(image.labels.items()))
                why = f"found labels{labels}" if labels else "image has no labels"
                separator = ", " if labels else ": "
                what = f"image type could not be determined{separator}{why}"
                raise CliError(f'render "{reference}": {what}', NEGATIVE)
    except OciError as error:
        raise CliError(f'failed to pull image "{reference}": {error}', UNKNOWN) from error


def _allowed(found: Found, kinds: frozenset[Kind]) -> Found:
    if found.kind in kinds:
        return found
    name = f' "{found.reference}"' if found.kind is Kind.BUNDLE else ""
    raise NotAllowed(f"cannot render {found.kind.value}{name}: not allowed", USAGE)


def write(config: Config, form: str) -> None:
    """Print a catalog. CliError when a document belongs to no package."""
    try:
        for document in written(config, form):
            sys.stdout.buffer.write(document)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever read has read enough
    except OSError as error:
        raise CliError(f"cannot write to stdout: {error.strerror}", UNKNOWN) from error


def written(config: Config, form: str) -> Iterator[bytes]:
    """The documents of a catalog as text. CliError when one of them belongs to no package."""
    try:
        yield from stream(config, Form(form))
    except Unwritable as error:
        raise CliError(str(error), NEGATIVE) from error
    except RecursionError as error:
        raise CliError("a document is nested too deeply to be written", NEGATIVE) from error


def check_form(output: str, forms: tuple[str, ...] = ("json", "yaml")) -> None:
    """CliError when a catalog cannot be printed like this."""
    if output not in forms:
        raise CliError(f'invalid --output value "{output}", expected ({"|".join(forms)})', USAGE)


def check_level(level: str) -> None:
    """CliError when there is no such migration."""
    try:
        migration.check_level(level)
    except migration.UnknownLevel as error:
        raise CliError(str(error), USAGE) from error
