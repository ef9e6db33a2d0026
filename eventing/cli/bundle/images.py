"""`olmf bundle images`: every image that a bundle needs."""

from __future__ import annotations

import typer

from eventing.cli.inputs.bundle import BundleArgument, opened
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import OutputOption, show
from shared.domain.authoring.bundles.images import related_images


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(images))


def images(
    bundle: BundleArgument,
    output: OutputOption = "table",
) -> None:
    """List the images that a bundle relates, runs, and is."""
    with opened(bundle) as source:
        found = related_images(source.parsed().csv, source.image)
    show(found, output, columns=("image", "name"))
