"""What a person asks of OLM v1: a ClusterExtension for a package, followed until it works."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.commands import quoted
from eventing.cli.requests.generations import check_subscriptions
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import POLL_SECONDS, Made
from eventing.cli.status_text import message_of
from eventing.diagnosis.status.extension import NO_CATALOG, decide_extension, made_of, reasons
from eventing.diagnosis.status.extension_reader import read
from eventing.diagnosis.status.reader import Sources
from shared import names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, ClusterExtension
from shared.domain.command import kubectl, olmf
from shared.domain.extension.decision import Target
from shared.kinds import CLUSTER_EXTENSION, NAMESPACE

if TYPE_CHECKING:
    from eventing.diagnosis.status.package_status import PackageStatus
    from shared.adapters.kube import KubeClient
    from shared.reading.extension import Sources as Content

_STABLE_SECONDS = 3.0
"""How long an extension must stand still to be taken for stuck."""


@dataclass(frozen=True, slots=True)
class ExtensionRequest:
    """A package that somebody wants by OLM v1."""

    package: str
    namespace: str
    """Where its objects go."""
    channel: str = ""
    version: str = ""
    """A version or a range; empty: any."""
    catalog: str = ""
    """Name of the ClusterCatalog; empty: any."""

    @property
    def manifest(self) -> Manifest:
        """The ClusterExtension, which is named after its package."""
        chosen: Manifest = {"packageName": self.package}
        chosen |= {"channels": [self.channel]} if self.channel else {}
        chosen |= {"version": self.version} if self.version else {}
        chosen |= {"selector": {"matchLabels": {names.V1_NAME: self.catalog}}} if self.catalog else {}
        return {
            "apiVersion": CLUSTER_EXTENSION.api_version,
            "kind": CLUSTER_EXTENSION.kind,
            "metadata": {"name": self.package},
            "spec": {"namespace": self.namespace, "source": {"sourceType": "Catalog", "catalog": chosen}},
        }


def install_extension(
    cluster: KubeClient, request: ExtensionRequest, content: Content, *, timeout: timedelta
) -> Iterator[str | Made]:
    """Make Namespace and ClusterExtension where they are missing, and follow it, unless there is no time for that.

    PackageError, and nothing is made, when no catalog has what is asked for, when the extension that is there says
    otherwise, or when a Subscription or a version runs the package.
    """
    yield from check_subscriptions(cluster, request.package)
    present = CLUSTER_EXTENSION.look_up(cluster.get, request.package)
    if present:
        _check_same(ClusterExtension(present), request)
        yield f"ClusterExtension {request.package} is there already"
    else:
        _check_offered(request, content)
        yield from ask_for(cluster, request)
    yield from followed(cluster, request.package, content, timeout) if timeout else ()


def ask_for(cluster: KubeClient, request: ExtensionRequest) -> Iterator[Made]:
    """Make the ClusterExtension, and its Namespace where it is missing."""
    if NAMESPACE.look_up(cluster.get, request.namespace) is None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": request.namespace}})
        yield Made(f"Namespace {request.namespace}")
    cluster.create(request.manifest)
    yield Made(f"ClusterExtension {request.package} in namespace {request.namespace}")


def followed(cluster: KubeClient, name: str, content: Content, timeout: timedelta) -> Iterator[str]:
    """A line for each change, until it works. PackageError when it cannot go on by itself, or the time is over."""
    deadline = time.monotonic() + timeout.total_seconds()
    last, since, last_line = None, 0.0, ""
    while True:
        now, at = _status(cluster, name), time.monotonic()
        if now != last:
            last, since = now, at
            if (line := _line(now)) != last_line:
                yield line
                last_line = line
        if now.is_done:
            return
        if at > deadline or (now.is_stuck and at - since >= _STABLE_SECONDS):
            raise PackageError(_why_not(cluster, name, content, timeout if at > deadline else None))
        time.sleep(POLL_SECONDS)


def _status(cluster: KubeClient, name: str) -> PackageStatus:
    extension = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, name))
    if extension is None:
        raise PackageError(f"ClusterExtension {name} was deleted meanwhile")
    return decide_extension(read(Sources(cluster), extension))


def _line(now: PackageStatus) -> str:
    message = "" if now.is_stuck else f" ({now.headline})" if now.headline else ""
    return f"{now.extension}: {now.version or 'no version yet'} {now.phase}{message}"


def _why_not(cluster: KubeClient, name: str, content: Content, late: timedelta | None) -> str:
    extension = ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, name))
    if extension is None:
        return f"ClusterExtension {name} was deleted meanwhile"
    now = decide_extension(read(Sources(cluster), extension, content))
    what = f"is not ready after {late.total_seconds():.0f} s: {now.phase}, " if late else "cannot go on: "
    return f"{name} {what}{message_of(now)}; {quoted(olmf('extension', 'why', name))} shows more"


def _check_same(present: ClusterExtension, request: ExtensionRequest) -> None:
    """PackageError when something else is asked for than the extension says."""
    desired, actual = ClusterExtension(request.manifest), present
    asked = {key: value for key, value in desired.source.items() if key != "packageName"}
    has = {key: actual.source.get(key, "not set") for key in asked}
    others = [f"{key} is {has[key]}" for key, value in asked.items() if has[key] != value]
    if actual.source.get("packageName") != request.package:
        others.append(f"its package is {actual.source.get('packageName')}")
    if actual.install_namespace != request.namespace:
        others.append(f"its namespace is {actual.install_namespace}")
    if others:
        edit = quoted(kubectl("edit", "clusterextension", actual.name))
        raise PackageError(f"ClusterExtension {actual.name} is there already: {', '.join(others)}; {edit} changes it")


def _check_offered(request: ExtensionRequest, content: Content) -> None:
    """PackageError when every catalog can be asked, and none has what is asked for."""
    found = read(Sources(content.cluster), ClusterExtension(request.manifest), content)
    if not found.catalogs:
        raise PackageError(no_catalog(found.images))
    if not isinstance(found.decision, Target) and not any(one.problem for one in found.catalogs):
        raise PackageError("\n".join(reasons(found)))


def no_catalog(images: Iterable[CatalogSource]) -> str:
    """That there is none to install from, and how to make one of the image of a CatalogSource, if there is any."""
    made = (f"; {quoted(made_of(one))} makes one of {one.namespace}/{one.name}" for one in images)
    return f"{NO_CATALOG}{next(made, '')}"
