"""Puts private keys in the place of their handles: the only place where a key and a Secret come together."""

from __future__ import annotations

import base64

from shared.adapters.keys import Keyring
from shared.adapters.keys.stored import content_of
from shared.adapters.keys.x509 import handle_of_pem
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.step import StoreKeys


def with_keys(manifest: Manifest, write: StoreKeys, keyring: Keyring, present: ReadOnly) -> Manifest:
    """The whole Secret; its keys are those of the keyring, or are in the Secret that is `present`."""
    held = {handle_of_pem(value): value for value in content_of(present).values()}
    data = {key: text.encode() for key, text in write.texts.items()}
    for key, handle in write.keys.items():
        private = keyring.private(handle) or held.get(handle)
        if private is None:
            raise ApiError(409, "Conflict", f"Secret {name_of(manifest)}: its key has changed since it was read")
        data[key] = private
    return {**manifest, "data": {key: base64.b64encode(value).decode() for key, value in sorted(data.items())}}
