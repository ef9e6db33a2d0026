"""`olmf extension ls`: the ClusterExtensions of a cluster, what they run, and what they wait for."""

from __future__ import annotations

import typer

from eventing.cli.output import OutputOption, print_lines, show
from eventing.cli.target import KubeconfigOption, StateOption, choose
from shared import kinds
from shared.api import fields
from shared.api.views import ClusterExtension

_COLUMNS = ("name", "namespace", "package", "version", "installed", "available", "progressing", "message")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(ls)


def ls(
    output: OutputOption = "table",
    *,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List the ClusterExtensions of a cluster: what they run, and what they wait for."""
    found = ClusterExtension.each(choose(state, kubeconfig).cluster().list(kinds.CLUSTER_EXTENSION))
    if found or output != "table":
        show(list(map(row_of, found)), output, columns=_COLUMNS)
    else:
        print_lines("no ClusterExtension yet")


def row_of(extension: ClusterExtension) -> dict[str, object]:
    """One extension: what it runs, the reason of each condition, and why it is not as it should be."""
    installed, available, progressing = (
        extension.condition(kind) for kind in ("Installed", "Available", "Progressing")
    )  # fmt: skip
    troubled = available if progressing.reason == "Succeeded" and available.status == "False" else progressing
    is_settled = troubled.reason == "Succeeded"
    return {
        "name": extension.name,
        "namespace": extension.install_namespace,
        "package": fields.text(extension.source, "packageName"),
        "bundle": fields.text(extension.status, "install", "bundle", "name"),
        "version": fields.text(extension.status, "install", "bundle", "version"),
        "installed": installed.status,
        "available": available.reason,
        "progressing": progressing.reason,
        "message": "" if is_settled else troubled.message,
    }
