"""What a package will become: `upgrades` and `versions`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import marked, quoted, values
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.offers import CatalogOption, Offer, PackageRequest, SourceOption, offer_of
from eventing.cli.output import OutputOption, TextOption, document, show
from eventing.cli.packages import PackageArgument
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from shared.domain.catalog.graph import defect
from shared.domain.command import olmf
from shared.domain.resolver.explain.hops import upgrade_path
from shared.domain.resolver.model import Catalog, Inputs, Subscriber
from shared.domain.resolver.operators import installed_as
from shared.domain.semver import InvalidVersion, Version, parse_tolerant

if TYPE_CHECKING:
    from shared.domain.resolver.explain.hops import UpgradePath

VERSIONS = ("version", "name", "channels", "note")
_NEWEST = 5


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (upgrades, versions):
        app.command()(verb)


def upgrades(
    package: PackageArgument,
    start: Annotated[str, typer.Option("--from", metavar="VERSION", help="The installed version, or its CSV.")],
    *,
    catalog: CatalogOption = None,
    channel: Annotated[str, typer.Option(help="The channel that is followed; empty: the default one.")] = "",
    source: SourceOption = "",
    namespace: NamespaceOption = "",
    output: TextOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say which way a package goes from a version, hop by hop, and why no further.

    Exit code 0: told; 1: something is unsatisfiable, or the channel lacks the version and leads nowhere from it.
    """
    offer = offer_of(PackageRequest(package, catalog, source, namespace, (state, kubeconfig)))
    found = path_of(offer, start, channel)
    if output == "text":
        sys.stdout.write("".join(f"{line}\n" for line in lines_of(found)))
    else:
        document({"catalog": str(offer.catalog), **values(found)}, output)
    if found.findings or (found.end and found.end.dead_end):
        raise typer.Exit(NEGATIVE)


def path_of(offer: Offer, start: str, channel: str) -> UpgradePath:
    """The way of a package in the catalog that answers. CliError."""
    readers, key, found, package = offer.readers, offer.catalog, offer.package, offer.package.name
    channel = channel or found.default_channel
    offered = [one for group in readers[key].operators(package, key).values() for one in group]
    mine = [one for one in offered if start in (one.name, str(one.version), one.bundle.version if one.bundle else "")]
    if not mine:
        raise CliError(f"{package} has no version {start}; {quoted(olmf('versions', package))} lists them", NEGATIVE)
    if channel not in {one.name for one in found.channels}:
        there = ", ".join(sorted(one.name for one in found.channels))
        raise CliError(f"{package} has no channel {channel}; there are {there}", NEGATIVE)
    subscriber = Subscriber(package, package, channel, key, installed_csv=mine[0].name)
    catalogs = {key: Catalog(key, reference="as given") for key in readers}
    return upgrade_path(
        Inputs("default", (subscriber,), (installed_as(mine[0], package),), catalogs=catalogs, readers=readers)
    )


def lines_of(found: UpgradePath) -> Iterator[str]:
    """The way as text."""
    for finding in found.findings:
        yield from finding.summary(marked)
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
    source: SourceOption = "",
    namespace: NamespaceOption = "",
    *,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List the versions of a package, newest first, with the channels that offer them."""

    def rank(text: str) -> tuple[bool, Version]:
        try:
            return True, parse_tolerant(text)
        except InvalidVersion:
            return False, parse_tolerant("0")

    offer = offer_of(PackageRequest(package, catalog, source, namespace, (state, kubeconfig)))
    found = offer.package
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
        row = {"version": bundle.version, "name": bundle.name, "channels": listed, "note": note}
        rows.append({**row, "catalog": str(offer.catalog)})
    show(rows, output, columns=VERSIONS)
