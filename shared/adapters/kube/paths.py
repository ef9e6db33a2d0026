"""The paths of the Kubernetes API."""

from __future__ import annotations

from urllib.parse import quote

from shared.kinds import InvalidName, Kind
from shared.refs import check_namespace


def root_of(api_version: str) -> str:
    """The path of a group version: `/api/v1`, `/apis/apps/v1`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The path of a collection (of all namespaces when `namespace` is empty), an object, or a subresource.

    InvalidName for what would lead elsewhere: connections remove dots, some servers decode a slash.
    """
    parts = [root_of(kind.api_version)]
    if namespace and kind.is_namespaced:
        check_namespace(namespace)
        parts += ["namespaces", namespace]
    parts.append(kind.plural)
    if name:
        parts.append(_segment(name))
        if subresource:
            parts.append(subresource)
    return "/".join(parts)


def _segment(name: str) -> str:
    if name in (".", "..") or "/" in name:
        raise InvalidName(f"{name!r} is no part of a path")
    return quote(name, safe="")
