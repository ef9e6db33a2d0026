"""Local mode: `up`, `down`, `status`, `demo`."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError, as_cli_error
from eventing.cli.inputs.bundle_folders import bundles_only
from eventing.cli.output import OutputOption, document, table
from eventing.cli.target import KubeconfigOption, StateOption, choose, nothing_runs
from eventing.local.health import report
from eventing.local.plan import Plan
from eventing.local.processes.interrupt import Interrupt
from eventing.local.served import Served, is_without_bundles, recall, unserved_bundles
from eventing.local.state import Addresses, AlreadyRunningError, StateDirectory
from shared.api.views import Csv
from shared.domain.command import kubectl
from shared.kinds import CLUSTER_SERVICE_VERSION


def register(app: typer.Typer) -> None:
    """Add the verbs of local mode."""
    for verb in (up, down, status, demo):
        app.command()(verb)


def _directory(state: Path | None) -> StateDirectory:
    return StateDirectory(state.resolve()) if state else StateDirectory.default()


def up(
    *,
    bundles: Annotated[list[Path] | None, typer.Option(help="Folder of bundles to serve as images.")] = None,
    catalog: Annotated[list[str] | None, typer.Option(help="Folder or image of a file-based catalog.")] = None,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
    source: Annotated[str, typer.Option(help="watch, or endpoint: every event comes in over HTTP.")] = "watch",
    take_over: Annotated[bool, typer.Option("--take-over", help="Run even where OLM itself is installed.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Return when everything is ready.")] = False,
) -> None:
    """Start everything on this machine: a sandbox API, or the functions for an existing cluster."""
    directory = _directory(state)
    if running := directory.read():
        raise CliError(directory.occupied(running.supervisor), NEGATIVE)
    plan = Plan(
        directory,
        bundles=tuple(folder.resolve() for folder in bundles or ()),
        catalogs=tuple(catalog or ()),
        kubeconfig=kubeconfig.resolve() if kubeconfig else None,
        source="endpoint" if source == "endpoint" else "watch",
        take_over=take_over,
    )
    if source != plan.source:
        raise CliError(f"--source {source}: wanted watch or endpoint", USAGE)
    if fault := plan.fault() or _no_catalog(plan):
        raise CliError(fault, USAGE)
    plan = _with_what_was_served(plan)
    if detach:
        _detach(plan)
    else:
        _stay(plan)


def _no_catalog(plan: Plan) -> str:
    """What is wrong with folders of bundles that are given as catalogs; empty: there are none."""
    return "; ".join(f"--catalog {hint}" for one in plan.catalogs if (hint := bundles_only(one)))


def _with_what_was_served(plan: Plan) -> Plan:
    """The plan, with the folders of the last time when it names none: the catalogs made of them are still there."""
    if not plan.bundles and not plan.catalogs and (served := recall(plan.state, plan.kubeconfig)) != Served():
        sys.stderr.write(f"# serving again: {served}\n")
        plan = replace(plan, bundles=served.bundles, catalogs=tuple(map(str, served.catalogs)))
    for folder in filter(is_without_bundles, plan.bundles):
        sys.stderr.write(f"warning: --bundles {folder}: no bundle there (wanted PACKAGE/VERSION/manifests)\n")
    return plan


def _detach(plan: Plan) -> None:
    from eventing.local.detach import start_detached
    from eventing.local.processes.supervisor import StartError

    try:
        with Interrupt() as interrupt:
            start_detached(plan.state, plan.words(), interrupt)
    except StartError as error:
        raise CliError(str(error), error.code or UNKNOWN) from error
    _print_addresses(plan)
    _print_faults(plan)


def _stay(plan: Plan) -> None:
    from eventing.local.installation import run
    from eventing.local.objects import TakeOverError
    from eventing.local.processes.supervisor import StartError
    from shared.adapters.kube import ApiError
    from shared.telemetry import configure_logging

    def is_ready(_: object) -> None:
        _print_addresses(plan)
        threading.Thread(target=_print_faults, args=[plan], daemon=True).start()  # reading bundles takes its time

    configure_logging(as_json=False)
    try:
        asyncio.run(run(plan, is_ready))
    except (AlreadyRunningError, TakeOverError) as error:
        raise CliError(str(error), NEGATIVE) from error
    except (StartError, ApiError, OSError) as error:
        raise CliError(
            f"could not start: {as_cli_error(error) or error}\nlogs are in {plan.state.logs}", UNKNOWN
        ) from error


def _print_addresses(plan: Plan) -> None:
    addresses = plan.state.read()
    if addresses is None:
        return
    sys.stdout.write(
        f"ready: {len(addresses.processes)} processes, state and logs in {addresses.state}\n"
        f"  kubeconfig  {addresses.kubeconfig}\n"
        f"  endpoint    {addresses.endpoint}\n"
        f"  redis       {addresses.redis}\n"
        + (f"  registry    {addresses.registry}\n" if addresses.registry else "")
        + (
            f"events: nothing here watches the cluster; post them to {addresses.endpoint}\n"
            if plan.source == "endpoint"
            else ""
        )
        + f"try: {kubectl('--kubeconfig', addresses.kubeconfig, 'get', 'catsrc,sub,installplans,csv,og', '-A')}\n"
    )
    sys.stdout.flush()


def _print_faults(plan: Plan) -> None:
    """Warn of each defect of the bundles and catalogs that are served."""
    addresses = plan.state.read()
    if addresses is None:
        return
    for catalog, folders in plan.served().items():
        try:
            found = unserved_bundles(addresses.registry, catalog.name)
        except OSError as error:
            command = plan.state.command("status")
            found = (f"nothing is known of catalog {catalog.name} yet ({error}); `{command}` shows more",)
        where = ", ".join(map(str, folders))
        for sentence in found:  # a bundle is named by its folder
            place = "" if any(str(one) in sentence for one in folders) else f"{where}: "
            sys.stderr.write(f"warning: {place}{sentence}\n")
    sys.stderr.flush()


def down(
    state: StateOption = None,
    *,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Say what OLM has to carry on when it takes the cluster over again.")
    ] = False,
) -> None:
    """Stop what `olmf up` started; what it stored stays in the state directory, and OLM can go on with the cluster."""
    from eventing.local.detach import stop

    directory = _directory(state)
    addresses = directory.read()
    if addresses is None or not stop(directory):
        raise CliError(nothing_runs(directory, has_hint=False), NEGATIVE)
    sys.stdout.write(f"stopped; the state stays in {directory.root}\n")
    if addresses.registry and Path(addresses.kubeconfig) != directory.kubeconfig:
        sys.stdout.write(
            f"the cluster of {addresses.kubeconfig} keeps what was installed, not the catalogs of folders here, which "
            "nobody serves now; "
            f"`{directory.command('up', '--kubeconfig', addresses.kubeconfig)}` brings them back\n"
        )
        if take_over:
            _hand_over(addresses.kubeconfig)


def _hand_over(kubeconfig: str) -> None:
    """Say which versions are on their way; OLM finds everything else as it would have made it."""
    from shared.adapters.kube import ApiError, KubeClient

    try:
        csvs = Csv.each(KubeClient.from_kubeconfig(kubeconfig).list(CLUSTER_SERVICE_VERSION))
    except (ApiError, OSError) as error:
        raise CliError(f"stopped, but what OLM has to carry on is not known: {error}", UNKNOWN) from error
    under_way = [csv for csv in csvs if not csv.is_copy and csv.phase not in ("Succeeded", "Failed")]
    found = [f"{csv.namespace}/{csv.name} ({csv.phase or 'new'})" for csv in under_way]
    sys.stdout.write(f"OLM has to carry on with {', '.join(sorted(found)) or 'nothing'}: start its Deployments again\n")


def status(state: StateOption = None, kubeconfig: KubeconfigOption = None, output: OutputOption = "table") -> None:
    """Show addresses, the health of each process and errors of catalogs; exit 1 when a process is not healthy."""
    target = choose(state, kubeconfig, quiet=True, idle=NEGATIVE)
    addresses = target.addresses()
    if addresses is None:
        raise CliError(f"nothing that runs here works on the {target.where}; name its --state", NEGATIVE)
    answer = report(addresses)
    if output == "table":
        _print_status(addresses, answer)
    else:
        document(answer, output)
    if not all(process["healthy"] for process in answer["processes"]):
        raise typer.Exit(NEGATIVE)


def _print_status(addresses: Addresses, answer: dict[str, list[dict[str, object]]]) -> None:
    for name in ("state", "kubeconfig", "endpoint", "redis", "registry"):
        sys.stdout.write(f"{name:<12}{getattr(addresses, name)}\n")
    sys.stdout.write("\n")
    table(answer["processes"], ("name", "pid", "healthy"))
    if answer["catalogs"]:
        sys.stdout.write("\n")
        table(answer["catalogs"], ("name", "state"))
    for catalog in answer["catalogs"]:
        if catalog["message"]:
            sys.stdout.write(f"\n{catalog['name']}: {catalog['message']}\n")


def demo() -> None:
    """Install, upgrade and approve sample operators in a throw-away sandbox, and explain what happened."""
    from eventing.cli.demo.play import play

    raise typer.Exit(play())
