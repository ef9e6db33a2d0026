"""Who an API server is to us, and who we are to it; read again when the files that say so were replaced.

Clusters rotate their certificate authority, kubelets rotate tokens, and administrators certificates of clients. A file
that cannot be read, or no longer fits, changes nothing: it may be half written, and is looked at again.
"""

from __future__ import annotations

import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from shared.adapters.tls import tls_context

LOOK_SECONDS: Final = 5.0
"""How long what was read is used before the files are looked at."""


class ConnectionSettingError(ValueError):
    """The kubeconfig cannot be used; the message says which one and why."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """How the API server is verified, and what is sent to it."""

    tls: ssl.SSLContext | None = None
    authorization: Callable[[], str] = str
    """Returns the value of the header `Authorization`; empty: the header is not sent."""


_Stamp: TypeAlias = tuple[int, int, int] | None
"""What tells a file from the one that was there before; None: there is none."""


class FileCredentials:
    """The present credentials of some files."""

    def __init__(
        self, read: Callable[[], Credentials], files: Sequence[Path], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`read` raises OSError or ValueError when the files cannot be used."""
        self._read = read
        self._files = files
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_at, self._stamps = clock(), self._now()
        self._present = read()

    def __call__(self) -> Credentials:
        """The credentials as the files had them a moment ago."""
        if self._clock() - self._looked_at >= LOOK_SECONDS:
            with self._lock:
                self._look()
        return self._present

    def _look(self) -> None:
        self._looked_at = self._clock()
        stamps = self._now()
        if stamps == self._stamps:
            return
        import structlog

        log = structlog.get_logger()
        try:
            self._present = self._read()
        except (OSError, ValueError) as error:
            log.warning("credentials_not_read", files=[str(file) for file in self._files], error=str(error))
        else:
            self._stamps = stamps
            log.info("credentials_read_again", files=[str(file) for file in self._files])

    def _now(self) -> tuple[_Stamp, ...]:
        return tuple(map(_stamp, self._files))


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def verifying(authority: bytes, *, insecure: object = False) -> ssl.SSLContext:
    """What verifies a server by these certificates (none: by those of the machine). ConnectionSettingError."""
    if insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        return tls_context(authorities=authority.decode("ascii", "replace"))
    except ssl.SSLError as error:
        raise ConnectionSettingError("the certificate authority is not PEM") from error


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a key pair through a temporary file, because Python reads key pairs from files only."""
    with tempfile.NamedTemporaryFile(prefix="olmf-") as pair:
        pair.write(certificate + b"\n" + key)
        pair.flush()
        context.load_cert_chain(pair.name)


class Verification:
    """What verifies a server and shows our certificate: one context until one of both is replaced.

    Connections go with their context, so a new token must not bring another one.
    """

    def __init__(self) -> None:
        self._of: tuple[bytes, bool, bytes, bytes] | None = None
        self._present: ssl.SSLContext | None = None

    def __call__(
        self, authority: bytes, *, insecure: object = False, certificate: bytes = b"", key: bytes = b""
    ) -> ssl.SSLContext:
        """The context for these. ConnectionSettingError or OSError when they cannot be used."""
        needed = (authority, bool(insecure), certificate, key)
        if self._present is None or self._of != needed:
            context = verifying(authority, insecure=insecure)
            if certificate:
                load_pair(context, certificate, key)
            self._of, self._present = needed, context
        return self._present


def bearer(token: str, where: str) -> str:
    """The header of a token. ConnectionSettingError when no header can hold it: other errors would print the token."""
    if not (token.isascii() and token.isprintable()):
        raise ConnectionSettingError(f"{where} has characters that no token has, such as a line end")
    return f"Bearer {token}"


def bearer_of(file: Path) -> str:
    """The header of the token in a file. ConnectionSettingError or OSError."""
    return bearer(file.read_text("ascii", "replace").strip(), str(file))
