"""What a package will become: `upgrades` and `versions`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import OutputOption, TextOption, document, show
from eventing.cli.packages import PackageArgument
from eventing.cli.target import KubeconfigOption, StateOption

if TYPE_CHECKING:
    from eventing.cli.given import Where
    from shared.domain.catalog.model import Package
    from shared.domain.resolver.explain.hops import Way
    from shared.domain.resolver.model import CatalogKey, Shelf

    Home = tuple[dict[CatalogKey, Shelf], CatalogKey, Package]

CatalogOption = Annotated[
    list[str] | None,
    typer.Option("--catalog", metavar="[NAME=]PATH|IMAGE", help="Repeatable; without it the catalogs of the cluster."),
]
VERSIONS = ("version", "name", "channels", "note")
_NEWEST = 5


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (upgrades, versions):
        app.command()(verb)


def upgrades(
    package: PackageArgument,
    start: Annotated[str, typer.Option("--from", metavar="VERSION", help="The installed version, or its CSV.")],
    catalog: CatalogOption = None,
    channel: Annotated[str, typer.Option(help="The channel that is followed; empty: the default one.")] = "",
    *,
    output: TextOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say which way a package goes from a version, hop by hop, and why no further.

    Exit code 0: told; 1: something is unsatisfiable, or the channel lacks the version and leads nowhere from it.
    """
    from dataclasses import asdict

    found = way_of(home(package, catalog, (state, kubeconfig)), package, start, channel)
    if output == "text":
        sys.stdout.write("".join(f"{line}\n" for line in told(found)))
    else:
        document(asdict(found), output)
    if found.findings or (found.end and found.end.dead_end):
        raise typer.Exit(NEGATIVE)


def way_of(found_at: Home, package: str, start: str, channel: str) -> Way:
    """The way of a package in the first catalog that has it. CliError."""
    from shared.domain.resolver.explain.hops import way
    from shared.domain.resolver.model import Catalog, Inputs, Subscriber
    from shared.domain.resolver.operators import installed_as

    shelves, key, found = found_at
    channel = channel or found.default_channel
    offered = [one for group in shelves[key].operators(package, key).values() for one in group]
    mine = [one for one in offered if start in (one.name, str(one.version), one.bundle.version if one.bundle else "")]
    if not mine:
        raise CliError(f"{package} has no version {start}; `olmf versions {package}` lists them", NEGATIVE)
    if channel not in {one.name for one in found.channels}:
        there = ", ".join(sorted(one.name for one in found.channels))
        raise CliError(f"{package} has no channel {channel}; there are {there}", NEGATIVE)
    subscriber = Subscriber(package, package, channel, key, installed_csv=mine[0].name)
    catalogs = {key: Catalog(key, reference="as given") for key in shelves}
    return way(Inputs("default", (subscriber,), (installed_as(mine[0], package),), catalogs=catalogs, shelves=shelves))


def told(found: Way) -> Iterator[str]:
    """The way as text."""
    for finding in found.findings:
        yield from finding.summary
    if found.end and not found.hops:
        yield f"{found.end.installed} stays: {found.end.dead_end or f'nothing in channel {found.channel} updates it'}"
    for hop in found.hops:
        also = f", with {', '.join(hop.also)}" if hop.also else ""
        yield f"{hop.origin} -> {hop.to} (channel {hop.channel}): it {hop.why}{also}"
    for each in found.end.newer[:_NEWEST] if found.end and not found.end.dead_end else ():
        yield f"  not {each.name}: {each.code}: {each.sentence}"


def versions(
    package: PackageArgument,
    catalog: CatalogOption = None,
    *,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List the versions of a package, newest first, with the channels that offer them."""
    from shared.domain.catalog.graph import defect
    from shared.domain.semver import InvalidVersion, Version, parse_tolerant

    def rank(text: str) -> tuple[bool, Version]:
        try:
            return True, parse_tolerant(text)
        except InvalidVersion:
            return False, parse_tolerant("0")

    _, _, found = home(package, catalog, (state, kubeconfig))
    entries = {channel.name: {one.name for one in channel.entries} for channel in found.channels}
    broken = {channel.name: why for channel in found.channels if (why := defect(channel))}
    rows: list[dict[str, object]] = []
    for bundle in sorted(found.bundles.values(), key=lambda one: (rank(one.version), one.name), reverse=True):
        channels = [name for name in sorted(entries) if bundle.name in entries[name]]
        is_deprecated = any(one.type == "olm.deprecated" for one in bundle.properties)
        notice = "deprecated" if is_deprecated else found.deprecations.get(f"bundle/{bundle.name}", "")
        flaws = [f"channel {name} is broken: {broken[name]}" for name in channels if name in broken]
        listed = ", ".join(channels) if output == "table" else channels
        note = "; ".join(filter(None, [notice, *flaws]))
        rows.append({"version": bundle.version, "name": bundle.name, "channels": listed, "note": note})
    show(rows, output, columns=VERSIONS)


def home(package: str, words: list[str] | None, where: Where) -> Home:
    """All catalogs, named or of the cluster, and the first that has the package. CliError."""
    from eventing.cli.given import check_unread, named, of_cluster

    shelves = named(words) if words else of_cluster(where)
    for key, shelf in shelves.items():
        if (found := shelf.package(package)) is not None:
            return shelves, key, found
    problems = "; ".join(filter(None, (shelf.problem(package) for shelf in shelves.values())))
    if not words and not problems:
        check_unread(where, package)
    raise CliError(f"no catalog has package {package}{f': {problems}' if problems else ''}", NEGATIVE)
