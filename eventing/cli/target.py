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
from eventing.local.state import Addresses, StateDirectory

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
            raise CliError("where is Redis? Set REDIS_URL, or name the state directory of `olmf up` with --state")
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
    addresses = directory.read()
    environ = os.environ.get("KUBECONFIG", "")
    if kubeconfig:
        if not kubeconfig.exists():
            raise CliError(f"{kubeconfig}: no such kubeconfig", USAGE)
        return _of(str(kubeconfig), addresses, f"cluster of {kubeconfig}")
    if state:
        if addresses is None:
            raise CliError(f"{state}: nothing runs here; start it with `olmf up --state {state}`")
        return _of(addresses.kubeconfig, addresses, f"installation in {state}")
    if environ:
        return _of(environ, addresses, f"cluster of $KUBECONFIG ({environ})")
    if addresses is None:
        raise CliError("no cluster: nothing runs in the default state directory; `olmf up --detach` starts a sandbox")
    return _of(addresses.kubeconfig, addresses, f"installation in {addresses.state}")


def _of(kubeconfig: str, addresses: Addresses | None, where: str) -> Target:
    redis_url = os.environ.get("OLMF_REDIS_URL") or os.environ.get("REDIS_URL") or ""
    endpoint = os.environ.get("OLMF_ENDPOINT", "")
    if addresses and Path(addresses.kubeconfig).resolve() == Path(kubeconfig).resolve():
        redis_url, endpoint = addresses.redis or redis_url, addresses.endpoint or endpoint
    return Target(kubeconfig, redis_url, endpoint, where)
