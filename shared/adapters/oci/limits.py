"""How much of an image we are willing to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one pull; beyond any of them the image is refused as `TooLarge`."""

    manifest_bytes: int = 4 * 1024 * 1024
    """Of a manifest, an index or a configuration."""
    layer_bytes: int = 1024 * 1024 * 1024
    """Of one compressed layer."""
    memory_bytes: int = 4 * 1024 * 1024
    """Of a compressed layer held in memory; larger ones go to a temporary file."""
    unpacked_bytes: int = 4 * 1024 * 1024 * 1024
    """Of one layer, uncompressed: what a compression bomb may cost in time."""
    kept_bytes: int = 1024 * 1024 * 1024
    """Of all files that are kept."""
    files: int = 100_000
    """Files that are kept."""
    layers: int = 256
    """Layers of one image."""
    entries: int = 1_000_000
    """Entries of all layers, those included that are not kept."""
    path_bytes: int = 4096
    """Of the path of one entry."""
    depth: int = 200
    """Folders above one entry."""
    names_bytes: int = 64 * 1024 * 1024
    """Of the paths of all kept files and links, and of the folders above them."""
