"""Which certificates of registries are trusted, and with which one we introduce ourselves."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.adapters.oci.errors import OciError
from shared.adapters.tls import as_ascii, tls_context
from shared.names import REGISTRY_CA

FOLDERS: Final = (Path("/etc/containers/certs.d"), Path("/etc/docker/certs.d"))
"""A folder per `host[:port]`: `*.crt` are authorities, `*.cert` with `*.key` is our own certificate."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Where certificates are; the authorities of the machine (or `SSL_CERT_FILE`) are always trusted."""

    folders: tuple[Path, ...] = FOLDERS
    authorities: str = ""
    """More authorities for every host, PEM."""

    def context(self, host: str, *, is_insecure: bool = False) -> ssl.SSLContext:
        """What TLS to a host needs. OciError when a certificate cannot be read."""
        present = [path for folder in self.folders if (path := folder / host).is_dir()]
        context = tls_context()
        if self.authorities:
            _add(context, self.authorities)
        for path in (path for folder in present for path in sorted(folder.iterdir())):
            _load(context, path)
        if is_insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    @classmethod
    def of(cls, environ: Mapping[str, str], folders: Iterable[Path] = ()) -> Trust:
        """The usual folders, after some others, and the authorities of `OLMF_REGISTRY_CA`."""
        return cls((*folders, *FOLDERS), environ.get(REGISTRY_CA, ""))


def _add(context: ssl.SSLContext, authorities: str) -> None:
    try:
        context.load_verify_locations(cadata=as_ascii(authorities))
    except (ValueError, ssl.SSLError) as error:
        raise OciError("TLS", f"{REGISTRY_CA} cannot be used: {error}; wanted certificates in PEM") from error


def _load(context: ssl.SSLContext, path: Path) -> None:
    try:
        if path.suffix == ".crt":
            context.load_verify_locations(path)
        elif path.suffix == ".cert":
            context.load_cert_chain(path, path.with_suffix(".key"))
    except (OSError, ssl.SSLError) as error:
        raise OciError("TLS", f"the certificate {path} cannot be used: {error}; replace or remove it") from error
