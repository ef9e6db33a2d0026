"""`olmf extension`: its verbs, each loaded when it is asked for."""

from __future__ import annotations

from typing import ClassVar

import typer

from eventing.cli.group import Verbs


class _Extension(Verbs):
    modules: ClassVar = {
        "eventing.cli.extension.resolve": {
            "resolve": "Say which bundle a ClusterExtension gets, and which rule removed each of the others.",
        },
        "eventing.cli.extension.ls": {
            "ls": "List the ClusterExtensions of a cluster: what they run, and what they wait for.",
        },
        "eventing.cli.extension.get": {
            "get": "Show one ClusterExtension: its conditions, bundle and revisions, and the objects of each.",
        },
        "eventing.cli.why_extension": {
            "why": "Tell what an extension waits for, which rule removed which bundle, and what helps.",
        },
        "eventing.cli.extension.plan": {
            "plan": (
                "Say what would be installed or changed, whether its definitions are safe, and what permissions "
                "it takes."
            ),
        },
        "eventing.cli.extension.adopt": {
            "adopt": (
                "Move the operator of a Subscription to a ClusterExtension; its objects stay, and no pod is restarted."
            ),
        },
        "eventing.cli.extension.release": {
            "release": "Move what a ClusterExtension installed back to a Subscription, "
            "which is pinned to what runs; its objects stay.",
        },
        "eventing.cli.extension.uninstall": {
            "uninstall": (
                "Delete a ClusterExtension, wait until every object of it is gone, and say what stays and why."
            ),
        },
        "eventing.cli.extension.render": {
            "render": "Print the objects of a registry+v1 bundle, in the order in which OLM v1 makes them.",
        },
        "eventing.cli.extension.blockers": {
            "blockers": "List the installed extensions that do not support the next minor version of OpenShift.",
        },
    }


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    words = "What ClusterExtensions of OLM v1 run, and what would be done with one."
    app.add_typer(typer.Typer(name="extension", cls=_Extension, help=words, no_args_is_help=True))
