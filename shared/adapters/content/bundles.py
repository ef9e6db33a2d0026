"""The `Bundles` port: bundles from images, and from catalogs that hold their manifests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final, Literal

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import in_memory, pull
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.api.manifest import Manifest
from shared.domain.bundle.inline import InlineBundle
from shared.domain.bundle.model import BadBundle
from shared.domain.bundle.payload import payload, whole
from shared.domain.image_source import ImageSource
from shared.domain.serving.registry_api import NotServable, content_of
from shared.ports import Unavailable

_LAYER_BYTES: Final = 128 * 1024 * 1024
LIMITS: Final = Limits(
    layer_bytes=_LAYER_BYTES, memory_bytes=_LAYER_BYTES, kept_bytes=64 * 1024 * 1024, files=2000
)  # in memory: the root file system of the unpack Job is read-only
"""A bundle must fit into a ConfigMap of 1 MiB, compressed: much larger images need not be downloaded."""
_DIRECTORIES: Final = ("manifests", "metadata")


class ImageBundles:
    """Pulls bundles, and stores nothing: their content is written to the cluster."""

    def __init__(self, puller: Puller, catalogs: ImageCatalogs) -> None:
        self._puller = puller
        self._catalogs = catalogs

    def files(self, source: ImageSource) -> Manifest | Unavailable:
        """`{"binaryData": …}` of the files of the image by path."""
        return self._puller.run(source, source.image, partial(files_of, source.image), limits=LIMITS)

    def config_map_payload(self, source: ImageSource) -> Manifest | Unavailable:
        """`{"annotations": …, "binaryData": …}` of the unpacked bundle (catalog.md §5.5)."""
        if (inline := InlineBundle.parse(source.image)) is not None:
            return self._from_catalog(inline, source)
        return self._puller.run(source, source.image, partial(payload_of, source.image), limits=LIMITS)

    def _from_catalog(self, inline: InlineBundle, source: ImageSource) -> Manifest | Unavailable:
        """The payload of a bundle in its catalog, for who may read that."""
        of_catalog = replace(source, image=inline.reference)
        found = self._catalogs.bundle(inline.reference, inline.package, inline.name, of_catalog)
        if isinstance(found, Unavailable):
            return found
        try:
            result = inline.payload(content_of(found or {}, "", {}).objects)
        except NotServable as error:
            return Unavailable("Malformed", f"bundle {inline.name} of package {inline.package}: {error}")
        return Unavailable(_reason(result), result.message) if isinstance(result, BadBundle) else result


def payload_of(path: str, registry: Registry, reference: Reference) -> Manifest:
    """The payload of a bundle image, whose path in the catalog is `path`. OciError when it is not a bundle."""
    image = pull(registry, reference, lambda _: _DIRECTORIES, in_memory)
    result = payload(image.files, path)
    if isinstance(result, BadBundle):
        raise OciError(_reason(result), result.message)
    return result


def _reason(bad: BadBundle) -> Literal["TooLarge", "Malformed"]:
    return "TooLarge" if bad.reason == "TooLarge" else "Malformed"


def files_of(path: str, registry: Registry, reference: Reference) -> Manifest:
    """The files of a bundle image, whose path in the catalog is `path`. OciError when they are too many."""
    found = whole(pull(registry, reference, lambda _: _DIRECTORIES, in_memory).files, path)
    if isinstance(found, BadBundle):
        raise OciError("TooLarge", found.message)
    return found
