"""`olmf catalog list` and `head`: what a valid catalog offers, as tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.catalog.cache import default_store
from eventing.cli.catalog.source import STDIN, CatalogArgument, Found, NotAllowed, check_form, opened
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.inputs.bundle_folders import bundles_only
from eventing.cli.inputs.pulling import is_lax, pulling
from eventing.cli.names import similar
from eventing.cli.output import document, heading
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.validated import config_of, is_valid, remember
from shared.adapters.files import File
from shared.adapters.judging import judge_files
from shared.adapters.oci.errors import OciError
from shared.domain.authoring import listing as tables
from shared.domain.authoring.listing import UnknownPackage
from shared.domain.catalog.documents import NotACatalog

if TYPE_CHECKING:
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.content.store import Store
    from shared.adapters.content.validated import Listing
    from shared.domain.catalog.config import Config

PackageArgument = Annotated[str, typer.Argument(metavar="[PACKAGE]", help="Only this package.", show_default=False)]
TableOption = Annotated[str, typer.Option("-o", "--output", help="table, json or yaml.")]
FORMS = ("table", "json", "yaml")
_PACKAGES = ("name", "displayName", "defaultChannel")
_CHANNELS = ("package", "channel", "head")
_BUNDLES = ("package", "channel", "bundle", "replaces", "skips", "skipRange", "image")


def register(group: typer.Typer) -> None:
    """Add the verbs."""
    below = typer.Typer(name="list", help="Packages, channels or bundles of a catalog.", no_args_is_help=True)
    below.command("packages")(pulling(packages))
    below.command("channels")(pulling(channels))
    below.command("bundles")(pulling(bundles))
    group.add_typer(below)
    group.command()(pulling(head))


def packages(path: CatalogArgument, output: TableOption = "table") -> None:
    """List the packages."""
    check_form(output, FORMS)
    _show(tables.packages(_valid(path, "packages")), output, _PACKAGES)


def channels(path: CatalogArgument, package: PackageArgument = "", output: TableOption = "table") -> None:
    """List the channels and their heads."""
    check_form(output, FORMS)
    _show(_of_package(tables.channels, path, package, "channels"), output, _CHANNELS)


def bundles(path: CatalogArgument, package: PackageArgument = "", output: TableOption = "table") -> None:
    """List the bundles, once for each channel that they are in."""
    check_form(output, FORMS)
    _show(_of_package(tables.bundles, path, package, "bundles"), output, _BUNDLES)


def head(
    path: CatalogArgument,
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help="Name of the package.")],
    channel: Annotated[str, typer.Argument(metavar="[CHANNEL]", help="Else the default channel.")] = "",
) -> None:
    """Print the bundle that a channel leads to."""
    config = _valid(path, "channels")
    rows = _of_package(tables.channels, path, package, config=config)
    desired = channel or next(one["defaultChannel"] for one in config.packages if one["name"] == package)
    found = [row["head"] for row in rows if row["channel"] == desired]
    if not found:
        names = ", ".join(_cell(row["channel"]) for row in rows)
        hint = similar(desired, (_cell(row["channel"]) for row in rows))
        raise CliError(f'package "{package}" has no channel "{desired}"; it has {names}{hint}', NEGATIVE)
    sys.stdout.write(f"{_cell(found[0])}\n")


_Rows = list[dict[str, str | list[str]]]


def _of_package(
    rows: Callable[[Config, str], _Rows],
    path: str,
    package: str,
    listing: Listing = "channels",
    *,
    config: Config | None = None,
) -> _Rows:
    found = config or _valid(path, listing)
    try:
        return rows(found, package)
    except UnknownPackage as error:
        hint = similar(package, (str(one["name"]) for one in found.packages))
        raise CliError(f"{error}{hint}", NEGATIVE) from error


def _valid(path: str, listing: Listing) -> Config:
    """As much of the catalog as the list shows; it is judged once per state. CliError when it is none, or not valid."""
    store = default_store()
    snapshot = _snapshot(path, store)
    with suppress(FileNotFoundError):  # its files change just now: they are read as they are then
        if snapshot is not None and (is_valid(snapshot, store) or _is_found_valid(snapshot, store)):
            return config_of(snapshot, listing)
    return _judged(path)


def _snapshot(path: str, store: Store) -> Snapshot | None:
    """What is kept of a catalog; None where nothing can be, which is told when it is judged."""
    if path == STDIN or is_lax():
        return None
    try:
        return snapshot_at(path, store)
    except (NotACatalog, OciError, OSError):
        return None


def _is_found_valid(snapshot: Snapshot, store: Store) -> bool:
    if not judge_files([File(path, snapshot.source(path)) for path in snapshot.files]).is_valid:
        return False
    with suppress(OSError):  # a full disk is no reason not to answer
        remember(snapshot, store)
    return True


def _judged(path: str) -> Config:
    try:
        with opened(path) as found:
            _check(found)
            return found.config()
    except NotAllowed as error:
        raise CliError(f'cannot list non-index "{path}"', USAGE) from error


def _check(found: Found) -> None:
    result = judge_files(found.listed())
    if not result.is_valid:
        if hint := bundles_only(found.reference):
            raise CliError(hint, USAGE)
        raise CliError(result.text(), NEGATIVE)


def _show(rows: _Rows, output: str, columns: tuple[str, ...]) -> None:
    if output != "table":
        document(rows, output)
        return
    lines = [[heading(column) for column in columns], *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[index]) + 2 for line in lines) for index in range(len(columns) - 1)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=False))
        sys.stdout.write("".join(padded) + line[-1] + "\n")


def _cell(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ",".join(value)
