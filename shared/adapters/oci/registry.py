"""The pull half of the registry API; nothing is handed on before its bytes match their digest."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, Final, TypeVar

import urllib3
from urllib3.exceptions import HTTPError

from shared.adapters.oci import verify
from shared.adapters.oci.authorization import Authorizer, refused
from shared.adapters.oci.credentials import ANONYMOUS, Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.reference import Reference, is_digest
from shared.adapters.oci.transport import Transport, unreachable
from shared.adapters.oci.verify import Descriptor
from shared.api.manifest import Manifest

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
    """What can be read from registries with one set of credentials."""

    def __init__(
        self, transport: Transport | None = None, credentials: Credentials = ANONYMOUS, limits: Limits | None = None
    ) -> None:
        self.limits = limits or Limits()
        self._transport = transport or Transport()
        self._authorizer = Authorizer(self._transport, credentials)
        self._credentials = credentials

    def digest(self, reference: Reference) -> str:
        """The digest that a tag points to now; that of the reference when it has one."""
        if reference.digest:
            return reference.digest
        with self._open("HEAD", reference, f"manifests/{reference.wanted}", _ACCEPT) as response:
            stated = response.headers.get("Docker-Content-Digest", "")
        return stated if is_digest(stated) else self.manifest(reference)[0]

    def manifest(self, reference: Reference) -> tuple[str, Manifest]:
        """The digest and the content of a manifest or an index."""

        def read() -> bytes:
            with self._open("GET", reference, f"manifests/{reference.wanted}", _ACCEPT) as response:
                return _whole_body(response, self.limits.manifest_bytes, reference)

        content = self._whole(read, reference)
        digest = verify.digest_of(content)
        if reference.digest:
            verify.compare(verify.digest_of(content, reference.digest.partition(":")[0]), reference.digest, reference)
            digest = reference.digest
        return digest, verify.document(content, reference)

    def document(self, reference: Reference, descriptor: Descriptor) -> Manifest:
        """A small blob of JSON, such as the configuration of an image."""
        if descriptor.size > self.limits.manifest_bytes:
            raise verify.too_large(reference, descriptor.size, self.limits.manifest_bytes)
        with self.blob(reference, descriptor) as content:
            return verify.document(content.read(), reference)

    @contextmanager
    def blob(self, reference: Reference, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """A verified blob, rewound; it lives in memory or, when large, in a temporary file."""
        if descriptor.size > self.limits.layer_bytes:
            raise verify.too_large(reference, descriptor.size, self.limits.layer_bytes)
        with tempfile.SpooledTemporaryFile(max_size=self.limits.memory_bytes) as spool:
            self._whole(lambda: self._download(reference, descriptor, spool), reference)
            spool.seek(0)
            yield spool  # type: ignore[misc]  # why: a spooled file is a BinaryIO in all but its declared type

    def _download(
        self, reference: Reference, descriptor: Descriptor, spool: tempfile.SpooledTemporaryFile[bytes]
    ) -> None:
        spool.seek(0)
        spool.truncate()
        with self._open("GET", reference, f"blobs/{descriptor.digest}", {}) as response:
            chunks = response.stream(verify.CHUNK_BYTES, decode_content=False)
            verify.check(chunks, descriptor, reference, write=spool.write)

    def _whole(self, read: Callable[[], _T], reference: Reference) -> _T:
        """Read a body, again from its start where the connection broke in the middle."""
        for _ in range(self._transport.attempts - 1):
            try:
                return read()
            except HTTPError:
                continue  # the last attempt, below, tells what is wrong
        try:
            return read()
        except HTTPError as error:
            raise unreachable(error, f"https://{reference.host}", str(reference)) from error

    @contextmanager
    def _open(
        self, method: str, reference: Reference, path: str, headers: Mapping[str, str]
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        scheme = "http" if reference.is_loopback else "https"
        url = f"{scheme}://{reference.host}/v2/{reference.repository}/{path}"
        response = self._send(method, url, reference, headers)
        if response.status == _UNAUTHORIZED:
            challenge = response.headers.get("WWW-Authenticate", "")
            response.drain_conn()
            if self._authorizer.answer(reference, challenge):
                response = self._send(method, url, reference, headers)
        try:
            self._check(response, reference)
            yield response
        except BaseException:
            response.close()  # a half-read connection must not serve another request
            raise
        response.drain_conn()
        response.release_conn()

    def _send(
        self, method: str, url: str, reference: Reference, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        return self._transport.request(method, url, {**headers, **self._authorizer.header(reference)}, str(reference))

    def _check(self, response: urllib3.BaseHTTPResponse, reference: Reference) -> None:
        status = response.status
        if status == _OK:
            return
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            raise refused(reference, self._credentials.of(reference))
        if status == _NOT_FOUND:
            raise OciError(
                "NotFound", f"{reference}: {reference.registry} does not have this image: check its name and tag"
            )
        raise OciError("Unreachable", f"{reference}: {reference.registry} answered {status}; it is tried again")


_OK: Final = 200
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404


def _whole_body(response: urllib3.BaseHTTPResponse, limit: int, reference: Reference) -> bytes:
    """The body; more than `limit` bytes are refused without reading them."""
    content = bytearray()
    for chunk in response.stream(verify.CHUNK_BYTES, decode_content=False):
        content += chunk
        if len(content) > limit:
            raise verify.too_large(reference, len(content), limit)
    return bytes(content)
