"""`olmf bundle`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import LongVerbs


class _Bundle(LongVerbs):
    modules: ClassVar = {
        "eventing.cli.bundle.validate": {
            "validate": "Judge bundles one by one; the exit code is 0 when none has an error.",
        },
        "eventing.cli.bundle.render": {
            "render": "Print the olm.bundle of each bundle; `olmf catalog render` takes catalogs, too.",
        },
        "eventing.cli.bundle.images": {
            "images": "List the images that a bundle relates, runs, and is.",
        },
        "eventing.cli.bundle.plan": {
            "plan": "List the objects that installing a bundle creates: with OLM's names, in OLM's order.",
        },
        "eventing.cli.bundle.rbac": {
            "rbac": "Print the Roles and the ClusterRole that suffice to install, watch, change and remove a bundle.",
        },
        "eventing.cli.bundle.unpack": {
            "unpack": "Write everything that a bundle image holds to a folder, after checking that it is a bundle.",
        },
        "eventing.cli.bundle.build": {
            "build": (
                "Make the image of a bundle: the same files give the same bytes, wherever and whenever it is built."
            ),
        },
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "Bundles: check, render, unpack, build."
    app.add_typer(typer.Typer(name="bundle", cls=_Bundle, help=words, no_args_is_help=True))
