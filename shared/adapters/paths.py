"""What a PATH of the command line names: files of this machine, or an image."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LAYOUT_PREFIX: Final = "oci:"
ARCHIVE_PREFIX: Final = "docker-archive:"
LOCAL_PREFIXES: Final = (LAYOUT_PREFIX, ARCHIVE_PREFIX)
"""Of images on this machine."""
LAYOUT_MARK: Final = "oci-layout"
"""The file that makes a folder an OCI image layout."""


def image_named_by(path: str) -> str:
    """The image that a PATH names, e.g. `registry/name:tag` or `oci:DIR`; empty when it names a folder or a file.

    A folder that is an OCI image layout names the image in it. What begins with `.` or `/` is never an
    image of a registry.
    """
    if path.startswith(LOCAL_PREFIXES):
        return path
    place = Path(path)
    if (place / LAYOUT_MARK).is_file():
        return f"{LAYOUT_PREFIX}{path}"
    return "" if path.startswith((".", "/")) or place.exists() else path
