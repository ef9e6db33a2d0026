"""The verbs of `olmf catalog`: one module each, with a `register`."""

from __future__ import annotations

import typer

from eventing.cli.catalog import (
    build,
    cache,
    diff,
    graph,
    init,
    lint,
    listing,
    migrate,
    render,
    serve,
    template,
    validate,
)

MODULES = (validate, render, listing, graph, init, template, migrate, lint, diff, build, serve, cache)
"""Every module beside this one that adds verbs, in the order of `olmf catalog --help`."""


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="catalog", help="File-based catalogs: check, compare, list, serve.", no_args_is_help=True)
    for module in MODULES:
        module.register(group)
    app.add_typer(group)
