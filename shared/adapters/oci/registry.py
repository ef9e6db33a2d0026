"""The pull half of the registry API; nothing is handed on before its bytes match their digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, Final, TypeVar

from shared.adapters.oci import verify
from shared.adapters.oci.blobs import Blobs, TemporaryBlobs
from shared.adapters.oci.credentials import ANONYMOUS, Credentials
from shared.adapters.oci.download import Download
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.exchange import Exchange
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.mirrors import NO_MIRRORS, Place, Places
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.transport import Transport, whole_body
from shared.adapters.oci.verify import Descriptor
from shared.api.manifest import Manifest
from shared.domain.catalog.image_reference import is_digest

INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_ACCEPT: Final = {"Accept": ", ".join((*MANIFESTS, *INDEXES))}
_T = TypeVar("_T")


class Registry:
    """Reads images from registries with one set of credentials."""

    def __init__(
        self,
        transport: Transport | None = None,
        credentials: Credentials = ANONYMOUS,
        limits: Limits | None = None,
        *,
        mirrors: Places = NO_MIRRORS,
        blobs: Blobs | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.credentials = credentials
        self.exchange = Exchange(transport or Transport(), credentials)
        self._mirrors = mirrors
        self._blobs = blobs or TemporaryBlobs(self.limits.memory_bytes)
        self._last: dict[str, Place] = {}

    def digest(self, reference: Reference) -> str:
        """The digest that a tag points to now; that of the reference when it has one."""
        if reference.digest:
            return reference.digest

        def ask(place: Place) -> str:
            path = f"manifests/{place.reference.desired}"
            with self.exchange.open("HEAD", place, path, _ACCEPT) as response:
                return response.headers.get("Docker-Content-Digest", "")

        stated = self._first_answer(reference, ask)
        return stated if is_digest(stated) else self.manifest(reference)[0]

    def confirm(self, reference: Reference) -> None:
        """Ask whether an image is there for us, without reading it. OciError when it is not."""

        def ask(place: Place) -> None:
            with self.exchange.open("HEAD", place, f"manifests/{place.reference.desired}", _ACCEPT):
                pass

        self._first_answer(reference, ask)

    def manifest(self, reference: Reference) -> tuple[str, Manifest]:
        """The digest and the content of a manifest or an index."""
        content = self._first_answer(reference, self._manifest)
        digest = reference.digest or verify.digest_of(content)
        return digest, verify.document(content, reference)

    def document(self, reference: Reference, descriptor: Descriptor) -> Manifest:
        """A small blob of JSON, such as the configuration of an image."""
        if descriptor.size > self.limits.manifest_bytes:
            raise verify.too_large(reference, descriptor.size, self.limits.manifest_bytes)
        with self.blob(reference, descriptor) as content:
            return verify.document(content.read(), reference)

    @contextmanager
    def blob(self, reference: Reference, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """A verified blob, rewound; only what is not here of it is asked for."""
        if descriptor.size > self.limits.layer_bytes:
            raise verify.too_large(reference, descriptor.size, self.limits.layer_bytes)
        with self._blobs.opened(reference.place, descriptor) as content:
            self._first_answer(reference, lambda place: Download(self.exchange, place, descriptor).run(content))
            content.seek(0)
            yield content

    def forget_blobs(self) -> None:
        """Say that what came of the image is kept elsewhere."""
        self._blobs.done()

    def _manifest(self, place: Place) -> bytes:
        def read() -> bytes:
            path = f"manifests/{place.reference.desired}"
            with self.exchange.open("GET", place, path, _ACCEPT) as response:
                return whole_body(response, self.limits.manifest_bytes, place.reference)

        content = self.exchange.retried(read, place)
        if desired := place.reference.digest:
            seen = verify.digest_of(content, desired.partition(":")[0])
            verify.compare(seen, desired, place.reference)
        return content

    def _places(self, reference: Reference) -> list[Place]:
        """Where to ask, first where the last answer came from: what has an image by tag has its layers, too."""
        usual = self._mirrors.places(reference)
        if (last := self._last.get(reference.place)) is None:
            return usual
        moved = replace(reference, registry=last.reference.registry, repository=last.reference.repository)
        first = Place(moved, last.is_insecure)
        return [first, *(place for place in usual if place != first)]

    def _first_answer(self, reference: Reference, ask: Callable[[Place], _T]) -> _T:
        """The answer of the first place that has one. OciError that tells of all when there are several."""
        places = self._places(reference)
        refusals: list[OciError] = []
        for place in places:
            try:
                answer = ask(place)
            except OciError as error:
                if len(places) == 1 and place.reference == reference:
                    raise
                refusals.append(error)
            else:
                self._last[reference.place] = place
                return answer
        asked = "; ".join(f"{place.reference.place}: {error}" for place, error in zip(places, refusals, strict=True))
        what = f"{reference}: none of the mirrors and places that are set for it has the image ({asked})"
        raise OciError("MirrorMiss", f"{what}; copy it there (`skopeo copy`), or correct the mirrors") from refusals[-1]
