"""Finds the local installation that works on the cluster of a kubeconfig."""

from __future__ import annotations

from pathlib import Path

from eventing.local.sign import InstallationMarker
from eventing.local.state import StateDirectory


def directory_of(kubeconfig: str) -> StateDirectory | None:
    """The state directory of the installation on the cluster of a kubeconfig; None when it is not found.

    Candidates are the folder of the kubeconfig (that of a sandbox is there), the default state directory, and the one
    that an annotation in the cluster names.
    """
    near = StateDirectory(Path(kubeconfig).resolve().parent), StateDirectory.default()
    return next((each for each in near if works_on(each, kubeconfig)), None) or _named_by_cluster(kubeconfig)


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
        sign = InstallationMarker.seen(KubeClient.from_kubeconfig(kubeconfig))
    except (ApiError, ConnectionSettingError):  # as above
        return None
    directory = sign.directory() if sign else None
    return directory if directory and works_on(directory, kubeconfig) else None
