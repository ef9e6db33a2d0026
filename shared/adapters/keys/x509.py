"""X.509: makes a CA with a serving certificate, and says whether stored ones fit each other.

The library costs 40 ms and 8 MB, so this module is imported when the first certificate is needed.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from shared.domain.endpoints.certificates import EARLY, VALID, Pair

ORGANIZATION: Final = "Red Hat, Inc."
"""What OLM writes into its certificates."""
_SERVER_AUTH: Final = "1.3.6.1.5.5.7.3.1"
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT: Final = 256
_LONGEST: Final = 65536
"""Longer texts are no certificate of an operator."""
_LONGEST_KEY: Final = 1024
"""The longest key on a curve that has a name takes less than half of it."""
_BEGINS: Final = b"-----BEGIN "
_KEY_BEGINS: Final = _BEGINS + b"EC PRIVATE KEY-----"
"""What OLM writes, too. Whoever may write a Secret could state an RSA or DH key that takes minutes to check."""


def issue(hosts: tuple[str, ...], now: datetime) -> tuple[Pair, bytes]:
    """A new CA and a serving certificate for these names, with the private key of the latter, PEM.

    The key of the CA is forgotten: it signs nothing else.
    """
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    begins, ends = now - EARLY, now + VALID
    authority = _authority(authority_key, begins, ends)
    certificate = _certificate((key, authority_key), authority, hosts, (begins, ends))
    texts = [_pem(one) for one in (authority, certificate)]
    return Pair(texts[0], texts[1], handle_of(key), hosts, begins, ends), _private(key)


def _authority(key: EllipticCurvePrivateKey, begins: datetime, ends: datetime) -> x509.Certificate:
    serial = x509.random_serial_number()
    name = _name(f"olm-selfsigned-{serial:x}")
    usage = {**_NO_USAGE, "key_cert_sign": True, "digital_signature": True}
    builder = x509.CertificateBuilder(name, name, key.public_key(), serial, begins, ends)
    for extension, is_critical in (
        (x509.BasicConstraints(ca=True, path_length=None), True),
        (x509.KeyUsage(**usage), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ):
        builder = builder.add_extension(extension, is_critical)
    return builder.sign(key, hashes.SHA256())


def _certificate(
    keys: tuple[EllipticCurvePrivateKey, EllipticCurvePrivateKey], authority: x509.Certificate,
    hosts: tuple[str, ...], valid: tuple[datetime, datetime],
) -> x509.Certificate:  # fmt: skip
    """`keys`: its own, and that of the CA."""
    key, signing = keys
    builder = x509.CertificateBuilder(
        authority.subject, _name(hosts[0]), key.public_key(), x509.random_serial_number(), *valid
    )
    for extension, is_critical in (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (x509.KeyUsage(**{**_NO_USAGE, "digital_signature": True}), True),
        (x509.ExtendedKeyUsage([x509.ObjectIdentifier(_SERVER_AUTH)]), False),
        (x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), False),
    ):
        builder = builder.add_extension(extension, is_critical)
    return builder.sign(signing, hashes.SHA256())


_NO_USAGE: Final[dict[str, bool]] = dict.fromkeys(
    (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ),
    False,
)  # fmt: skip
_LONGEST_NAME: Final = 64
"""Characters of a common name."""


def _name(common: str) -> x509.Name:
    found = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, ORGANIZATION)]
    if len(common) <= _LONGEST_NAME:
        found.append(x509.NameAttribute(x509.NameOID.COMMON_NAME, common))
    return x509.Name(found)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _private(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def handle_of(key: Any) -> str:
    """The digest of the public key that belongs to a private or a public one."""
    public = key.public_key() if hasattr(key, "public_key") else key
    found = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(found).hexdigest()}"


def handle_of_pem(private: bytes) -> str:
    """The handle of a private key on an elliptic curve, PEM; empty for any other text.

    It is parsed each time, which takes less than a millisecond: a cache would keep private keys in memory.
    """
    is_ours = private.startswith(_KEY_BEGINS) and private.count(_BEGINS) == 1
    if not is_ours or len(private) > _LONGEST_KEY:
        return ""
    try:
        return handle_of(load_pem_private_key(private, None))
    except Exception:  # noqa: BLE001  # why: the library has no base class for what is wrong with a hostile text
        return ""


@lru_cache(maxsize=_KEPT)
def read(authority: str, certificate: str, key: str) -> Pair:
    """What stored certificates say; `key` is the handle of the private key beside them.

    The texts of the pair are made anew: whatever else stood in the stored ones is told to nobody.
    """
    try:
        ours, theirs = (_parsed(text) for text in (certificate, authority))
        hosts = _hosts(ours)
        begins = max(one.not_valid_before_utc for one in (ours, theirs))
        ends = min(one.not_valid_after_utc for one in (ours, theirs))
        return Pair(_pem(theirs), _pem(ours), key, hosts, begins, ends, _flaw(ours, theirs, key))
    except Exception as error:  # noqa: BLE001  # why: the library has no base class for what is wrong with a hostile text
        return Pair("", "", key, (), _NEVER, _NEVER, f"no certificate: {error}")


@lru_cache(maxsize=_KEPT)
def certificate_in(text: str) -> str:
    """The first certificate in a text, PEM, and nothing else of it; empty without one."""
    try:
        return _pem(_parsed(text))
    except Exception:  # noqa: BLE001  # why: as above
        return ""


def _parsed(text: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(text[:_LONGEST].encode())


def _hosts(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    return tuple(found.value.get_values_for_type(x509.DNSName))


def _flaw(ours: x509.Certificate, authority: x509.Certificate, key: str) -> str:
    try:
        ours.verify_directly_issued_by(authority)
        belongs = handle_of(ours.public_key()) == key
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return "the CA did not sign the certificate"
    return "" if belongs else "the private key belongs to another certificate"
