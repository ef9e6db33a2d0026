"""OLM v1's decisions without a cluster: `extension …`."""

from __future__ import annotations

import typer

from eventing.cli.extension import blockers, plan, render, resolve


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="extension", help="What OLM v1 would do with a ClusterExtension.", no_args_is_help=True)
    for module in (resolve, plan, render, blockers):
        module.register(group)
    app.add_typer(group)
