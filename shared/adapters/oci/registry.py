"""The pull half of the registry API; nothing is handed on before its bytes match their digest."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeVar

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from shared.adapters.oci.authorization import Authorizer, refused
from shared.adapters.oci.credentials import ANONYMOUS, Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.reference import Reference, is_digest
from shared.adapters.oci.transport import Transport, unreachable
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
_CHUNK_BYTES: Final = 256 * 1024
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A blob as a manifest names it."""

    digest: str
    size: int

    @classmethod
    def of(cls, value: object, reference: Reference) -> Descriptor:
        """The descriptor in a manifest; OciError when it is none."""
        match value:
            case {"digest": str(digest), "size": int(size)} if size >= 0 and is_digest(digest):
                return cls(digest, size)
        raise OciError("Malformed", f"{reference}: its manifest names a blob without digest and size: {value!r}")


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
                return b"".join(_bounded(response, self.limits.manifest_bytes, reference))

        content = self._whole(read, reference)
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        if reference.digest:
            _compare(_digest_of(reference.digest, content), reference.digest, reference)
            digest = reference.digest
        return digest, _json(content, reference)

    def document(self, reference: Reference, descriptor: Descriptor) -> Manifest:
        """A small blob of JSON, such as the configuration of an image."""
        if descriptor.size > self.limits.manifest_bytes:
            raise _too_large(reference, descriptor.size, self.limits.manifest_bytes)
        with self.blob(reference, descriptor) as content:
            return _json(content.read(), reference)

    @contextmanager
    def blob(self, reference: Reference, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """A verified blob, rewound; it lives in memory or, when large, in a temporary file."""
        if descriptor.size > self.limits.layer_bytes:
            raise _too_large(reference, descriptor.size, self.limits.layer_bytes)
        with tempfile.SpooledTemporaryFile(max_size=self.limits.memory_bytes) as spool:
            self._whole(lambda: self._download(reference, descriptor, spool), reference)
            spool.seek(0)
            yield spool  # type: ignore[misc]  # why: a spooled file is a BinaryIO in all but its declared type

    def _download(
        self, reference: Reference, descriptor: Descriptor, spool: tempfile.SpooledTemporaryFile[bytes]
    ) -> None:
        spool.seek(0)
        spool.truncate()
        seen = hashlib.new(descriptor.digest.partition(":")[0])
        with self._open("GET", reference, f"blobs/{descriptor.digest}", {}) as response:
            for chunk in _bounded(response, descriptor.size, reference):
                seen.update(chunk)
                spool.write(chunk)
        _compare(f"{seen.name}:{seen.hexdigest()}", descriptor.digest, reference)

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


def _bounded(response: urllib3.BaseHTTPResponse, limit: int, reference: Reference) -> Iterator[bytes]:
    """The body in chunks; more than `limit` bytes are refused without reading them."""
    total = 0
    for chunk in response.stream(_CHUNK_BYTES, decode_content=False):
        total += len(chunk)
        if total > limit:
            response.close()
            raise _too_large(reference, total, limit)
        yield chunk


def _too_large(reference: Reference, size: int, limit: int) -> OciError:
    return OciError("TooLarge", f"{reference}: at least {size} bytes where {limit} are allowed; make the image smaller")


def _digest_of(stated: str, content: bytes) -> str:
    algorithm = stated.partition(":")[0]
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def _compare(seen: str, wanted: str, reference: Reference) -> None:
    if seen != wanted:
        what = f"{reference}: the registry sent {seen} where {wanted} was wanted: damaged, or tampered with"
        raise OciError("DigestMismatch", f"{what}; push the image again, or ask who runs the registry")


def _json(content: bytes, reference: Reference) -> Manifest:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise OciError("Malformed", f"{reference}: its manifest is not JSON: {error}; push the image again") from error
    if not isinstance(document, dict):
        raise OciError("Malformed", f"{reference}: its manifest is not an object; push the image again")
    return document
