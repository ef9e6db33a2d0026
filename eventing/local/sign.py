"""The annotation by which `olmf up` marks its cluster, for a second `olmf up` and for verbs with `--kubeconfig`.

Decision: an annotation of our namespace with the machine and the state directory; on the same machine, the directory
shows whether the installation still runs. Turned down: a Lease, which is renewed even when nothing happens.
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

MARKED_NAMESPACE = "olm"
"""The namespace that has the annotation."""


@dataclass(frozen=True, slots=True)
class InstallationMarker:
    """Which installation works on a cluster."""

    machine: str
    root: Path

    @classmethod
    def of(cls, directory: StateDirectory) -> InstallationMarker:
        """The sign of an installation of this machine."""
        return cls(socket.gethostname(), directory.root.resolve())

    @classmethod
    def seen(cls, cluster: KubeClient) -> InstallationMarker | None:
        """The sign in a cluster, or None."""
        namespace = cluster.get(NAMESPACE.ref(MARKED_NAMESPACE))
        machine, mark, root = annotations_of(namespace or {}).get(names.UP, "").partition(":")
        return cls(machine, Path(root)) if mark else None

    def directory(self) -> StateDirectory | None:
        """Its state directory; None on another machine."""
        return StateDirectory(self.root) if self.machine == socket.gethostname() else None

    def is_over(self) -> bool:
        """Whether the installation has ended; False for another machine, where this cannot be checked."""
        directory = self.directory()
        return directory is not None and directory.read() is None

    def erase(self, cluster: KubeClient) -> None:
        """Remove it from the cluster, unless another installation took over."""
        if self.seen(cluster) == self:
            cluster.merge(NAMESPACE.ref(MARKED_NAMESPACE), {"metadata": {"annotations": {names.UP: None}}})

    def __str__(self) -> str:
        return f"{self.machine}:{self.root}"
