"""Requests to render a bundle, as JSON, and their responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.domain.bundle.model import Files
from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import CERT_PROVIDERS, Bundle, NotRenderedError, RenderOptions
from shared.domain.extension.render.render import render
from shared.domain.shape import InvalidRequest, check

_FIELDS: Final = {"installNamespace": str, "gates": dict, "certProvider": str}


def options_of(request: ReadOnly) -> RenderOptions:
    """The options that a request asks for. InvalidRequest."""
    check(request, _FIELDS)
    provider = request.get("certProvider") or "none"
    if provider not in CERT_PROVIDERS:
        known = ", ".join(CERT_PROVIDERS)
        raise InvalidRequest(f"certProvider {provider!r} is not known; known are {known}")
    return RenderOptions(
        request.get("installNamespace") or "", request.get("config"), provider, request.get("gates") or {}
    )


def response_to(files: Files, options: RenderOptions, loading: Loading | None = None) -> Manifest:
    """The objects, or the error and whether only an edit helps."""
    try:
        bundle = (loading or Loading()).bundle(files)
        return {"objects": [described(manifest) for manifest in render(bundle, options)]}
    except NotRenderedError as error:
        return {"error": str(error), "terminal": error.is_terminal}


class Loading:
    """Reads a bundle once for all consecutive requests about it."""

    def __init__(self, *, is_in_memory: bool = False) -> None:
        self._is_in_memory = is_in_memory
        self._files: Mapping[str, bytes] = {}
        self._bundle: Bundle | None = None

    def bundle(self, files: Files) -> Bundle:
        """The bundle in these files. NotRenderedError when OLM v1 cannot read it."""
        if self._bundle is None or files != self._files:
            self._bundle = None
            self._bundle = load(files, is_in_memory=self._is_in_memory)
            self._files = files
        return self._bundle


def described(manifest: ReadOnly) -> dict[str, Any]:
    """An object with what it is called."""
    return {
        "apiVersion": manifest.get("apiVersion") or "",
        "kind": manifest["kind"],
        "namespace": namespace_of(manifest),
        "name": name_of(manifest),
        "manifest": manifest,
    }
