"""`olmf bundle`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import LongVerbs


class _Bundle(LongVerbs):
    modules: ClassVar = {
        "eventing.cli.bundle.validate": ("validate",),
        "eventing.cli.bundle.render": ("render",),
        "eventing.cli.bundle.images": ("images",),
        "eventing.cli.bundle.plan": ("plan",),
        "eventing.cli.bundle.rbac": ("rbac",),
        "eventing.cli.bundle.unpack": ("unpack",),
        "eventing.cli.bundle.build": ("build",),
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "Bundles: check, render, unpack, build."
    app.add_typer(typer.Typer(name="bundle", cls=_Bundle, help=words, no_args_is_help=True))
