"""Bytes against what was promised about them: their digest, their size, their form."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import BinaryIO, Final

import orjson

from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.domain.catalog.image_reference import is_digest

CHUNK_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A blob as a manifest names it."""

    digest: str
    size: int

    @classmethod
    def of(cls, value: object, reference: object) -> Descriptor:
        """The descriptor in a manifest; OciError when it is none."""
        match value:
            case {"digest": str(digest), "size": int(size)} if size >= 0 and is_digest(digest):
                return cls(digest, size)
        raise OciError("Malformed", f"{reference}: its manifest names a blob without digest and size: {value!r}")


def digest_of(content: bytes, algorithm: str = "sha256") -> str:
    """The digest of some bytes, as registries write it."""
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def check(content: BinaryIO, descriptor: Descriptor, reference: object) -> None:
    """Read a blob to its end. OciError when it is not the promised one, or longer."""
    seen, total = hashlib.new(descriptor.digest.partition(":")[0]), 0
    while chunk := content.read(CHUNK_BYTES):
        total += len(chunk)
        if total > descriptor.size:
            raise too_large(reference, total, descriptor.size)
        seen.update(chunk)
    compare(f"{seen.name}:{seen.hexdigest()}", descriptor.digest, reference)


def compare(found: str, desired: str, reference: object) -> None:
    """OciError when two digests differ."""
    if found != desired:
        what = f"{reference}: found {found} where {desired} was wanted: damaged, or tampered with"
        raise OciError("DigestMismatch", f"{what}; push the image again, or ask who keeps it")


def too_large(reference: object, size: int, limit: int) -> OciError:
    """The refusal of something beyond its bound."""
    return OciError("TooLarge", f"{reference}: at least {size} bytes where {limit} are allowed; make the image smaller")


def document(content: bytes, reference: object) -> Manifest:
    """A manifest or a configuration. OciError when it is no JSON object."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise OciError("Malformed", f"{reference}: its manifest is not JSON: {error}; push the image again") from error
    if not isinstance(found, dict):
        raise OciError("Malformed", f"{reference}: its manifest is not an object; push the image again")
    return found


def objects(listed: object) -> list[Manifest]:
    """The objects in a list that a manifest or an index should have; whatever else is there does not count."""
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
