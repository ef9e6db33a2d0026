"""The paths of the Kubernetes API."""

from __future__ import annotations

from urllib.parse import quote

from shared.kinds import Kind


def root_of(api_version: str) -> str:
    """The path of a group version: `/api/v1`, `/apis/apps/v1`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The path of a collection (of all namespaces when `namespace` is empty), an object, or a subresource."""
    parts = [root_of(kind.api_version)]
    if namespace and kind.is_namespaced:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(kind.plural)
    if name:
        parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
    return "/".join(parts)
