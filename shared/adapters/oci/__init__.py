"""Images from registries: every byte verified against its digest, every size bounded, every refusal a sentence.

Each name is imported when it is used: an error needs no client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from shared.adapters.oci.credentials import ANONYMOUS, Credentials
    from shared.adapters.oci.errors import OciError
    from shared.adapters.oci.image import Image, pull
    from shared.adapters.oci.limits import Limits
    from shared.adapters.oci.reference import Reference
    from shared.adapters.oci.registry import Registry
    from shared.adapters.oci.transport import Transport

__all__ = ["ANONYMOUS", "Credentials", "Image", "Limits", "OciError", "Reference", "Registry", "Transport", "pull"]

_HOMES: Final = {
    "ANONYMOUS": "credentials",
    "Credentials": "credentials",
    "Image": "image",
    "Limits": "limits",
    "OciError": "errors",
    "Reference": "reference",
    "Registry": "registry",
    "Transport": "transport",
    "pull": "image",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
