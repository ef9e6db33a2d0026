"""Puts private keys in the place of their handles: the only place where a key and a Secret come together."""

from __future__ import annotations

import base64

from eventing.effects.api import Api
from shared.adapters.keys import Keyring
from shared.adapters.keys.stored import content_of
from shared.adapters.kube import ApiError
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, resource_version_of
from shared.domain.endpoints import objects
from shared.step import Ref, StoreKeys


def stored(api: Api, manifest: Manifest, write: StoreKeys, keyring: Keyring) -> Manifest:
    """Create or replace the Secret, and forget the private keys in it; the answer of the API server."""
    is_new = not resource_version_of(manifest)
    present = {} if is_new else api.get(Ref.of(manifest)) or {}
    send = api.create if is_new else api.replace
    answer = send(_with_keys(manifest, write, keyring, present))
    keyring.forget(write.keys.values())
    return answer


def _with_keys(manifest: Manifest, write: StoreKeys, keyring: Keyring, present: ReadOnly) -> Manifest:
    """The whole Secret; its keys are those of the keyring, or are in the Secret that is `present`.

    What others added to the one that is present stays in it.
    """
    from shared.adapters.keys.x509 import handle_of_pem

    there = content_of(present)
    held = {handle_of_pem(there[key]): there[key] for key in (objects.KEY, objects.NEXT_KEY) if key in there}
    data = {key: text.encode() for key, text in write.texts.items()}
    for key, handle in write.keys.items():
        private = keyring.private(handle) or held.get(handle)
        if private is None:
            raise ApiError(409, "Conflict", f"Secret {name_of(manifest)}: its key has changed since it was read")
        data[key] = private
    others = {key: value for key, value in fields.part(present, "data").items() if key not in objects.OURS}
    encoded = {key: base64.b64encode(value).decode() for key, value in sorted(data.items())}
    return {**present, **manifest, "metadata": _joined(present, manifest), "data": {**others, **encoded}}


def _joined(present: ReadOnly, manifest: ReadOnly) -> Manifest:
    """The metadata of both; where both say something, that of the manifest."""
    old, new = metadata(present), metadata(manifest)
    joined = {key: {**fields.part(old, key), **fields.part(new, key)} for key in ("labels", "annotations")}
    return {**old, **new, **{key: value for key, value in joined.items() if value}}
