"""Refuses to install what the other generation of OLM runs already: both would want the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from eventing.cli.commands import fix_text
from eventing.cli.requests.request import PackageError
from eventing.diagnosis.status.extension_reader import extension_statuses
from eventing.diagnosis.status.generations import move, named, removal
from eventing.diagnosis.status.reader import Sources, package_statuses

if TYPE_CHECKING:
    from eventing.diagnosis.status.package_status import PackageStatus
    from shared.adapters.kube import KubeClient


def check_extensions(cluster: KubeClient, package: str) -> Iterator[str]:
    """PackageError when a ClusterExtension runs the package; a warning when that may not be looked at."""
    return _check(cluster, package, extension_statuses)


def check_subscriptions(cluster: KubeClient, package: str) -> Iterator[str]:
    """PackageError when a Subscription or a version runs the package; a warning when that may not be looked at."""
    return _check(cluster, package, package_statuses)


def _check(cluster: KubeClient, package: str, read: Callable[[Sources], list[PackageStatus]]) -> Iterator[str]:
    from shared.adapters.kube import ApiError

    try:
        found = [one for one in read(Sources(cluster)) if one.package == package]
    except ApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        yield f"warning: whether the other generation of OLM runs {package} could not be looked at: {error.message}"
        return
    for one in found:
        ways = " or ".join(fix_text(each) for each in (move(one), removal(one)) if each)
        place = f" in namespace {one.namespace}" if one.extension else ""
        raise PackageError(
            f"{named(one.ref)} runs {package}{place} already, and two owners would want the same objects; {ways}"
        )
