"""`olmf graph`: the update graph of a package, wherever it is offered; or the flow of this program."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.catalog.graph import FORMS, drawing_of, drawn
from eventing.cli.catalog.source import check_form
from eventing.cli.commands import quoted
from eventing.cli.failure import USAGE, CliError
from eventing.cli.offers import CatalogOption, PackageRequest, SourceOption, offer_of
from eventing.cli.output import document
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from eventing.deploy.flow_chart import mermaid as flow_chart
from shared.domain.authoring.pictures.drawing import GraphOptions, documents_of
from shared.domain.catalog.graph import heads
from shared.domain.command import olmf

if TYPE_CHECKING:
    from shared.domain.authoring.pictures.drawing import DrawnChannel
    from shared.domain.catalog.model import Package


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(graph)


def graph(
    package: Annotated[
        str, typer.Argument(metavar="[PACKAGE]", help="Name of the package, as its catalog spells it.")
    ] = "",
    catalog: CatalogOption = None,
    source: SourceOption = "",
    namespace: NamespaceOption = "",
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", help="mermaid, dot, svg; json: nodes and edges of each channel.")
    ] = "",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As -o mermaid, which is the default.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="As -o svg: a picture that a browser shows.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As -o json.")] = False,
    flow: Annotated[bool, typer.Option("--flow", help="In place of a package: which event wakes which step.")] = False,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Draw the update graph of a package: who replaces or skips whom in each channel, and what is never installed."""
    form = _form(output, mermaid=mermaid, svg=svg, json=json)
    if bool(package) == flow:
        raise CliError(
            f"name what to draw: {quoted(olmf('graph', 'PACKAGE'))} or {quoted(olmf('graph', '--flow'))}", USAGE
        )
    if flow:
        sys.stdout.write(flow_chart())
        return
    offer = offer_of(PackageRequest(package, catalog, source, namespace, (state, kubeconfig)))
    if form == "json":
        document({"catalog": str(offer.catalog), **as_json(offer.package)}, form)
    else:
        sys.stdout.write(picture(offer.package, form))


def _form(output: str, **flags: bool) -> str:
    """What the flags ask for together. CliError."""
    desired = {name for name, is_set in {**flags, output: bool(output)}.items() if is_set} or {"mermaid"}
    if len(desired) > 1:
        raise CliError("graph: wanted one of -o, --mermaid, --svg and --json", USAGE)
    (form,) = desired
    check_form(form, (*FORMS, "json"))
    return form


def picture(package: Package, form: str) -> str:
    """The graph in a language of `olmf catalog graph`. CliError."""
    return drawn(documents_of(package), GraphOptions(package.name), form)


def as_json(package: Package) -> dict[str, object]:
    """The graph for programs: what the picture shows, with versions and heads. CliError."""
    found = drawing_of(documents_of(package), GraphOptions(package.name)).packages
    return {
        "package": package.name,
        "defaultChannel": package.default_channel,
        "deprecated": any(one.is_deprecated for one in found),
        "channels": [_channel(channel, package) for one in found for channel in one.channels],
    }


def _channel(drawn: DrawnChannel, package: Package) -> dict[str, object]:
    channel = next(one for one in package.channels if one.name == drawn.name)
    return {
        "name": drawn.name,
        "heads": [entry.name for entry in heads(channel)],
        "deprecated": drawn.is_deprecated,
        "nodes": [
            {
                "name": node.name,
                "version": package.bundles[node.name].version if node.name in package.bundles else "",
                "deprecated": node.is_deprecated,
                "skipped": node.is_skipped,
            }
            for node in drawn.nodes
        ],
        "edges": [
            {"from": link.source, "to": node.name, "kind": link.kind, "label": link.label}
            for node in drawn.nodes
            for link in node.links
        ],
    }
