"""The annotation by which `olmf up` marks its cluster, and the installation that a kubeconfig leads to.

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
        """The marker of an installation of this machine."""
        return cls(socket.gethostname(), directory.root.resolve())

    @classmethod
    def read(cls, cluster: KubeClient) -> InstallationMarker | None:
        """The marker of a cluster, or None."""
        namespace = cluster.get(NAMESPACE.ref(MARKED_NAMESPACE))
        machine, colon, root = annotations_of(namespace or {}).get(names.UP, "").partition(":")
        return cls(machine, Path(root)) if colon else None

    def directory(self) -> StateDirectory | None:
        """Its state directory; None on another machine."""
        return StateDirectory(self.root) if self.machine == socket.gethostname() else None

    def is_over(self) -> bool:
        """Whether the installation has ended; False for another machine, where this cannot be checked."""
        directory = self.directory()
        return directory is not None and directory.read() is None

    def erase(self, cluster: KubeClient) -> None:
        """Remove it from the cluster, unless another installation took over."""
        if self.read(cluster) == self:
            cluster.merge(NAMESPACE.ref(MARKED_NAMESPACE), {"metadata": {"annotations": {names.UP: None}}})

    def __str__(self) -> str:
        return f"{self.machine}:{self.root}"


def directory_of(kubeconfig: str) -> StateDirectory | None:
    """The state directory of the installation on the cluster of a kubeconfig; None when it is not found.

    Candidates are the folder of the kubeconfig (that of a sandbox is there), the default state directory, and the one
    that an annotation in the cluster names.
    """
    candidates = StateDirectory(Path(kubeconfig).resolve().parent), StateDirectory.default()
    return next((each for each in candidates if works_on(each, kubeconfig)), None) or _named_by_cluster(kubeconfig)


def works_on(directory: StateDirectory, kubeconfig: str) -> bool:
    """Whether an installation runs there, on the cluster of the kubeconfig."""
    from shared.adapters.kube import ConnectionSettingError, context_of

    addresses = directory.read()
    if not addresses or not addresses.kubeconfig:
        return False
    if Path(addresses.kubeconfig).resolve() == Path(kubeconfig).resolve():
        return True
    try:
        return context_of(addresses.kubeconfig).is_same_cluster(context_of(kubeconfig))
    except ConnectionSettingError:  # the verb says so when it talks to the cluster
        return False


def _named_by_cluster(kubeconfig: str) -> StateDirectory | None:
    from shared.adapters.kube import ApiError, ConnectionSettingError, KubeClient

    try:
        marker = InstallationMarker.read(KubeClient.from_kubeconfig(kubeconfig))
    except (ApiError, ConnectionSettingError):  # as above
        return None
    directory = marker.directory() if marker else None
    return directory if directory and works_on(directory, kubeconfig) else None
