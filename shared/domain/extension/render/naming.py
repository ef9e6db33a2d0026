"""Names that OLM v1 makes up (v1.md §18)."""

from __future__ import annotations

from hashlib import sha224
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.lifecycle import gojson

_LONGEST: Final = 63
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def joined(base: str, suffix: str) -> str:
    """`base-suffix`, the base cut where both are too long; of exactly 63 characters together nothing is cut."""
    if len(base) + len(suffix) > _LONGEST:
        base = base[: _LONGEST - len(suffix) - 1]
    return f"{base}-{suffix}"


def base36(digest: bytes) -> str:
    """A digest as a big-endian number in base 36, without padding."""
    number = int.from_bytes(digest, "big")
    text = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text or _DIGITS[0]


def role_name(csv: str, account: str, permission: ReadOnly) -> str:
    """Name of what grants a permission: another one when the version or the rules change."""
    digest = sha224(f"{gojson.encode(permission, gojson.PERMISSION)}\n".encode()).digest()
    return joined(f"{csv}-{account}", base36(digest))


def service_name(deployment: str) -> str:
    """Name of the Service in front of a Deployment that serves webhooks."""
    return joined(deployment.replace(".", "-"), "service")


def certificate_name(deployment: str) -> str:
    """Name of its certificate, and of the Secret that holds it."""
    return joined(service_name(deployment), "cert")
