"""`olmf extension release`: moves what a ClusterExtension installed back to a Subscription while it runs on."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from eventing.cli.extension.cluster import content_of_cluster
from eventing.cli.extension.report import Report, as_text
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import print_lines
from eventing.cli.requests.releasing import ReleaseRequest, forecast, release
from eventing.cli.requests.request import PackageError
from eventing.cli.target import KubeconfigOption, StateOption, choose


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command("release")(release_verb)


def release_verb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ClusterExtension.")],
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; otherwise only say what would be done.")] = False,
    source: Annotated[
        str, typer.Option(help="CatalogSource, namespace/name; otherwise the only one that has it.")
    ] = "",
    restart_pods: Annotated[bool, typer.Option("--restart-pods", help="Also when pods have to be restarted.")] = False,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds to wait.")] = 120,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Move what a ClusterExtension installed back to a Subscription, which is pinned to what runs; its objects stay.

    Exit code 0: it is moved, or could be; 1: it cannot be moved as it is, and why. One that was interrupted is carried
    on by the same command.
    """
    cluster = choose(state, kubeconfig).cluster()
    request = ReleaseRequest(name.rpartition("/")[2], source, may_restart=restart_pods)
    place = content_of_cluster(cluster).policy.global_namespace
    try:
        if apply:
            for line in release(cluster, request, timedelta(seconds=timeout), place):
                print_lines(line)
            return
        found = forecast(cluster, request, place)
    except PackageError as error:
        raise CliError(str(error), NEGATIVE) from error
    print_lines(as_text(Report((), found.changes, blockers=found.blockers, remarks=found.remarks)).rstrip())
    if found.blockers:
        raise typer.Exit(NEGATIVE)
