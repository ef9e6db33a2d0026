"""A ClusterExtension of a cluster or a capture, and what surrounds it, for the verbs that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.cli.alike import alike
from eventing.cli.failure import NEGATIVE, CliError
from eventing.diagnosis.catalogs import catalogs_for
from shared.api.manifest import name_of
from shared.api.views import ClusterExtension
from shared.kinds import CLUSTER_EXTENSION
from shared.reading.extension import Sources

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.ports import Cluster


def extension_of(cluster: Cluster, name: str) -> ClusterExtension:
    """The extension of that name, with or without its kind. CliError names those that are called alike."""
    bare = name.rpartition("/")[2]
    found = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, bare))
    if found is None:
        known = {name_of(one) for one in cluster.list(CLUSTER_EXTENSION)}
        raise CliError(f"there is no ClusterExtension {bare!r}{alike(bare, known)}", NEGATIVE)
    return found


def content_of_cluster(cluster: KubeClient) -> Sources:
    """The catalogs of a cluster, with the settings of the environment. SettingError."""
    from eventing.wiring import settings

    return Sources(cluster, catalogs_for(cluster), settings().policy)
