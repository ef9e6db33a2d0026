"""Takes a package away: its Subscription, and every version of it that is there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.packages.chain import chain, claimed, originals, package_named_by
from eventing.packages.requests import LOOK_SECONDS, PackageError, subscription_of, wanted_subscription
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import ReadOnly, name_of, uid_of
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def remove(cluster: KubeClient, namespace: str, package: str, *, timeout: timedelta) -> Iterator[str]:
    """Delete the Subscription and its versions, also older ones of an update that is stuck; wait until they are gone.

    Without any time it does not wait. Versions that an earlier Subscription left behind go, too. PackageError when
    there is nothing to delete.
    """
    subscription = subscription_of(cluster, namespace, package)
    versions = _versions(cluster, namespace, package, subscription)
    if subscription is None and not versions:
        wanted_subscription(cluster, namespace, package)
    if subscription is not None:
        _delete(cluster, SUBSCRIPTION.ref(name_of(subscription), namespace), uid_of(subscription))
        yield f"deleted Subscription {name_of(subscription)}"
    refs = [CLUSTER_SERVICE_VERSION.ref(name, namespace) for name in versions]
    for ref in refs:
        _delete(cluster, ref)
    deadline = time.monotonic() + timeout.total_seconds()
    for ref in refs if timeout else ():
        while cluster.get(ref) is not None:
            if time.monotonic() > deadline:
                hint = f"`olmf why ClusterServiceVersion/{ref.name} -n {namespace}`"
                raise PackageError(f"{ref.name} is still being deleted; {hint} tells more")
            time.sleep(LOOK_SECONDS)
    if versions:
        did = "deleted" if timeout else "is deleting"
        yield f"{did} ClusterServiceVersion {', '.join(versions)}; its definitions and their objects stay"


def _delete(cluster: KubeClient, ref: Ref, uid: str = "") -> None:
    """Delete an object, unless it is gone by now: the functions remove versions of an update, too."""
    try:
        cluster.delete(ref, uid=uid)
    except ApiError as error:
        if not error.is_not_found:
            raise


def _versions(cluster: KubeClient, namespace: str, package: str, subscription: ReadOnly | None) -> list[str]:
    """What the package has installed in the namespace, and nothing that another Subscription has."""
    csvs = originals(cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    others = [one for one in cluster.list(SUBSCRIPTION, namespace) if one != subscription]
    mine = {name_of(csv) for csv in csvs if package_named_by(csv) == package}
    roots = mine | claimed([subscription] if subscription else [])
    return sorted(chain(csvs, roots) - claimed(others))
