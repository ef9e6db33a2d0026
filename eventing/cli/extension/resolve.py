"""`olmf extension resolve`: which bundle a ClusterExtension gets, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.extension.files import (
    CatalogOption,
    ExtensionFiles,
    FileOption,
    GatesOption,
    InstalledOption,
    catalogs,
    gates_of,
    installed_of,
    read_files,
    source_of,
)
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.inputs.pulling import pulling
from eventing.cli.lines import answer_requests
from eventing.cli.output import TextOption, document
from shared.domain.extension import resolve as rules
from shared.domain.extension.request import RELEASES, request_of, response_to, shown
from shared.domain.extension.trace import sentences
from shared.domain.shape import InvalidRequest

if TYPE_CHECKING:
    from shared.domain.extension.model import Resolution


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(resolve))


def resolve(
    *,
    file: FileOption = None,
    catalog: CatalogOption = None,
    installed: InstalledOption = "",
    feature_gates: GatesOption = "",
    output: TextOption = "text",
    batch: Annotated[
        bool, typer.Option("--batch", help="Read requests from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Say which bundle a ClusterExtension gets, and which rule removed each of the others.

    Exit code 0: a bundle; 1: none. With --batch a line is {"id", "gates": {NAME: bool}, "catalogs": [{"name",
    "priority", "labels", "availabilityMode"?, "state"?, "fbc": […]}…], "extension": {"packageName", …}, "installed":
    null or {"name", "version", "release"?}}, its answer {"id", "bundle", "version", …, "trace": […]} or {"id", "error",
    "trace"}.
    """
    if batch:
        answer_requests(response_to)
        return
    resolution, trace = resolved(read_files(file), catalog, installed, feature_gates)
    if output == "text":
        sys.stdout.write("".join(f"{line}\n" for line in trace))
    else:
        document(_shown(resolution, feature_gates), output)
    if resolution.bundle is None:
        raise typer.Exit(NEGATIVE)


def resolved(
    files: ExtensionFiles, words: Sequence[str] | None, installed: str, feature_gates: str
) -> tuple[Resolution, tuple[str, ...]]:
    """The answer for the extension, and its reasons as sentences. CliError when it cannot be found out."""
    extension = files.extension
    if not words:
        raise CliError("name the catalogs: --catalog PATH|IMAGE", USAGE)
    try:
        request = request_of(source_of(extension), "spec.source.catalog")
    except InvalidRequest as error:
        raise CliError(f"-f: {error}", USAGE) from error
    present = installed_of(extension, installed)
    views = catalogs(words, files.catalogs, request.package, has_releases=_has_releases(feature_gates))
    resolution = rules.resolve(request, present, views)
    return resolution, (*_heading(resolution), *sentences(resolution, request, present))


def _heading(resolution: Resolution) -> list[str]:
    if resolution.bundle is None:
        return []
    version = resolution.bundle.identity.version if resolution.bundle.identity else ""
    return [f"{resolution.bundle.name}, version {version}, image {resolution.bundle.image or 'unknown'}", ""]


def _has_releases(feature_gates: str) -> bool:
    return gates_of(feature_gates).get(RELEASES, False)


def _shown(resolution: Resolution, feature_gates: str) -> dict[str, Any]:
    return shown(resolution, has_releases=_has_releases(feature_gates))
