"""The verbs of `olmf bundle`: one module each, with a `register`."""

from __future__ import annotations

import typer

from eventing.cli.bundle import build, images, plan, rbac, render, unpack, validate

MODULES = (validate, render, images, plan, rbac, unpack, build)
"""Every module beside this one that adds a verb, in the order of `olmf bundle --help`."""


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="bundle", help="Bundles: check, render, unpack, build.", no_args_is_help=True)
    for module in MODULES:
        module.register(group)
    app.add_typer(group)
