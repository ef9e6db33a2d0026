"""The certificate with which the sandbox proves itself to aggregated APIs, and the CA by which they know it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shared.adapters.whole_file import write_whole

NAME = "front-proxy"
"""Common name of the certificate, and beginning of the names of its files."""
EARLY, VALID = timedelta(days=1), timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """Who asks in the name of users."""

    authority: str
    """The CA, PEM."""
    certificate: Path
    """File of the certificate and its key, PEM."""


def remembered(folder: Path) -> FrontProxy:
    """The one of a folder, the same at every start."""
    authority, certificate = folder / f"{NAME}-ca.crt", folder / f"{NAME}.pem"
    if not (authority.exists() and certificate.exists()):
        signed, proof = _made(datetime.now(UTC))
        write_whole(certificate, [proof], mode=0o600)
        write_whole(authority, [signed])
    return FrontProxy(authority.read_text(), certificate)


def _made(now: datetime) -> tuple[bytes, bytes]:
    """A new CA, and a certificate with its key, PEM; the key of the CA is forgotten: it signs nothing else."""
    from cryptography import x509  # why: 40 ms, which only the first start of a sandbox has to pay
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer, subject = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in (f"{NAME}-ca", NAME))
    signed = [
        x509.CertificateBuilder(issuer, named, of.public_key(), x509.random_serial_number(), now - EARLY, now + VALID)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=False)
        .sign(authority_key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
        for named, of, is_authority, usage in (
            (issuer, authority_key, True, x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())),
            (subject, key, False, x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])),
        )
    ]
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed[0], signed[1] + private
