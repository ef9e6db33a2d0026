"""Which certificates of registries are trusted, and with which one we introduce ourselves."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.adapters.oci.errors import OciError

FOLDERS: Final = (Path("/etc/containers/certs.d"), Path("/etc/docker/certs.d"))
"""A folder per `host[:port]`: `*.crt` are authorities, `*.cert` with `*.key` is our own certificate."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Where certificates are; the authorities of the machine (or `SSL_CERT_FILE`) are always trusted."""

    folders: tuple[Path, ...] = FOLDERS

    def context(self, host: str, *, is_insecure: bool = False) -> ssl.SSLContext:
        """What TLS to a host needs. OciError when a certificate cannot be read."""
        present = [path for folder in self.folders if (path := folder / host).is_dir()]
        context = ssl.create_default_context()
        for path in (path for folder in present for path in sorted(folder.iterdir())):
            _load(context, path)
        if is_insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    @classmethod
    def of(cls, folders: Iterable[Path]) -> Trust:
        """The usual folders, after some others."""
        return cls((*folders, *FOLDERS))


def _load(context: ssl.SSLContext, path: Path) -> None:
    try:
        if path.suffix == ".crt":
            context.load_verify_locations(path)
        elif path.suffix == ".cert":
            context.load_cert_chain(path, path.with_suffix(".key"))
    except (OSError, ssl.SSLError) as error:
        raise OciError("TLS", f"the certificate {path} cannot be used: {error}; replace or remove it") from error
