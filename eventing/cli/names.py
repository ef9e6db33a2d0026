"""Names in options: of Namespaces, and similar ones where a name is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from shared.api.manifest import name_of, namespace_of
from shared.kinds import NAMESPACE, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.ports import Cluster

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

_MOST_NAMED: Final = 5


def checked_namespace(name: str) -> str:
    """The name that -n gives, if a Namespace can have it. CliError."""
    return checked("-n", name)


def checked_install_namespace(name: str) -> str:
    """The name that --install-namespace gives, if a Namespace can have it. CliError."""
    return checked("--install-namespace", name)


def checked(option: str, name: str) -> str:
    """The name, if it is empty or a Namespace can have it. CliError."""
    if name and not _NAMESPACE.fullmatch(name):
        desired = "at most 63 lower-case letters, digits and '-', a letter or digit at both ends"
        raise CliError(f"{option} {name}: no Namespace can be called so; wanted {desired}", USAGE)
    return name


def check_namespace(namespace: str, cluster: Cluster) -> None:
    """CliError when a namespace does not exist or has no Subscription, as that may be a wrong word."""
    found = set(map(namespace_of, cluster.list(SUBSCRIPTION)))
    if namespace in found:
        return
    check_exists(namespace, cluster)
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    others = f"; there are some in {', '.join(sorted(found)[:_MOST_NAMED])}{more} (-n)" if found else ""
    raise CliError(f"no Subscription in {namespace}{others}", NEGATIVE)


def check_exists(namespace: str, cluster: Cluster) -> None:
    """CliError when there is no such Namespace, which may be a wrong word; who may not read them is told nothing."""
    found = _namespaces(cluster)
    if found and namespace not in found:
        raise CliError(f"there is no namespace {namespace}{similar(namespace, found)}", NEGATIVE)


def _namespaces(cluster: Cluster) -> set[str]:
    """The names of all namespaces; none where they are not known."""
    from shared.adapters.kube import ApiError

    try:
        return {name_of(one) for one in cluster.list(NAMESPACE)}
    except ApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return set()


def similar(name: str, known: Iterable[str]) -> str:
    """The similar names among the known ones, as the end of a sentence: `; similar: …`; empty without any."""
    found = get_close_matches(name, sorted(set(known)))
    return f"; similar: {', '.join(found)}" if found else ""
