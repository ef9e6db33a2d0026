"""TLS of a listener whose certificate changes while it listens."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Never

import structlog

from eventing.catalogs.tls_profile import TlsProfile
from shared.adapters.tls import tls_context

RENEW_SECONDS: Final = 30.0
"""Between two looks at the files."""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class PairFiles:
    """Where a certificate and its key are, and how TLS is spoken with them."""

    certificate: Path
    key: Path
    profile: TlsProfile

    def content(self) -> tuple[bytes, bytes]:
        """What they hold. OSError."""
        return self.certificate.read_bytes(), self.key.read_bytes()

    def context(self) -> ssl.SSLContext:
        """A server's TLS with them. OSError when they cannot be read, or do not fit each other."""
        context = tls_context(ssl.Purpose.CLIENT_AUTH)
        self.profile.apply(context)
        context.load_cert_chain(self.certificate, self.key)
        return context


class ChangingCertificate:
    """A new certificate is shown to whoever connects from then on; one that cannot be used changes nothing.

    Each has a context of its own: one that takes a new certificate has it without its key for a moment, and whoever
    connects then is refused.
    """

    def __init__(self, files: PairFiles) -> None:
        self._files, self._present = files, files.content()
        self.front = self._latest = files.context()
        self.front.sni_callback = self._show  # it is called for every client, whether or not it names a host

    def _show(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        connection.context = self._latest

    async def follow(self) -> Never:
        """Look at the files again and again, until cancelled."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                found = self._files.content()
                if found == self._present:
                    continue
                latest = self._files.context()
            except OSError as error:  # why: half of a pair is an ssl.SSLError, which is one
                log.warning("certificate_unusable", error=str(error))
            else:
                self._present, self._latest = found, latest
                log.info("certificate_renewed")
