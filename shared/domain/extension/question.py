"""An extension and its catalogs as JSON: what `olmf extension resolve --batch` is asked and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.catalog.model import Channel, Entry
from shared.domain.extension.identity import NoIdentity, of_bundle
from shared.domain.extension.model import Answer, Bundle, CatalogView, Installed, Offer, Request
from shared.domain.extension.resolve import resolve
from shared.domain.gotext import quoted

RELEASES = "BundleReleaseSupport"
"""The gate of explicit releases."""


class InvalidQuestion(ValueError):
    """A line is no question; the message says what is wrong with it."""


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question. InvalidQuestion."""
    try:
        has_releases = bool((question.get("gates") or {}).get(RELEASES))
        request = request_of(question["extension"])
        catalogs = [_catalog(one, request.package, has_releases=has_releases) for one in question.get("catalogs") or ()]
        installed = _installed(question.get("installed"))
        return shown(resolve(request, installed, catalogs), has_releases=has_releases)
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidQuestion(f"the question has not the expected shape: {type(error).__name__}: {error}") from error


def request_of(source: Mapping[str, Any]) -> Request:
    """`spec.source.catalog` of a ClusterExtension."""
    return Request(
        str(source.get("packageName") or ""),
        str(source.get("version") or ""),
        tuple(source.get("channels") or ()),
        source.get("selector"),
        source.get("upgradeConstraintPolicy") == "SelfCertified",
    )


def offer_of(blobs: Iterable[Mapping[str, Any]], package: str, *, has_releases: bool) -> Offer:
    """What the blobs say about a package, taken as they are."""
    bundles, channels, deprecations = [], [], None
    for blob in blobs:
        if blob.get("package") == package:
            match blob.get("schema"):
                case "olm.bundle":
                    bundles.append(_bundle(blob, has_releases=has_releases))
                case "olm.channel":
                    entries = tuple(map(_entry, blob.get("entries") or ()))
                    channels.append(Channel(str(blob.get("name") or ""), entries))
                case "olm.deprecations":
                    deprecations = deprecations or blob
    return Offer(tuple(bundles), tuple(channels), deprecations)


def shown(answer: Answer, *, has_releases: bool) -> dict[str, Any]:
    """An answer as JSON."""
    trace = [
        {"catalog": step.catalog, "rule": step.rule, "left": step.left, "removed": list(step.removed)}
        for step in answer.trace
    ]
    if answer.bundle is None or answer.bundle.identity is None:
        return {"error": answer.error, "trace": trace}
    identity = answer.bundle.identity
    return {
        "bundle": answer.bundle.name,
        "version": str(identity.version),
        "release": None if identity.release is None else str(identity.release),
        "catalog": answer.catalog,
        "image": answer.bundle.image,
        "recorded": {"name": answer.bundle.name, **identity.recorded(has_releases=has_releases)},
        "deprecation": answer.deprecations,
        "trace": trace,
    }


def _catalog(stated: Mapping[str, Any], package: str, *, has_releases: bool) -> CatalogView:
    name = str(stated["name"])
    return CatalogView(
        name,
        int(stated.get("priority") or 0),
        stated.get("labels") or {},
        stated.get("availabilityMode") != "Unavailable",
        offer_of(stated.get("fbc") or (), package, has_releases=has_releases),
        _problem(str(stated.get("state") or ""), quoted(name)),
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
        raise InvalidQuestion(f"catalog {name} has the unknown state {state!r}; known are {', '.join(sorted(known))}")
    return known[state]


def _installed(stated: Mapping[str, Any] | None) -> Installed | None:
    if stated is None:
        return None
    release = stated.get("release")
    return Installed(str(stated["name"]), str(stated.get("version") or ""), None if release is None else str(release))


def _bundle(blob: Mapping[str, Any], *, has_releases: bool) -> Bundle:
    name, properties = str(blob.get("name") or ""), tuple(blob.get("properties") or ())
    image = str(blob.get("image") or "")
    try:
        return Bundle(name, image, properties, of_bundle(name, properties, has_releases=has_releases))
    except NoIdentity as error:
        return Bundle(name, image, properties, None, str(error))


def _entry(stated: Mapping[str, Any]) -> Entry:
    return Entry(
        str(stated.get("name") or ""),
        str(stated.get("replaces") or ""),
        tuple(stated.get("skips") or ()),
        str(stated.get("skipRange") or ""),
    )
