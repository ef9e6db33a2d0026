"""A blob from a registry: verified, and continued where a connection broke or an earlier pull ended."""

from __future__ import annotations

import hashlib
import re
from typing import BinaryIO, Final

import urllib3
from urllib3.exceptions import HTTPError

from shared.adapters.oci import verify
from shared.adapters.oci.exchange import OK, Exchange
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.transport import unreachable
from shared.adapters.oci.verify import Descriptor
from shared.adapters.progress import advanced

_PARTIAL: Final = 206
_CONTENT_RANGE: Final = re.compile(r"bytes (\d+)-")


class Download:
    """One blob that is being fetched."""

    def __init__(self, exchange: Exchange, location: Location, descriptor: Descriptor) -> None:
        self._exchange, self._location, self._descriptor = exchange, location, descriptor
        self._algorithm = descriptor.digest.partition(":")[0]
        self._seen = hashlib.new(self._algorithm)

    def run(self, target: BinaryIO) -> None:
        """Complete the blob in `target`. OciError when it cannot be had, or is not the promised one."""
        if begun := self._resume(target):
            advanced("downloading", begun)
        self._complete(target)
        if begun and self._digest != self._descriptor.digest:  # what was here was damaged
            self._restart(target)
            self._complete(target)
        if self._digest != self._descriptor.digest:
            seen = self._digest
            self._restart(target)
            verify.compare(seen, self._descriptor.digest, self._location.reference)

    @property
    def _digest(self) -> str:
        return f"{self._algorithm}:{self._seen.hexdigest()}"

    def _complete(self, target: BinaryIO) -> None:
        """Fetch what is missing, again where a connection breaks."""
        if target.tell() == self._descriptor.size and self._digest == self._descriptor.digest:
            return
        transport = self._exchange.transport
        for attempt in range(transport.attempts):
            try:
                self._fetch(target)
                break
            except HTTPError as error:
                if attempt == transport.attempts - 1:
                    host = f"https://{self._location.reference.host}"
                    raise unreachable(error, host, str(self._location.reference)) from error
                transport.pause(attempt)

    def _resume(self, target: BinaryIO) -> int:
        """Take up what is in `target`; returns how many bytes, none when they cannot be the beginning of this blob."""
        self._seen = hashlib.new(self._algorithm)
        target.seek(0)
        while chunk := target.read(verify.CHUNK_BYTES):
            self._seen.update(chunk)
        have, size = target.tell(), self._descriptor.size
        if have > size or (have == size and self._digest != self._descriptor.digest):
            self._restart(target)
        return target.tell()

    def _restart(self, target: BinaryIO) -> None:
        target.seek(0)
        target.truncate()
        self._seen = hashlib.new(self._algorithm)

    def _fetch(self, target: BinaryIO) -> None:
        """Append what is missing."""
        have = target.tell()
        headers = {"Range": f"bytes={have}-"} if have else {}
        path = f"blobs/{self._descriptor.digest}"
        with self._exchange.open("GET", self._location, path, headers, desired=(OK, _PARTIAL)) as response:
            if have and not _continues(response, have):
                self._restart(target)
            for chunk in response.stream(verify.CHUNK_BYTES, decode_content=False):
                self._seen.update(chunk)
                target.write(chunk)
                advanced("downloading", len(chunk))
                if target.tell() > self._descriptor.size:
                    raise verify.too_large(self._location.reference, target.tell(), self._descriptor.size)


def _continues(response: urllib3.BaseHTTPResponse, have: int) -> bool:
    content_range = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    return response.status == _PARTIAL and content_range is not None and int(content_range[1]) == have
