"""Which cluster and which Redis a verb talks to; the choice is said first, on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import USAGE, CliError
from eventing.local.state import Addresses, StateDirectory, directory_of

if TYPE_CHECKING:
    from eventing.workqueue import Client
    from shared.adapters.kube import KubeClient

StateOption = Annotated[Path | None, typer.Option("--state", help="State directory of `olmf up`.")]
KubeconfigOption = Annotated[Path | None, typer.Option("--kubeconfig", help="Cluster to talk to.")]
NamespaceOption = Annotated[str, typer.Option("-n", "--namespace", help="Namespace of the object.")]
OutputOption = Annotated[str, typer.Option("-o", "--output", help="table, json or yaml.")]


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster and the installation that works on it."""

    kubeconfig: str
    redis_url: str
    endpoint: str
    where: str

    def cluster(self) -> KubeClient:
        """A client of the cluster."""
        from shared.adapters.kube import KubeClient

        return KubeClient.from_kubeconfig(self.kubeconfig)

    @contextlib.contextmanager
    def redis(self) -> Iterator[Client]:
        """A connection to the queue and the journal. CliError when nobody told where Redis is."""
        from eventing.workqueue import connect

        if not self.redis_url:
            raise CliError(
                f"the queue and the journal are in Redis, and nothing tells where: no `olmf up` here works on "
                f"the {self.where}. Name its state directory with --state; or set REDIS_URL (in a cluster: "
                "`kubectl -n olm port-forward svc/olmf-redis 6379`, and redis://:PASSWORD@127.0.0.1:6379/0)"
            )
        with contextlib.closing(connect(self.redis_url)) as client:
            yield client


def choose(state: Path | None = None, kubeconfig: Path | None = None, *, quiet: bool = False) -> Target:
    """`--kubeconfig`, else `--state`, else `$KUBECONFIG`, else the running sandbox. CliError when there is none."""
    target = _choose(state, kubeconfig)
    if not quiet:
        sys.stderr.write(f"# {target.where}\n")
    return target


def _choose(state: Path | None, kubeconfig: Path | None) -> Target:
    directory = StateDirectory(state) if state else StateDirectory.default()
    environ = os.environ.get("KUBECONFIG", "")
    if kubeconfig:
        if not kubeconfig.exists():
            raise CliError(f"{kubeconfig}: no such kubeconfig", USAGE)
        return _of(str(kubeconfig), state, f"cluster of {kubeconfig}")
    if environ and not state:
        return _of(environ, None, f"cluster of $KUBECONFIG ({environ})")
    addresses = directory.read()
    if addresses is None:
        raise CliError(nothing_runs(directory))
    return _at(addresses, addresses.kubeconfig, f"installation in {addresses.state}")


def _of(kubeconfig: str, state: Path | None, where: str) -> Target:
    directory = StateDirectory(state) if state else directory_of(Path(kubeconfig))
    addresses = directory.read() if directory else None
    is_its = addresses and Path(addresses.kubeconfig).resolve() == Path(kubeconfig).resolve()
    return _at(addresses if is_its else None, kubeconfig, where)


def _at(addresses: Addresses | None, kubeconfig: str, where: str) -> Target:
    redis_url = os.environ.get("OLMF_REDIS_URL") or os.environ.get("REDIS_URL") or ""
    endpoint = os.environ.get("OLMF_ENDPOINT", "")
    if addresses:
        redis_url, endpoint = addresses.redis or redis_url, addresses.endpoint or endpoint
    return Target(kubeconfig, redis_url, endpoint, where)


def nothing_runs(directory: StateDirectory) -> str:
    """Why there is no installation in a state directory, and how to get one."""
    words = (
        "olmf up --detach" if directory == StateDirectory.default() else f"olmf up --detach --state {directory.root}"
    )
    if (killed := directory.left_behind()) is None:
        return f"nothing runs in {directory.root}; start it with `{words}`"
    sandbox = Path(killed.kubeconfig) == directory.kubeconfig
    words += "" if sandbox or not killed.kubeconfig else f" --kubeconfig {killed.kubeconfig}"
    return (
        f"nothing runs in {directory.root} any more: `olmf up` (pid {killed.supervisor}) was killed, and its processes "
        f"ended with it. What it stored is kept; `{words}` goes on from there"
    )
