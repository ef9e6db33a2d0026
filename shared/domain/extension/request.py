"""An extension and its catalogs as JSON: requests and responses of `olmf extension resolve --batch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.domain.extension.model import CatalogView, Installed, Request, Resolution
from shared.domain.extension.offer import offer_of
from shared.domain.extension.resolve import resolve
from shared.domain.go.text import quoted
from shared.domain.shape import InvalidRequest, Shape, check

RELEASES = "BundleReleaseSupport"
"""The gate of explicit releases."""


_REQUIREMENT: Final[Shape] = {"key": str, "operator": str, "values": [str]}
_EXTENSION: Final[Shape] = {
    "packageName": str,
    "version": str,
    "channels": [str],
    "selector": {"matchLabels": dict, "matchExpressions": [_REQUIREMENT]},
    "upgradeConstraintPolicy": str,
}
_CATALOG: Final[Shape] = {
    "name": str,
    "priority": int,
    "labels": dict,
    "availabilityMode": str,
    "state": str,
    "fbc": [dict],
}
_REQUEST: Final[Shape] = {
    "gates": dict,
    "catalogs": [_CATALOG],
    "extension": dict,
    "installed": {"name": str, "version": str, "release": str},
}


def response_to(document: Mapping[str, Any]) -> dict[str, Any]:
    """The response to a request. InvalidRequest."""
    check(document, _REQUEST)
    if document.get("extension") is None:
        raise InvalidRequest("extension: there is nothing; wanted spec.source.catalog of a ClusterExtension")
    has_releases = bool((document.get("gates") or {}).get(RELEASES))
    request = request_of(document["extension"], "extension")
    catalogs = [
        _catalog(one, f"catalogs[{index}]", request.package, has_releases=has_releases)
        for index, one in enumerate(document.get("catalogs") or ())
    ]
    return shown(resolve(request, _installed(document.get("installed")), catalogs), has_releases=has_releases)


def request_of(source: Mapping[str, Any], place: str) -> Request:
    """`spec.source.catalog` of a ClusterExtension, which is at that place. InvalidRequest."""
    check(source, _EXTENSION, place)
    return Request(
        source.get("packageName") or "",
        source.get("version") or "",
        tuple(source.get("channels") or ()),
        source.get("selector"),
        source.get("upgradeConstraintPolicy") == "SelfCertified",
    )


def shown(resolution: Resolution, *, has_releases: bool) -> dict[str, Any]:
    """A resolution as JSON."""
    trace = [
        {"catalog": step.catalog, "rule": step.rule, "left": step.left, "removed": list(step.removed)}
        | ({"there": list(step.there)} if step.there else {})
        for step in resolution.trace
    ]
    if resolution.bundle is None or resolution.bundle.identity is None:
        return {"error": resolution.error, "trace": trace}
    identity = resolution.bundle.identity
    return {
        "bundle": resolution.bundle.name,
        "version": str(identity.version),
        "release": None if identity.release is None else str(identity.release),
        "catalog": resolution.catalog,
        "image": resolution.bundle.image,
        "recorded": {"name": resolution.bundle.name, **identity.recorded(has_releases=has_releases)},
        "deprecation": resolution.deprecations,
        "trace": trace,
    }


def _catalog(fields: Mapping[str, Any], place: str, package: str, *, has_releases: bool) -> CatalogView:
    if not fields.get("name"):
        raise InvalidRequest(f"{place}.name: there is nothing")
    name = fields["name"]
    return CatalogView(
        name,
        fields.get("priority") or 0,
        fields.get("labels") or {},
        fields.get("availabilityMode") != "Unavailable",
        offer_of(fields.get("fbc") or (), package, has_releases=has_releases),
        _problem(fields.get("state") or "", quoted(name)),
    )


def _problem(state: str, name: str) -> str:
    """Why a catalog cannot be asked (v1.md §9)."""
    if not state:
        return ""
    known = {
        "no-cache": f"cache for catalog {name} not found",
        "unresolved": f"error: catalog {name} has a nil status.resolvedSource value",
        "not-serving": f"catalog {name} is not being served",
    }
    if state not in known:
        raise InvalidRequest(f"catalog {name} has the unknown state {state!r}; known are {', '.join(sorted(known))}")
    return known[state]


def _installed(fields: Mapping[str, Any] | None) -> Installed | None:
    if fields is None:
        return None
    return Installed(fields.get("name") or "", fields.get("version") or "", fields.get("release"))
