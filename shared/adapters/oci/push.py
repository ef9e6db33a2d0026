"""The push half of the registry API: what a registry has already is not sent again."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import BinaryIO

from shared.adapters.oci.build import MANIFEST_TYPE, Built
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.exchange import OK, Exchange
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import with_query
from shared.adapters.oci.verify import Descriptor
from shared.adapters.progress import advanced

_CREATED, _ACCEPTED, _NO_CONTENT = 201, 202, 204


def push(registry: Registry, built: Built, location: Location) -> Reference:
    """Send an image; its name by digest. OciError when the registry refuses."""
    reference = location.reference
    try:
        with io.BytesIO(built.config) as config:
            _send_blob(registry.exchange, location, built.config_descriptor, config)
        with built.layer.path.open("rb") as layer:
            _send_blob(registry.exchange, location, built.layer.descriptor, layer)
        headers = {"Content-Type": MANIFEST_TYPE}
        path = f"manifests/{reference.tag or built.digest}"
        desired = (_CREATED, OK)
        with registry.exchange.open("PUT", location, path, headers, content=built.manifest, desired=desired):
            return reference.at(built.digest)
    except OciError as error:
        raise replace(error, message=f"{error.message}; it was not pushed") from error


def _send_blob(exchange: Exchange, location: Location, descriptor: Descriptor, content: BinaryIO) -> None:
    if _has(exchange, location, descriptor):
        return
    with exchange.open("POST", location, "blobs/uploads/", {"Content-Length": "0"}, desired=(_ACCEPTED,)) as response:
        upload = response.headers.get("Location", "")
    if not upload:
        raise OciError(
            "Unreachable", f"{location.reference}: the registry does not say where blobs go; ask who runs it"
        )
    target = with_query(upload, {"digest": descriptor.digest})
    headers = {"Content-Type": "application/octet-stream", "Content-Length": str(descriptor.size)}
    with exchange.open("PUT", location, target, headers, content=content, desired=(_CREATED, _NO_CONTENT)):
        advanced("uploading", descriptor.size)


def _has(exchange: Exchange, location: Location, descriptor: Descriptor) -> bool:
    try:
        with exchange.open("HEAD", location, f"blobs/{descriptor.digest}"):
            return True
    except OciError as error:
        if error.reason == "NotFound":
            return False
        raise
