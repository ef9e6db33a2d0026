"""What reads images: catalogs and bundles, with the store, the logins and the mirrors of a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from eventing.content.pulls import puller
from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.indexing import Indexer, unobserved
from shared.adapters.content.store import Store
from shared.adapters.kube import KubeClient
from shared.adapters.kube.mirrors import KubeMirrors
from shared.adapters.oci.logins import mirrors_of_machine
from shared.adapters.oci.mirrors import Mirrors
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import SECRET, SERVICE_ACCOUNT
from shared.names import PULL_ACCOUNT


def content(values: Settings, cluster: KubeClient, indexer: Indexer = unobserved) -> tuple[ImageCatalogs, ImageBundles]:
    """The readers of catalog and bundle images; `indexer` makes what else is wanted of the catalogs that they index."""
    store = Store(values.content, limit_bytes=values.content_bytes)
    mirrors = KubeMirrors(cluster, machine_mirrors)
    pulls = puller(
        values, secret_reader(cluster), mirrors, store.blobs, api=cluster.connection.server, environ=os.environ
    )
    catalogs = ImageCatalogs(store, pulls, get=cluster.get, indexer=indexer)
    return catalogs, ImageBundles(pulls, catalogs)


def secret_reader(cluster: KubeClient) -> Callable[[str, str], Manifest | None]:
    """A function that reads a Secret, or a ServiceAccount, by namespace and name."""

    def read(namespace: str, name: str) -> Manifest | None:
        kind = SERVICE_ACCOUNT if name.startswith(PULL_ACCOUNT) else SECRET
        return kind.look_up(cluster.get, name.removeprefix(PULL_ACCOUNT), namespace)

    return read


def machine_mirrors() -> Mirrors:
    """The mirrors from `registries.conf` and `OLMF_MIRRORS` of this machine; read when an image is pulled."""
    return mirrors_of_machine(os.environ, Path.home())
