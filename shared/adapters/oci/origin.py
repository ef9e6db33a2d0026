"""Where the parts of an image come from: a registry, a layout folder, an archive."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol, Self, TypeVar

from shared.adapters.oci.limits import Limits
from shared.adapters.oci.verify import Descriptor
from shared.api.manifest import Manifest


class Name(Protocol):
    """What an image is called; as text, what its owner would write."""

    @property
    def digest(self) -> str:
        """Empty, or what decides which image is meant."""
        ...

    @property
    def location(self) -> str:
        """The name without tag and digest."""
        ...

    def at(self, digest: str) -> Self:
        """The same image by digest only."""
        ...


N = TypeVar("N", bound=Name)
_N = TypeVar("_N", bound=Name, contravariant=True)


class Origin(Protocol[_N]):
    """Hands out what matches its digest, and nothing else. Every failure is an OciError."""

    @property
    def limits(self) -> Limits:
        """How much it is willing to hand out."""
        ...

    def manifest(self, reference: _N, /) -> tuple[str, Manifest]:
        """The digest and the content of a manifest or an index."""
        ...

    def document(self, reference: _N, descriptor: Descriptor, /) -> Manifest:
        """A small blob of JSON, such as the configuration of an image."""
        ...

    def blob(self, reference: _N, descriptor: Descriptor, /) -> AbstractContextManager[BinaryIO]:
        """A verified blob, rewound."""
        ...
