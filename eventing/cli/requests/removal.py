"""Takes a package away: its Subscription, and every version of it that is there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import LOOK_SECONDS, wanted_subscription
from eventing.diagnosis.status.chain import chain, claimed, originals, package_named_by
from eventing.diagnosis.status.listing import subscription_of
from shared import names
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import ReadOnly, labels_of, name_of, uid_of
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
    for csv in versions:
        _delete(cluster, Ref.of(csv), uid_of(csv))
    deadline = time.monotonic() + timeout.total_seconds()
    for csv in versions if timeout else ():
        while _is_there(cluster, csv):
            if time.monotonic() > deadline:
                hint = f"`olmf why ClusterServiceVersion/{name_of(csv)} -n {namespace}`"
                raise PackageError(f"{name_of(csv)} is still being deleted; {hint} tells more")
            time.sleep(LOOK_SECONDS)
    if versions:
        did = "deleted" if timeout else "is deleting"
        gone = ", ".join(map(name_of, versions))
        yield f"{did} ClusterServiceVersion {gone}; its definitions and their objects stay"
        yield from _copies(cluster, versions)


def _is_there(cluster: KubeClient, csv: ReadOnly) -> bool:
    """Whether an object still exists; a copy that took its name has another uid."""
    found = cluster.get(Ref.of(csv))
    return found is not None and uid_of(found) == uid_of(csv)


def _copies(cluster: KubeClient, versions: Sequence[ReadOnly]) -> Iterator[str]:
    """The copies of what other namespaces installed, which the versions kept out."""
    for csv in versions:
        home = labels_of(cluster.get(Ref.of(csv)) or {}).get(names.COPIED_FROM)
        if home:
            yield f"the copy of {name_of(csv)} that is here now is that of {home}"


def _delete(cluster: KubeClient, ref: Ref, uid: str) -> None:
    """Delete an object, unless it, or the one of that uid, is gone: the functions remove versions of an update, too."""
    try:
        cluster.delete(ref, uid=uid)
    except ApiError as error:
        if not (error.is_not_found or error.is_conflict):
            raise


def _versions(cluster: KubeClient, namespace: str, package: str, subscription: ReadOnly | None) -> list[ReadOnly]:
    """What the package has installed in the namespace, and nothing that another Subscription has."""
    csvs = originals(cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    others = [one for one in cluster.list(SUBSCRIPTION, namespace) if one != subscription]
    mine = {name_of(csv) for csv in csvs if package_named_by(csv) == package}
    roots = mine | claimed([subscription] if subscription else [])
    wanted = chain(csvs, roots) - claimed(others)
    return sorted((csv for csv in csvs if name_of(csv) in wanted), key=name_of)
