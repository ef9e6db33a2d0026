"""Which cluster and which Redis a verb talks to; the choice is said first, on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import lead_to_cluster, quoted
from eventing.cli.failure import UNKNOWN, USAGE, CliError
from eventing.cli.names import checked_namespace
from eventing.local.marker import directory_of, works_on
from eventing.local.state import Addresses, StateDirectory
from eventing.wiring.environment import endpoint_token, first_token
from shared.config import SettingError
from shared.domain.command import kubectl

if TYPE_CHECKING:
    from eventing.workqueue import Client, Listed
    from shared.adapters.kube import KubeClient

StateOption = Annotated[Path | None, typer.Option("--state", file_okay=False, help="State directory of `olmf up`.")]
KubeconfigOption = Annotated[Path | None, typer.Option("--kubeconfig", help="Cluster to talk to.")]
NamespaceOption = Annotated[
    str,
    typer.Option(
        "-n", "--namespace", callback=checked_namespace, help="Namespace; without it that of the kubeconfig's context."
    ),
]


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster, and the installation that works on it."""

    kubeconfig: str
    """Empty: the service account of this pod, which is one of ours."""
    where: str
    directory: StateDirectory | None = None
    """Of the installation; None: it is looked for."""

    def cluster(self) -> KubeClient:
        """A client of the cluster."""
        from shared.adapters.kube import KubeClient

        return KubeClient.from_kubeconfig(self.kubeconfig)

    @property
    def namespace(self) -> str:
        """Where a verb looks that names no namespace, as kubectl does: that of the context or pod, else `default`."""
        from shared.adapters.kube import context_of, pod_namespace

        return (context_of(self.kubeconfig).namespace if self.kubeconfig else pod_namespace()) or "default"

    def addresses(self) -> Addresses | None:
        """Where the parts of the installation are; None when nothing that runs here works on the cluster."""
        directory = self.directory or (directory_of(self.kubeconfig) if self.kubeconfig else None)
        return directory.read() if directory else None

    @property
    def is_unwatched(self) -> bool:
        """An installation here works on the cluster without a watcher: `olmf up --source endpoint`."""
        found = self.addresses()
        return found is not None and all(process.name != "watch" for process in found.processes)

    @property
    def endpoint(self) -> str:
        """Where events are posted to; empty: nobody knows."""
        found = self.addresses()
        return (found.endpoint if found else "") or os.environ.get("OLMF_ENDPOINT", "")

    @property
    def endpoint_token(self) -> str:
        """What the endpoint knows us by: the token of the installation here, else that of the environment."""
        found = self.addresses()
        return (first_token(StateDirectory(Path(found.state)).endpoint_token) if found else "") or endpoint_token()

    @contextlib.contextmanager
    def redis(self) -> Iterator[Client]:
        """A connection to the queue and the journal. CliError when nobody told where Redis is."""
        from eventing.workqueue import connect

        found = self.addresses()
        url = (found.redis if found else "") or os.environ.get("OLMF_REDIS_URL") or os.environ.get("REDIS_URL")
        if not url:
            forward = quoted(kubectl("port-forward", "svc/olmf-redis", "6379", namespace="olm"))
            raise CliError(
                f"the queue and the journal are in Redis, and nothing tells where: no `olmf up` here works on "
                f"the {self.where}. Name its state directory with --state; or set REDIS_URL (in a cluster: "
                f"{forward}, and redis://:PASSWORD@127.0.0.1:6379/0)"
            )
        with contextlib.closing(connect(url)) as client:
            yield client

    def jobs(self) -> tuple[Listed, ...]:
        """The work queue, for a verb that shows objects: empty where it is not known, or cannot be asked."""
        from eventing.workqueue import REFUSED, listed

        try:
            with self.redis() as client:
                return listed(client)
        except (CliError, SettingError, REFUSED):  # why: a cluster without a queue has objects, too
            return ()


def choose(
    state: Path | None = None,
    kubeconfig: Path | None = None,
    *,
    quiet: bool = False,
    idle: int = UNKNOWN,
    is_ours: Callable[[], bool] | None = None,
) -> Target:
    """`--kubeconfig`, else `--state`, else `$KUBECONFIG`, else the running sandbox, else in a pod of ours its cluster.

    CliError (`idle`) without one. `is_ours` tells whether this is a pod of ours.

    Commands that are printed from now on are for this cluster.
    """
    target = _choose(state, kubeconfig, idle, is_ours or _is_pod_of_ours)
    typed = {"--state": state, "--kubeconfig": kubeconfig}
    is_known_to_kubectl = not target.kubeconfig or (not (state or kubeconfig) and os.environ.get("KUBECONFIG"))
    lead_to_cluster(
        [word for option, path in typed.items() if path for word in (option, str(path))],
        [] if is_known_to_kubectl else ["--kubeconfig", target.kubeconfig],
    )
    if not quiet:
        sys.stderr.write(f"# {target.where}\n")
    return target


def _choose(state: Path | None, kubeconfig: Path | None, idle: int, is_ours: Callable[[], bool]) -> Target:
    environ = os.environ.get("KUBECONFIG", "")
    directory = StateDirectory(state.resolve()) if state else None
    if kubeconfig:
        if not kubeconfig.exists():
            raise CliError(f"{kubeconfig}: no such kubeconfig", USAGE)
        if directory and not works_on(directory, str(kubeconfig)):
            raise CliError(f"--state {state}: nothing that runs there works on the cluster of {kubeconfig}", USAGE)
        return Target(str(kubeconfig), f"cluster of {kubeconfig}", directory)
    if environ and not directory:
        return Target(environ, f"cluster of $KUBECONFIG ({environ})")
    directory = directory or StateDirectory.default()
    addresses = directory.read()
    if addresses is None and not state and is_ours():
        return Target("", "cluster of this pod")
    if addresses is None:
        raise CliError(nothing_runs(directory), idle)
    return Target(addresses.kubeconfig, f"installation in {addresses.state}", directory)


def _is_pod_of_ours() -> bool:
    """Whether this is a pod of an installation: it has an account of the cluster, and was told where Redis is."""
    from shared.adapters.kube import is_in_pod

    return is_in_pod() and any(os.environ.get(name) for name in ("OLMF_REDIS_URL", "REDIS_URL"))


def nothing_runs(directory: StateDirectory, *, has_hint: bool = True) -> str:
    """Why there is no installation in a state directory and, if it `has_hint`, how to get one."""
    if (killed := directory.left_behind()) is None:
        hint = f"; start it with `{directory.command('up', '--detach')}`" if has_hint else ""
        return f"nothing runs in {directory.root}{hint}"
    is_sandbox = Path(killed.kubeconfig) == directory.kubeconfig
    cluster = () if is_sandbox or not killed.kubeconfig else ("--kubeconfig", killed.kubeconfig)
    return (
        f"nothing runs in {directory.root} any more: `olmf up` (pid {killed.supervisor}) was killed, and its processes "
        f"ended with it. What it stored is kept; `{directory.command('up', '--detach', *cluster)}` goes on from there"
    )
