"""`olmf extension adopt`: moves the operator of a Subscription to a ClusterExtension while it runs on."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from eventing.cli.extension.cluster import content_of_cluster
from eventing.cli.extension.live_plan import files_of
from eventing.cli.extension.report import Report, as_text
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import print_lines
from eventing.cli.requests.adoption import AdoptionRequest, adopt, forecast
from eventing.cli.requests.request import PackageError
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from shared.kinds import SUBSCRIPTION


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command("adopt")(adopt_verb)


def adopt_verb(
    name: Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="The Subscription of the operator.")],
    namespace: NamespaceOption = "",
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; otherwise only say what would be done.")] = False,
    catalog: Annotated[str, typer.Option(help="The only ClusterCatalog that the extension may ask.")] = "",
    bundle: Annotated[str, typer.Option(help="Content of the bundle; otherwise its image is pulled.")] = "",
    timeout: Annotated[int, typer.Option(min=1, help="Seconds to wait.")] = 120,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Move the operator of a Subscription to a ClusterExtension; its objects stay, and no pod is restarted.

    Exit code 0: it is moved, or could be; 1: it cannot be moved as it is, and why. One that was interrupted is carried
    on by the same command.
    """
    target = choose(state, kubeconfig)
    cluster = target.cluster()
    place = namespace or target.namespace
    ref = SUBSCRIPTION.ref(name.rpartition("/")[2], place)
    request = AdoptionRequest(ref, content_of_cluster(cluster), lambda image: files_of(bundle, image), catalog)
    try:
        if apply:
            for line in adopt(cluster, request, timedelta(seconds=timeout)):
                print_lines(line)
            return
        found = forecast(cluster, request)
    except PackageError as error:
        raise CliError(str(error), NEGATIVE) from error
    report = Report((), found.changes, blockers=found.blockers, remarks=found.remarks)
    print_lines(as_text(report).rstrip())
    if found.blockers:
        raise typer.Exit(NEGATIVE)
