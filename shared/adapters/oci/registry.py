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
from shared.adapters.oci.mirrors import NO_MIRRORS, Location, Locations
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
        mirrors: Locations = NO_MIRRORS,
        blobs: Blobs | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.credentials = credentials
        self.exchange = Exchange(transport or Transport(), credentials)
        self._mirrors = mirrors
        self._blobs = blobs or TemporaryBlobs(self.limits.memory_bytes)
        self._last: dict[str, Location] = {}

    def digest(self, reference: Reference) -> str:
        """The digest that a tag points to now; that of the reference when it has one."""
        if reference.digest:
            return reference.digest

        def ask(location: Location) -> str:
            path = f"manifests/{location.reference.desired}"
            with self.exchange.open("HEAD", location, path, _ACCEPT) as response:
                return response.headers.get("Docker-Content-Digest", "")

        digest = self._first_answer(reference, ask)
        return digest if is_digest(digest) else self.manifest(reference)[0]

    def confirm(self, reference: Reference) -> None:
        """Ask whether an image is there for us, without reading it. OciError when it is not."""

        def ask(location: Location) -> None:
            with self.exchange.open("HEAD", location, f"manifests/{location.reference.desired}", _ACCEPT):
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
        with self._blobs.opened(reference.location, descriptor) as content:
            self._first_answer(reference, lambda location: Download(self.exchange, location, descriptor).run(content))
            content.seek(0)
            yield content

    def forget_blobs(self) -> None:
        """Say that what came of the image is kept elsewhere."""
        self._blobs.done()

    def _manifest(self, location: Location) -> bytes:
        def read() -> bytes:
            path = f"manifests/{location.reference.desired}"
            with self.exchange.open("GET", location, path, _ACCEPT) as response:
                return whole_body(response, self.limits.manifest_bytes, location.reference)

        content = self.exchange.retried(read, location)
        if desired := location.reference.digest:
            seen = verify.digest_of(content, desired.partition(":")[0])
            verify.compare(seen, desired, location.reference)
        return content

    def _locations(self, reference: Reference) -> list[Location]:
        """Where to ask, first where the last answer came from: what has an image by tag has its layers, too."""
        usual = self._mirrors.locations(reference)
        if (last := self._last.get(reference.location)) is None:
            return usual
        moved = replace(reference, registry=last.reference.registry, repository=last.reference.repository)
        first = Location(moved, last.is_insecure)
        return [first, *(location for location in usual if location != first)]

    def _first_answer(self, reference: Reference, ask: Callable[[Location], _T]) -> _T:
        """The answer of the first place that has one. OciError that tells of all when there are several."""
        locations = self._locations(reference)
        refusals: list[OciError] = []
        for location in locations:
            try:
                answer = ask(location)
            except OciError as error:
                if len(locations) == 1 and location.reference == reference:
                    raise
                refusals.append(error)
            else:
                self._last[reference.location] = location
                return answer
        asked = "; ".join(
            f"{location.reference.location}: {error}" for location, error in zip(locations, refusals, strict=True)
        )
        what = f"{reference}: none of the mirrors and locations that are set for it has the image ({asked})"
        raise OciError("MirrorMiss", f"{what}; copy it there (`skopeo copy`), or correct the mirrors") from refusals[-1]
