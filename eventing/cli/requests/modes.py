"""Chooses the namespaces of an OperatorGroup by the install modes that the catalog states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from eventing.diagnosis.status.listing import content_of, looked_up
from shared.api.manifest import ReadOnly
from shared.domain.authoring.identity import install_modes
from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Package
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES, first_supported
from shared.kinds import CATALOG_SOURCE
from shared.ports import Catalogs, Unavailable

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.config import Blob
    from shared.domain.image_source import ImageSource


class Described(Catalogs, Protocol):
    """Catalogs that also have the documents of their bundles."""

    def bundle(self, reference: str, package: str, name: str, source: ImageSource) -> Blob | Unavailable | None:
        """The document of a bundle, whole; None without one."""
        ...


def targets_for(cluster: KubeClient, namespace: str, spec: ReadOnly, catalogs: Described) -> tuple[str, ...]:
    """What a group selects for the package of a Subscription: its own namespace, if that works and all do not.

    One empty name, for all namespaces, also where the catalog does not state what the first version supports.
    """
    choices = ((ALL_NAMESPACES,), (namespace,))
    return first_supported(_modes(cluster, spec, catalogs), namespace, choices) or choices[0]


def _modes(cluster: KubeClient, spec: ReadOnly, catalogs: Described) -> tuple[ReadOnly, ...]:
    """The install modes of the version that a Subscription gets first, as far as its catalog states them."""
    package = looked_up(cluster, spec, catalogs)
    source = CATALOG_SOURCE.look_up(cluster.get, spec.get("source"), spec.get("sourceNamespace"))
    if source is None or not isinstance(package, Package):
        return ()
    channel = spec.get("channel") or package.default_channel
    newest = [entry.name for one in package.channels if one.name == channel for entry in heads(one)]
    first = spec.get("startingCSV") or next(iter(newest), "")
    reference, image = content_of(source)
    bundle = catalogs.bundle(reference, package.name, str(first), image)
    return () if bundle is None or isinstance(bundle, Unavailable) else install_modes(bundle)
