"""`olmf extension`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import Verbs


class _Extension(Verbs):
    modules: ClassVar = {
        "eventing.cli.extension.resolve": ("resolve",),
        "eventing.cli.extension.plan": ("plan",),
        "eventing.cli.extension.render": ("render",),
        "eventing.cli.extension.blockers": ("blockers",),
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "What OLM v1 would do with a ClusterExtension."
    app.add_typer(typer.Typer(name="extension", cls=_Extension, help=words, no_args_is_help=True))
