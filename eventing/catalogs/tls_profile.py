"""With which versions, ciphers and curves TLS is spoken, by the names that upstream's programs take (v1.md §25.4)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CIPHERS: Final[Mapping[str, str]] = {
    f"TLS_ECDHE_{proof}_WITH_{ours}": f"ECDHE-{proof}-{theirs}"
    for proof in ("ECDSA", "RSA")
    for ours, theirs in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"), ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
    )
}  # fmt: skip
"""Names of OpenSSL; those of TLS 1.3 are not for choice."""
_CURVES: Final = {name: name for name in ("prime256v1", "secp384r1", "secp521r1")} | {"secp256r1": "prime256v1"}
Value = TypeVar("Value")


class TlsProfileError(Exception):
    """A profile that is not known, or that cannot be had."""


@dataclass(frozen=True, slots=True)
class TlsProfile:
    """What a server insists on; the default is upstream's `intermediate`."""

    version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    """The oldest that is spoken."""
    ciphers: tuple[str, ...] = tuple(_CIPHERS.values())
    """Of TLS 1.2."""
    curve: str = ""
    """The only one; empty: those of OpenSSL."""

    def apply(self, context: ssl.SSLContext) -> None:
        """Have a server's context insist on it."""
        context.minimum_version = self.version
        context.set_ciphers(":".join(self.ciphers))
        if self.curve:
            context.set_ecdh_curve(self.curve)


def profile_of(name: str, version: str, ciphers: Sequence[str], curves: Sequence[str]) -> TlsProfile:
    """The profile of a name, or what is said of the profile `custom`. TlsProfileError."""
    if name == "modern":
        return TlsProfile(ssl.TLSVersion.TLSv1_3)
    if name == "intermediate":
        return TlsProfile()
    if name != "custom":
        raise TlsProfileError(f"no profile {name!r}: modern, intermediate or custom")
    if len(curves) > 1:
        raise TlsProfileError("one curve, or none for those of OpenSSL: Python's TLS can be given no list")
    return TlsProfile(
        _one(version, _VERSIONS, "version"),
        tuple(_one(each, _CIPHERS, "cipher") for each in ciphers) or TlsProfile().ciphers,
        _one(curves[0], _CURVES, "curve") if curves else "",
    )


def _one(word: str, known: Mapping[str, Value], what: str) -> Value:
    if word not in known:
        raise TlsProfileError(f"no {what} {word!r}: {', '.join(known)}")
    return known[word]
