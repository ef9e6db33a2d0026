"""What marks images on this machine: the prefixes of their names, and the file of an OCI image layout."""

from __future__ import annotations

from typing import Final

LAYOUT_PREFIX: Final = "oci:"


ARCHIVE_PREFIX: Final = "docker-archive:"


LAYOUT_MARK: Final = "oci-layout"
"""The file that makes a folder an OCI image layout."""
