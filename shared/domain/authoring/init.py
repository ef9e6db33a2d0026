"""The first document of a new catalog: its package (`opm init`, fbc.md §13.9)."""

from __future__ import annotations

import base64
import re
from typing import Final

from shared.domain.catalog.config import Blob
from shared.domain.go.text import quoted

_SIGNATURES: Final = (
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/jp2", re.compile(rb"\0\0\0\x0cjP  \r\n\x87\n\0")),
    ("image/png", re.compile(rb"\x89PNG")),
    ("image/gif", re.compile(rb"GIF")),
    ("image/webp", re.compile(rb".{8}WEBP", re.DOTALL)),
    ("image/x-canon-cr2", re.compile(rb"(?:II\*\0|MM\0\*).{4}CR\x02", re.DOTALL)),
    ("image/tiff", re.compile(rb"(?:II\*\0|MM\0\*).{7}", re.DOTALL)),
    ("image/bmp", re.compile(rb"BM")),
    ("image/vnd.ms-photo", re.compile(rb"II\xbc")),
    ("image/vnd.adobe.photoshop", re.compile(rb"8BPS")),
    ("image/vnd.microsoft.icon", re.compile(rb"\0\0\x01\0")),
    ("image/heif", re.compile(rb".{4}ftyp(?:heic|m(?:if|sf)1.{4}(?:.{4})*?heic)", re.DOTALL)),
    ("image/vnd.dwg", re.compile(rb"AC10")),
    ("application/pdf", re.compile(rb"%PDF")),
    ("application/zip", re.compile(rb"PK[\x03\x05\x07][\x04\x06\x08]")),
    ("application/gzip", re.compile(rb"\x1f\x8b\x08")),
)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_SVG: Final = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype svg[^>]*>\s*)?<svg[^>]*>[^*]*</svg>\s*", re.IGNORECASE)
_IMAGE: Final = "image/"


class NotAnImage(ValueError):
    """The file of an icon is not an image."""


def new_package(name: str, *, default_channel: str = "", description: str = "", icon: bytes | None = None) -> Blob:
    """The `olm.package`. NotAnImage."""
    return {
        "schema": "olm.package",
        "name": name,
        "defaultChannel": default_channel,
        **({"icon": _icon(icon)} if icon is not None else {}),
        **({"description": description} if description else {}),
    }


def _icon(content: bytes) -> Blob:
    if not content:
        raise NotAnImage("detect icon mediatype: Empty buffer")
    media_type = next((kind for kind, signature in _SIGNATURES if signature.match(content)), "")
    if not media_type and _SVG.fullmatch(_COMMENT.sub(b"", content)):
        media_type = "image/svg+xml"
    if not media_type.startswith(_IMAGE):
        raise NotAnImage(f"detected invalid type {quoted(media_type)}: not an image")
    return {"base64data": base64.b64encode(content).decode(), "mediatype": media_type}
