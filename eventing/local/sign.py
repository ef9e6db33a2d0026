"""The sign that `olmf up` leaves in its cluster: a second `olmf up` sees it, and `--kubeconfig` finds the first by it.

Decision: an annotation of our namespace that names the machine and the state directory; whether that installation still
runs is asked of the directory, on the same machine. Turned down: a Lease, which is renewed even when nothing happens.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eventing.local.state import StateDirectory
from shared import names
from shared.api.manifest import annotations_of
from shared.kinds import NAMESPACE

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

PLACE = "olm"
"""The namespace that has the annotation."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Which installation works on a cluster."""

    machine: str
    root: Path

    @classmethod
    def of(cls, directory: StateDirectory) -> Sign:
        """The sign of an installation of this machine."""
        return cls(socket.gethostname(), directory.root.resolve())

    @classmethod
    def seen(cls, cluster: KubeClient) -> Sign | None:
        """The sign in a cluster, if there is one."""
        namespace = cluster.get(NAMESPACE.ref(PLACE))
        machine, mark, root = annotations_of(namespace or {}).get(names.UP, "").partition(":")
        return cls(machine, Path(root)) if mark else None

    def directory(self) -> StateDirectory | None:
        """Its state directory; None on another machine."""
        return StateDirectory(self.root) if self.machine == socket.gethostname() else None

    def is_over(self) -> bool:
        """Whether it does not run any more; False on another machine, where that cannot be known."""
        directory = self.directory()
        return directory is not None and directory.read() is None

    def erase(self, cluster: KubeClient) -> None:
        """Remove it from the cluster, unless another installation took over."""
        if self.seen(cluster) == self:
            cluster.merge(NAMESPACE.ref(PLACE), {"metadata": {"annotations": {names.UP: None}}})

    def __str__(self) -> str:
        return f"{self.machine}:{self.root}"
