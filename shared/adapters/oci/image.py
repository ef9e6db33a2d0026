"""One image: from its reference to its labels and files, or to its platforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO, Final, Generic, TypeVar

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layers import Tree
from shared.adapters.oci.origin import N, Name, Origin
from shared.adapters.oci.verify import Descriptor, objects
from shared.adapters.progress import completed, expected
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.platform import Platform, Platforms

T = TypeVar("T")
_PLATFORM: Final = Platform("linux", "amd64")
_UNSAID: Final = ("", "unknown")
"""The platform in an index of an entry that is not an image, such as an attestation."""


@dataclass(frozen=True, slots=True)
class Image(Generic[T]):
    """A pulled image: its name by digest, its labels, and the chosen files."""

    reference: Name
    """By digest."""
    labels: Mapping[str, str]
    files: Mapping[str, T]


def in_memory(stream: BinaryIO) -> bytes:
    """The content of a file as bytes."""
    return stream.read()


def pull(
    origin: Origin[N],
    reference: N,
    choose: Callable[[Mapping[str, str]], tuple[str, ...]],
    keep: Callable[[BinaryIO], T],
) -> Image[T]:
    """The files of an image below the directories that `choose` picks from its labels. OciError when there are none."""
    digest, manifest = origin.manifest(reference)
    found = reference.at(digest)
    try:
        manifest = _for_platform(origin, found, manifest)
        labels = _labels(origin, found, manifest)
        tree = Tree(choose(labels), keep, origin.limits)
        layers = _layers(origin, found, manifest)
        expected(sum(layer.size for layer in layers), len(layers))
        for layer in layers:
            with origin.blob(found, layer) as content:
                tree.add(content)
            completed()
        return Image(found, labels, tree.complete())
    except OciError as error:
        is_named = found.location in error.message
        raise error if is_named else replace(error, message=f"{found}: {error.message}") from error


def platforms(origin: Origin[N], reference: N) -> Platforms:
    """What an image runs on: the platforms of its index, else the one of its configuration. OciError without it."""
    digest, manifest = origin.manifest(reference)
    if "manifests" in manifest:
        listed = [entry.get("platform") for entry in objects(manifest["manifests"])]
    else:
        listed = [_configuration(origin, reference.at(digest), _single(manifest))]
    return tuple(dict.fromkeys(one for value in listed for one in _platform(value)))


def _platform(entry: object) -> Platforms:
    match entry:
        case {"os": str(system), "architecture": str(machine)} if system not in _UNSAID and machine not in _UNSAID:
            return (Platform(system, machine),)
    return ()


def _layers(origin: Origin[N], reference: N, manifest: Manifest) -> list[Descriptor]:
    listed = manifest.get("layers")
    if not isinstance(listed, list) or len(listed) > origin.limits.layers:
        raise OciError("Malformed", "its manifest has no list of layers, or too many; push the image again")
    return [Descriptor.of(layer, reference) for layer in listed]


def _for_platform(origin: Origin[N], reference: N, manifest: Manifest) -> Manifest:
    """The manifest itself, or the one that an index holds for our platform."""
    if "manifests" not in manifest:
        return _single(manifest)
    entry = min(objects(manifest["manifests"]), key=_distance, default=None)
    if entry is None or _distance(entry) == _NEVER:
        raise OciError("Malformed", "its index names no image for linux/amd64; push one")
    _, chosen = origin.manifest(reference.at(Descriptor.of(entry, reference).digest))
    if "manifests" in chosen:
        raise OciError("Malformed", "its index holds another index; push one that names images")
    return _for_platform(origin, reference, chosen)


def _single(manifest: Manifest) -> Manifest:
    if manifest.get("schemaVersion") != 2 or "config" not in manifest:
        raise OciError("Malformed", "it is no image of the second manifest version; push it with a current tool")
    return manifest


_NEVER: Final = 3


def _distance(entry: ReadOnly) -> int:
    """How far an image of an index is from our platform; the files of catalogs and bundles are the same on all."""
    platform = entry.get("platform") or {}
    if not isinstance(platform, dict):
        return _NEVER
    if _platform(platform) == (_PLATFORM,):
        return 0
    if platform.get("os") == _PLATFORM.os:
        return 1
    return 2 if not platform else _NEVER


def _labels(origin: Origin[N], reference: N, manifest: Manifest) -> dict[str, str]:
    config = _configuration(origin, reference, manifest).get("config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    return {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}


def _configuration(origin: Origin[N], reference: N, manifest: Manifest) -> Manifest:
    return origin.document(reference, Descriptor.of(manifest["config"], reference))
