"""The name of what is unpacked for one bundle image (catalog.md §1.5)."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_LABEL_LENGTH: Final = 63


def bundle_hash(image: str) -> str:
    """SHA-256 of the image reference in hex, without the last digit: 63 characters fit a label."""
    return sha256(image.encode()).hexdigest()[:_LABEL_LENGTH]
