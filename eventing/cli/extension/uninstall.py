"""`olmf extension uninstall`: takes a ClusterExtension away, and proves that nothing of it is left."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import print_lines
from eventing.cli.requests.extension_removal import remove_extension
from eventing.cli.requests.request import PackageError
from eventing.cli.target import KubeconfigOption, StateOption, choose


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(uninstall)


def uninstall(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ClusterExtension.")],
    *,
    delete_objects: Annotated[
        bool, typer.Option("--delete-objects", help="Also when definitions go with their objects, or nobody can tell.")
    ] = False,
    timeout: Annotated[int, typer.Option(min=0, help="Seconds to wait; 0 returns at once.")] = 60,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Delete a ClusterExtension, wait until every object of it is gone, and say what stays and why.

    Exit code 0: nothing of it is left; 1: something is, or its definitions have objects, or may have some that
    you may not read, and nobody said that they may go.
    """
    cluster = choose(state, kubeconfig).cluster()
    limit = timedelta(seconds=timeout)
    try:
        for line in remove_extension(cluster, name.rpartition("/")[2], timeout=limit, with_objects=delete_objects):
            print_lines(line)
    except PackageError as error:
        raise CliError(str(error), NEGATIVE) from error
