"""The package manager's view: `install`, `uninstall`, `upgrade`, `approve`, `hold`, `list`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.output import OutputOption, say, show
from eventing.cli.requests.channels import switch_channel
from eventing.cli.requests.follow import follow, narrowing
from eventing.cli.requests.follow import install as ask
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import approve_plan, set_hold
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, checked_namespace, choose
from eventing.diagnosis.status.listing import installed, offered

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

PackageArgument = Annotated[
    str, typer.Argument(metavar="PACKAGE", help="Name of the package, as its catalog spells it.")
]
TimeoutOption = Annotated[int, typer.Option(min=0, help="Seconds to wait; 0 returns at once.")]

INSTALLED = ("namespace", "subscription", "package", "channel", "installed", "version", "phase", "approval", "says")
OFFERED = ("package", "channel", "version", "catalog", "says")
NOTHING_INSTALLED = "nothing installed yet"
NOTHING_OFFERED = "nothing offered: no catalog was read yet, or they are empty; `kubectl get catsrc -A` tells"


def register(app: typer.Typer) -> None:
    """Add the verbs of the package manager."""
    for verb in (install, uninstall, upgrade, approve, hold):
        app.command()(verb)
    app.command("list")(list_packages)


@contextmanager
def _place(
    namespace: str, state: StateOption, kubeconfig: KubeconfigOption, *, timeout: int = 0
) -> Iterator[tuple[KubeClient, str]]:
    """The cluster and the namespace that are meant. A verb with a `timeout` waits, and says for whom."""
    target = choose(state, kubeconfig)
    if timeout and target.is_unwatched:
        sys.stderr.write(
            f"# nothing here watches the cluster: waits for events that others post to {target.endpoint}\n"
        )
    try:
        yield target.cluster(), namespace or target.namespace
    except PackageError as error:
        raise CliError(str(error), NEGATIVE) from error


def install(
    package: PackageArgument,
    namespace: NamespaceOption = "",
    channel: Annotated[str, typer.Option(help="Channel; empty: the default channel.")] = "",
    source: Annotated[str, typer.Option(help="CatalogSource as NAMESPACE/NAME; empty: the one that has it.")] = "",
    starting_csv: Annotated[str, typer.Option(help="First version to install, e.g. etcdoperator.v0.9.4.")] = "",
    *,
    manual: Annotated[bool, typer.Option("--manual", help="Each plan waits for `olmf approve`.")] = False,
    timeout: TimeoutOption = 120,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Install a package: make its OperatorGroup and Subscription, and wait until it works."""
    wish = {"channel": channel, "source": source, "starting_csv": starting_csv}
    with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
        for line in ask(cluster, Request(package, place, **wish, is_manual=manual), timeout=timedelta(seconds=timeout)):
            say(line)


def uninstall(
    package: PackageArgument,
    namespace: NamespaceOption = "",
    *,
    timeout: TimeoutOption = 60,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Delete the Subscription and every ClusterServiceVersion of a package; definitions and their objects stay."""
    from eventing.cli.requests.removal import remove

    with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
        for line in remove(cluster, place, package, timeout=timedelta(seconds=timeout)):
            say(line)


def upgrade(
    package: PackageArgument,
    namespace: NamespaceOption = "",
    channel: Annotated[str, typer.Option(help="Switch to this channel first.")] = "",
    *,
    timeout: TimeoutOption = 120,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Approve what waits and follow the package to its newest version."""
    with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
        leaving = switch_channel(cluster, place, package, channel) if channel else ""
        limit = timedelta(seconds=timeout)
        narrow = narrowing(cluster, place, package)
        for line in follow(
            cluster, place, package, timeout=limit, is_approving=True, leaving=leaving, on_failed=narrow
        ):
            say(line)


def approve(
    plan: Annotated[str, typer.Argument(metavar="PLAN|PACKAGE", help="An InstallPlan, or the package that waits.")],
    namespace: NamespaceOption = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Approve an InstallPlan that waits."""
    with _place(namespace, state, kubeconfig) as (cluster, place):
        say(approve_plan(cluster, place, plan))


def hold(
    package: PackageArgument,
    namespace: NamespaceOption = "",
    reason: Annotated[str, typer.Option(help="Why; shown wherever the package is reported.")] = "held by hand",
    *,
    release: Annotated[bool, typer.Option("--release", help="Let it go on.")] = False,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Keep the installed version of a package until it is released."""
    if not reason:
        raise CliError("--reason: say why, in a few words", USAGE)
    with _place(namespace, state, kubeconfig) as (cluster, place):
        say(set_hold(cluster, place, package, "" if release else reason))


def list_packages(
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", callback=checked_namespace, help="Only this namespace.")
    ] = "",
    *,
    everywhere: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="All namespaces; the same as without -n.")
    ] = False,
    available: Annotated[bool, typer.Option("--available", help="What the catalogs offer.")] = False,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List what is installed, or what the catalogs offer."""
    if everywhere and namespace:
        raise CliError(f"-A and -n {namespace} exclude each other", USAGE)
    if available and namespace:
        raise CliError(f"--available shows what every catalog offers: leave out -n {namespace}", USAGE)
    target = choose(state, kubeconfig)
    rows = offered(target.cluster()) if available else installed(target.cluster(), namespace, target.jobs())
    if not rows and output == "table":
        say(NOTHING_OFFERED if available else NOTHING_INSTALLED)
        return
    if output == "table":
        rows = [{**row, "channel": _channel(row), "says": says_of(row)} for row in rows]
    show(rows, output, columns=OFFERED if available else columns_of(rows))


def columns_of(rows: Sequence[dict[str, object]]) -> Sequence[str]:
    """The columns of a table of what is installed; the installed version only where another one is on its way."""
    is_moving = any(row["installed"] not in ("", row["version"]) for row in rows)
    return [one for one in INSTALLED if is_moving or one != "installed"]


def says_of(row: dict[str, object]) -> str:
    """What a row says for a person: with the next try of what fails."""
    return f"{row['says']} (next try: {row['nextTry']})" if row.get("nextTry") else str(row["says"])


def _channel(row: dict[str, object]) -> str:
    """The channel for a person: which one is the default, or that the Subscription names none."""
    channel, is_default = row["channel"], row.get("default") or (row.get("subscription") and not row["channel"])
    return f"{channel} (default)".strip() if is_default else str(channel)
