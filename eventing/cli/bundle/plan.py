"""`olmf bundle plan`: what installing a bundle creates, in order, before anything is created."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.inputs.bundle import BundleArgument, opened
from eventing.cli.inputs.pulling import pulling
from eventing.cli.names import checked_namespace
from eventing.cli.output import OutputOption, show
from shared.domain.authoring.bundles.install import Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle, ParsedBundle
from shared.domain.bundle.parse import parse_documents
from shared.domain.bundle.properties import properties
from shared.domain.bundle.reading import MANIFESTS, METADATA, documents
from shared.domain.bundle.shape import as_object

if TYPE_CHECKING:
    from shared.domain.bundle.reading import Documents

COLUMNS = ("kind", "group", "version", "name")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(plan))


def plan(
    bundle: BundleArgument,
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", callback=checked_namespace, help="Where it would be installed.")
    ] = "default",
    replaces: Annotated[
        str | None, typer.Option(help="The version that it replaces; default: from its ClusterServiceVersion.")
    ] = None,
    output: OutputOption = "table",
) -> None:
    """List the objects that installing a bundle creates: with OLM's names, in OLM's order."""
    with opened(bundle) as source:
        files = source.files()
    manifests = documents(files, MANIFESTS)
    target = _target(manifests, documents(files, METADATA), namespace, replaces)
    found = install_steps(manifests, target, source.name)
    if isinstance(found, BadBundle):
        raise CliError(found.message, NEGATIVE)
    for one in found.passed:
        sys.stderr.write(f"# {one}\n")
    if found.served:
        sys.stderr.write(
            "# not in the InstallPlan: what its webhooks and aggregated APIs need, with fresh certificates\n"
        )
    show([asdict(step) for step in (*found.steps, *found.served)], output, columns=COLUMNS)


def _target(manifests: Documents, metadata: Documents, namespace: str, replaces: str | None) -> Target:
    """Where it goes, with what its catalog would say about it: what it says itself."""
    found = parse_documents(manifests, metadata, "")
    if not isinstance(found, ParsedBundle):
        return Target(namespace, replaces or "")
    replaced = as_object(found.csv.get("spec")).get("replaces") if replaces is None else replaces
    return Target(namespace, str(replaced or ""), properties_annotation(properties(found)))
