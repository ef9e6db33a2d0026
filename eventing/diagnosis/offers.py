"""What catalogs offer: of every package its channels, and what the catalog of a Subscription has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eventing.diagnosis.catalogs import catalogs_for
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.api.views import CatalogSource
from shared.domain.catalog.graph import defect, heads
from shared.domain.catalog.model import Channel, Package
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE, SUBSCRIPTION
from shared.ports import Unavailable

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.ports import Catalogs

Row = dict[str, object]


def offered(
    cluster: KubeClient, catalogs: Catalogs | None = None, sources: Iterable[ReadOnly] | None = None
) -> list[Row]:
    """One row per channel of each package of every catalog, or of `sources`: its newest version, or what is wrong.

    Without a channel a row says why a package, or without a package why a catalog, cannot be read.
    """
    reader = catalogs or catalogs_for(cluster)
    rows: list[Row] = []
    for source in cluster.list(CATALOG_SOURCE) if sources is None else sources:
        reference, image = content_of(source)
        catalog = f"{namespace_of(source)}/{name_of(source)}"
        found = reader.packages(reference, image) if reference else ()
        if not isinstance(found, tuple):
            rows.append(_offer(catalog, message=found.message))
            continue
        for name in found:
            rows += _offers(catalog, name, reader.package(reference, name, image))
    return rows


def _offers(catalog: str, name: str, package: Package | Unavailable | None) -> Iterator[Row]:
    if isinstance(package, Unavailable):
        yield _offer(catalog, name, message=package.message)
    elif package:
        for channel in package.channels:
            newest = [entry.name for entry in heads(channel)]
            why = "; ".join(_remarks(package, channel, newest))
            is_default = channel.name == package.default_channel
            yield _offer(catalog, name, channel.name, version=", ".join(newest), is_default=is_default, message=why)


def _remarks(package: Package, channel: Channel, newest: Iterable[str]) -> Iterator[str]:
    """What is wrong with a channel, and what is deprecated of it and its newest versions."""
    if broken := defect(channel):
        yield f"the channel is broken: {broken}"
    for part in ("package", f"channel/{channel.name}", *(f"bundle/{name}" for name in newest)):
        if text := package.deprecations.get(part):
            yield f"{part.replace('/', ' ')} is deprecated: {text}"


def _offer(
    catalog: str, package: str = "", channel: str = "", *, version: str = "", is_default: bool = False, message: str
) -> Row:
    return {
        "package": package,
        "channel": channel,
        "default": is_default,
        "version": version,
        "catalog": catalog,
        "message": message,
    }


def package_of(cluster: KubeClient, subscription: ReadOnly, catalogs: Catalogs | None = None) -> Package | None:
    """What the catalog of a Subscription offers as its package; None when it does not, or cannot be read."""
    found = looked_up(cluster, subscription["spec"], catalogs)
    return found if isinstance(found, Package) else None


def looked_up(cluster: KubeClient, spec: ReadOnly, catalogs: Catalogs | None = None) -> Package | Unavailable | None:
    """The package that the spec of a Subscription names; None when its catalog was read and has none of that name."""
    source = CATALOG_SOURCE.look_up(cluster.get, spec.get("source"), spec.get("sourceNamespace"))
    reference, image = content_of(source or {"metadata": {}, "spec": {}})
    if not reference:
        return Unavailable("NotFound", "the catalog was not read yet")
    return (catalogs or catalogs_for(cluster)).package(reference, str(spec.get("name")), image)


def content_of(source: ReadOnly) -> tuple[str, ImageSource]:
    """The image of a catalog by digest (empty: it was not read yet), and how it is pulled."""
    reference = CatalogSource(source).content
    secrets = tuple(filter(None, source["spec"].get("secrets") or ()))
    image = ImageSource(str(source["spec"].get("image") or reference), namespace_of(source), secrets)
    return (reference if "@" in reference else ""), image


def subscription_of(cluster: KubeClient, namespace: str, package: str) -> ReadOnly | None:
    """The first Subscription to a package, or that of its name."""
    return next(iter(subscriptions_of(cluster, namespace, package)), None)


def subscriptions_of(cluster: KubeClient, namespace: str, package: str) -> Sequence[ReadOnly]:
    """The Subscriptions to a package, or that of its name where there is none."""
    found = cluster.list(SUBSCRIPTION, namespace)
    to_it = [each for each in found if each["spec"].get("name") == package]
    return to_it or [each for each in found if name_of(each) == package]
