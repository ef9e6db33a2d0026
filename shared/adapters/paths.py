"""What a PATH of the command line names: files of this machine, or an image."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Final

LAYOUT_PREFIX: Final = "oci:"
ARCHIVE_PREFIX: Final = "docker-archive:"
LOCAL_PREFIXES: Final = (LAYOUT_PREFIX, ARCHIVE_PREFIX)
"""Of images on this machine."""
LAYOUT_MARK: Final = "oci-layout"
"""The file that makes a folder an OCI image layout."""

_IMAGE: Final = re.compile(r"localhost/.|[^/]*[.:][^/]*/.|[^@:]*[@:]")
"""How an image begins that says where it is, or which one of several it is; other words are misspelled folders."""


class NoSuchPath(FileNotFoundError):
    """A PATH names no folder, no file and no image."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def __str__(self) -> str:
        path = str(self.filename)
        if path.startswith((".", "/")):
            return f"{path}: no such file or folder"
        why = f'failed to pull image "{path}": repository name must be canonical'
        return f"{why} (registry/name:tag); nor is there a file or folder of this name"


def image_named_by(path: str) -> str:
    """The image that a PATH names, e.g. `registry/name:tag` or `oci:DIR`; empty when it names a folder or a file.

    A folder that is an OCI image layout names the image in it. What begins with `.` or `/`, and a name without
    registry, tag and digest, is never an image of a registry: NoSuchPath where nothing has that name.
    """
    if path.startswith(LOCAL_PREFIXES):
        return path
    place = Path(path)
    if (place / LAYOUT_MARK).is_file():
        return f"{LAYOUT_PREFIX}{path}"
    if place.exists():
        return ""
    if path.startswith((".", "/")) or not _IMAGE.match(path):
        raise NoSuchPath(path)
    return path
