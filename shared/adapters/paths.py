"""Decides whether a PATH of the command line names files of this machine or an image."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.local import local_name
from shared.adapters.oci.prefixes import ARCHIVE_PREFIX, LAYOUT_MARK, LAYOUT_PREFIX
from shared.domain.catalog.image_reference import why_not_canonical

LOCAL_PREFIXES: Final = (LAYOUT_PREFIX, ARCHIVE_PREFIX)
"""Of images on this machine."""


class NoSuchPath(FileNotFoundError):
    """A PATH names no folder, no file and no image; `message` is given when it could only be an image."""

    def __init__(self, path: str, message: str = "") -> None:
        super().__init__(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._message = message or f"{path}: no such file or folder"

    def __str__(self) -> str:
        return self._message


def image_named_by(path: str) -> str:
    """The image that a PATH names, e.g. `registry/name:tag` or `oci:DIR`; empty when it names a folder or a file.

    A folder that is an OCI image layout names the image in it. What exists is never an image of a registry, nor is
    what begins with `.` or `/`; other words are one when they are a reference that begins with its registry.
    NoSuchPath when the PATH names nothing.
    """
    place = Path(path)
    if path.startswith(LOCAL_PREFIXES):
        _check_local(path)
        return path
    if path and place.exists():
        return f"{LAYOUT_PREFIX}{path}" if (place / LAYOUT_MARK).is_file() else ""
    if path.startswith((".", "/")):
        raise NoSuchPath(path)

    if why := why_not_canonical(path):
        pulling = f'failed to pull image "{path}": {why} (registry/name:tag)'
        raise NoSuchPath(path, f"{pulling}; nor is there a file or folder of this name")
    return path


def _check_local(path: str) -> None:
    try:
        name = None if path in LOCAL_PREFIXES else local_name(path)
    except OciError as error:
        raise NoSuchPath(path, error.message) from error
    if name is None or not name.path.exists():
        raise NoSuchPath(path)
