"""`olmf catalog`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import LongVerbs


class _Catalog(LongVerbs):
    modules: ClassVar = {
        "eventing.cli.catalog.validate": {
            "validate": "Judge catalogs one by one; the exit code is 0 when all of them are valid.",
        },
        "eventing.cli.catalog.render": {
            "render": (
                "Print the documents of catalogs and bundles, in the order that `opm render` gives them. Nothing "
                "is validated."
            ),
        },
        "eventing.cli.catalog.listing": {
            "list": "Packages, channels or bundles of a catalog.",
            "head": "Print the bundle that a channel leads to.",
        },
        "eventing.cli.catalog.graph": {
            "graph": "Draw the update graph of catalogs. Nothing is validated.",
        },
        "eventing.cli.catalog.init": {
            "init": "Print the olm.package of a new package.",
        },
        "eventing.cli.catalog.template": {
            "template": "Catalogs from templates: basic, semver, substitutes, composite.",
        },
        "eventing.cli.catalog.migrate": {
            "migrate": "Write a catalog as <package>/catalog.<form>, after the migrations that are asked for.",
        },
        "eventing.cli.catalog.lint": {
            "lint": (
                "Tell what will hurt: unreachable heads, jumps, deprecated defaults, loose images, large or "
                "dropped content."
            ),
        },
        "eventing.cli.catalog.diff": {
            "diff": "Compare two catalogs; the exit code is 1 when somebody loses something or is stuck.",
        },
        "eventing.cli.catalog.build": {
            "build": (
                "Build the image of a catalog and push or save it; the same files give the same image. Prints it "
                "by digest."
            ),
        },
        "eventing.cli.catalog.serve": {
            "serve": "Serve a catalog over gRPC; broken packages are named on stderr, and the others are served.",
        },
        "eventing.cli.catalog.cluster": {
            "ls": "List the ClusterCatalogs of a cluster: what they serve, since when, and what is wrong.",
            "refresh": "Look up the image of a ClusterCatalog now, instead of at its next poll.",
        },
        "eventing.cli.catalog.cache": {
            "cache": "Indexed catalogs on this machine.",
        },
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "File-based catalogs: check, compare, list, serve; ClusterCatalogs of a cluster: ls, refresh."
    app.add_typer(typer.Typer(name="catalog", cls=_Catalog, help=words, no_args_is_help=True))
