"""`olmf catalog`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import LongVerbs


class _Catalog(LongVerbs):
    modules: ClassVar = {
        "eventing.cli.catalog.validate": ("validate",),
        "eventing.cli.catalog.render": ("render",),
        "eventing.cli.catalog.listing": ("list", "head"),
        "eventing.cli.catalog.graph": ("graph",),
        "eventing.cli.catalog.init": ("init",),
        "eventing.cli.catalog.template": ("template",),
        "eventing.cli.catalog.migrate": ("migrate",),
        "eventing.cli.catalog.lint": ("lint",),
        "eventing.cli.catalog.diff": ("diff",),
        "eventing.cli.catalog.build": ("build",),
        "eventing.cli.catalog.serve": ("serve",),
        "eventing.cli.catalog.cache": ("cache",),
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "File-based catalogs: check, compare, list, serve."
    app.add_typer(typer.Typer(name="catalog", cls=_Catalog, help=words, no_args_is_help=True))
