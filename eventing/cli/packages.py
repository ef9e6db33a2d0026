"""The package manager's view: `install`, `uninstall`, `upgrade`, `approve`, `hold`, `list`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import quoted
from eventing.cli.extension.cluster import content_of_cluster, listed_extensions
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.names import check_exists, checked_namespace
from eventing.cli.output import OutputOption, print_lines, show
from eventing.cli.requests import carry_on
from eventing.cli.requests.channels import switch_channel
from eventing.cli.requests.extensions import ExtensionRequest, install_extension
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import approve_plan, set_hold
from eventing.cli.status_text import Row, listed_message, row_of
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.diagnosis.offers import offered
from eventing.diagnosis.status.generations import with_conflicts
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_statuses
from shared.domain.command import kubectl

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

PackageArgument = Annotated[
    str, typer.Argument(metavar="PACKAGE", help="Name of the package, as its catalog spells it.")
]
TimeoutOption = Annotated[int, typer.Option(min=0, help="Seconds to wait; 0 returns at once.")]

INSTALLED = (
    "namespace", "subscription", "extension", "package", "channel", "installed", "version", "phase", "approval",
    "message",
)  # fmt: skip
OFFERED = ("package", "channel", "version", "catalog", "message")
NOTHING_INSTALLED = "nothing installed yet"
NOTHING_OFFERED = "nothing offered: no catalog was read yet, or they are empty"


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
    *,
    channel: Annotated[str, typer.Option(help="Channel; empty: the default channel.")] = "",
    source: Annotated[str, typer.Option(help="CatalogSource as NAMESPACE/NAME; empty: the one that has it.")] = "",
    starting_csv: Annotated[str, typer.Option(help="First version to install, e.g. etcdoperator.v0.9.4.")] = "",
    manual: Annotated[bool, typer.Option("--manual", help="Each plan waits for `olmf approve`.")] = False,
    v1: Annotated[
        bool, typer.Option("--v1", help="By OLM v1: a ClusterExtension; --source is a ClusterCatalog.")
    ] = False,
    version: Annotated[str, typer.Option(help="With --v1: a version or a range of versions; empty: any.")] = "",
    timeout: TimeoutOption = 120,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Install a package: make its OperatorGroup and Subscription, and wait until it works."""
    if v1:
        wrong = "--manual" if manual else "--starting-csv" if starting_csv else ""
        if wrong:
            raise CliError(
                f"{wrong}: OLM v1 has nothing like it; --version says which versions may be installed", USAGE
            )
        with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
            desired = ExtensionRequest(package, place, channel, version, source)
            content, limit = content_of_cluster(cluster), timedelta(seconds=timeout)
            for made in install_extension(cluster, desired, content, timeout=limit):
                print_lines(str(made))
        return
    if version:
        raise CliError("--version: only with --v1; --starting-csv names the first version of a Subscription", USAGE)
    options = {"channel": channel, "source": source, "starting_csv": starting_csv}
    with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
        request = Request(package, place, **options, is_manual=manual)
        for line in carry_on.install(cluster, request, timeout=timedelta(seconds=timeout)):
            print_lines(line)


def uninstall(
    package: PackageArgument,
    namespace: NamespaceOption = "",
    *,
    timeout: TimeoutOption = 60,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Delete every Subscription and ClusterServiceVersion of a package; definitions and their objects stay."""
    from eventing.cli.requests.removal import remove

    with _place(namespace, state, kubeconfig, timeout=timeout) as (cluster, place):
        for line in remove(cluster, place, package, timeout=timedelta(seconds=timeout)):
            print_lines(line)


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
        for line in carry_on.upgrade(cluster, place, package, timeout=limit, leaving=leaving):
            print_lines(line)


def approve(
    plan: Annotated[str, typer.Argument(metavar="PLAN|PACKAGE", help="An InstallPlan, or the package that waits.")],
    namespace: NamespaceOption = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Approve an InstallPlan that waits."""
    with _place(namespace, state, kubeconfig) as (cluster, place):
        for line in approve_plan(cluster, place, plan):
            print_lines(line)


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
        raise CliError("--reason: give a reason", USAGE)
    with _place(namespace, state, kubeconfig) as (cluster, place):
        print_lines(set_hold(cluster, place, package, "" if release else reason))


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
    if available:
        _list_offered(offered(target.cluster()), output)
        return
    sources = Sources(target.cluster(), target.jobs())
    packages, extensions = package_statuses(sources, namespace), listed_extensions(sources, namespace)
    found = [*with_conflicts(packages, extensions), *with_conflicts(extensions, packages)]
    if namespace and not found:
        check_exists(namespace, sources.cluster)
    rows = [{**row_of(one), **(_of_table(one) if output == "table" else {})} for one in found]
    if not rows and output == "table":
        print_lines(NOTHING_INSTALLED)
    else:
        show(rows, output, columns=columns_of(found))


def _list_offered(rows: Sequence[Row], output: str) -> None:
    if output != "table":
        show(rows, output, columns=OFFERED)
    elif rows:
        show(
            [{**row, "channel": _default_marked(row["channel"], row["default"])} for row in rows],
            output,
            columns=OFFERED,
        )
    else:
        print_lines(f"{NOTHING_OFFERED}; {quoted(kubectl('get', 'catsrc', '-A'))} tells")


def columns_of(found: Sequence[PackageStatus]) -> Sequence[str]:
    """The columns of a table of what is installed; the installed version only where another one is on its way.

    Whether it is of a Subscription or a ClusterExtension is a column where there is any of them.
    """
    hidden = {
        "installed": all(one.installed in ("", one.version) for one in found),
        "extension": not any(one.extension for one in found),
        "subscription": bool(found) and all(one.extension for one in found),
        "approval": bool(found) and all(one.extension for one in found),
    }
    return [one for one in INSTALLED if not hidden.get(one)]


def _of_table(status: PackageStatus) -> Row:
    """What a person reads where a program gets values: a Subscription that names no channel follows the default one."""
    is_default = bool(status.subscription) and not status.channel
    return {"channel": _default_marked(status.channel, is_default), "message": listed_message(status)}


def _default_marked(channel: object, is_default: object) -> str:
    return f"{channel} (default)".strip() if is_default else str(channel)
