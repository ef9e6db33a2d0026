"""Says how an image is pulled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageSource:
    """An image reference, and the pull secrets for it."""

    image: str
    namespace: str
    """The namespace of the secrets."""
    secrets: tuple[str, ...] = ()
