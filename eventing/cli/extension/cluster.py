"""A ClusterExtension of a cluster or a capture, and what surrounds it, for the verbs that tell of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.names import similar
from eventing.diagnosis.catalogs import catalogs_for
from eventing.diagnosis.status.extension_reader import extension_statuses
from eventing.wiring.environment import settings
from shared.api.manifest import name_of
from shared.api.views import ClusterExtension
from shared.kinds import CLUSTER_EXTENSION
from shared.reading.extension import Sources

if TYPE_CHECKING:
    from eventing.diagnosis.status.package_status import PackageStatus
    from eventing.diagnosis.status.reader import Sources as Queue
    from shared.adapters.kube import KubeClient
    from shared.ports import Cluster

FORBIDDEN: Final = 403


def extension_of(cluster: Cluster, name: str) -> ClusterExtension:
    """The extension of that name, with or without its kind. CliError names those that are similar."""
    bare = name.rpartition("/")[2]
    found = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, bare))
    if found is None:
        known = {name_of(one) for one in cluster.list(CLUSTER_EXTENSION)}
        raise CliError(f"there is no ClusterExtension {bare!r}{similar(bare, known)}", NEGATIVE)
    return found


def content_of_cluster(cluster: KubeClient) -> Sources:
    """The catalogs of a cluster, with the settings of the environment. SettingError."""
    return Sources(cluster, catalogs_for(cluster), settings().policy)


def listed_extensions(sources: Queue, namespace: str = "") -> list[PackageStatus]:
    """The extensions, or those that install into a namespace; none, and a note, for who may not list them."""
    from shared.adapters.kube import ApiError

    try:
        return extension_statuses(sources, namespace)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        sys.stderr.write(f"# without ClusterExtensions: {error.message}\n")
        return []
