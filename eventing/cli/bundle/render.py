"""`olmf bundle render`: a bundle as it stands in a file-based catalog."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from eventing.cli.bundle.source import Source, opened
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from shared.domain.bundle.annotations import PACKAGE

LEVELS = ("none", "bundle-object-to-csv-metadata", "all")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(render)


def render(
    bundles: Annotated[list[str], typer.Argument(metavar="DIR|IMAGE...", help="Folders or images of bundles.")],
    output: Annotated[str, typer.Option("-o", "--output", help="json or yaml.")] = "json",
    *,
    migrate: Annotated[bool, typer.Option("--migrate", help="Describe versions instead of embedding files.")] = False,
    migrate_level: Annotated[str, typer.Option(help=f"One of {', '.join(LEVELS)}.")] = "",
    image_template: Annotated[
        str, typer.Option("--image-ref-template", "--alpha-image-ref-template",
                          help="Image of a folder, e.g. quay.io/acme/{{.Package}}:v{{.Version}}.")
    ] = "",
) -> None:  # fmt: skip
    """Print the olm.bundle of each bundle, as `opm render` does."""
    if output not in ("json", "yaml"):
        raise CliError(f'invalid --output value "{output}", expected (json|yaml)', USAGE)
    if migrate and migrate_level:
        raise CliError("--migrate and --migrate-level exclude each other", USAGE)
    if migrate_level and migrate_level not in LEVELS:
        raise CliError(f'unknown migration level "{migrate_level}"', USAGE)
    is_migrated = migrate or migrate_level in LEVELS[1:]
    blobs = []
    for reference in bundles:
        with opened(reference) as source:
            blobs.append(_blob(source, image_template, is_migrated=is_migrated))
    for blob in blobs:
        _write(blob, output)


def _blob(source: Source, template: str, *, is_migrated: bool) -> dict[str, Any]:
    from shared.domain.bundle.render import TemplateError, blob, image_from
    from shared.domain.bundle.typed import MistypedError

    where = f'render reference "{source.name}"'
    if source.labels is not None and PACKAGE not in source.labels:
        raise CliError(f'{where}: render "{source.name}": {_undetermined(source.labels)}', NEGATIVE)
    parsed = source.parsed()
    for warning in parsed.warnings:
        sys.stderr.write(f"# {warning}\n")
    try:
        image = source.image or (image_from(template, parsed) if template else "")
        return blob(parsed, image, is_migrated=is_migrated)
    except TemplateError as error:
        what = f'failed templating image reference from bundle for "{source.name}"'
        raise CliError(f"{where}: {what}: {error}", USAGE) from error
    except MistypedError as error:
        raise CliError(f"{where}: {error}", NEGATIVE) from error


def _undetermined(labels: Mapping[str, str]) -> str:
    found = "".join(f"\n  {key}={labels[key]}" for key in sorted(labels))
    return f"image type could not be determined{f', found labels{found}' if labels else ': image has no labels'}"


def _write(blob: dict[str, Any], output: str) -> None:
    if output == "json":
        sys.stdout.write(json.dumps(blob, indent=4, ensure_ascii=False) + "\n")
        return
    import yaml

    sys.stdout.write("---\n" + yaml.safe_dump(blob, allow_unicode=True, width=2**31))
