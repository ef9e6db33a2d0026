"""Implements `Keys` with the Secrets of a cluster: what goes to a step is public."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime

from shared import names
from shared.adapters.keys.keyring import Keyring
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Object
from shared.domain.endpoints import objects
from shared.domain.endpoints.certificates import Content, Pair, StoredPair
from shared.kinds import SECRET, Ref
from shared.ports import Cluster

_META = ("name", "namespace", "uid", "resourceVersion", "labels", "ownerReferences", "creationTimestamp")


class StoredKeys:
    """Reads Secrets, and makes certificates whose private keys it keeps in a keyring."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.keyring = Keyring()

    def stored(self, secret: Ref) -> StoredPair | None:
        """What a Secret says, without its private keys; None when it does not exist."""
        found = self._cluster.get(secret)
        return None if found is None else public_part(found)

    def issue(self, hosts: tuple[str, ...], now: datetime) -> Pair:
        """A new CA and certificate."""
        from shared.adapters.keys import x509

        pair, private = x509.issue(hosts, now)
        self.keyring.keep(pair.key, private)
        return pair


def public_part(secret: ReadOnly) -> StoredPair:
    """What may be told of a Secret."""
    from shared.adapters.keys import x509

    data = content_of(secret)
    following = None
    if objects.NEXT_CERTIFICATE in data:
        following = _pair(data, objects.NEXT_AUTHORITY, objects.NEXT_CERTIFICATE, objects.NEXT_KEY)
    pair = _pair(data, objects.AUTHORITY, objects.CERTIFICATE, objects.KEY)
    content = Content(pair, following, x509.certificate_in(_text(data, objects.FORMER_AUTHORITY)))
    return StoredPair(_marks(secret), content, is_shared=not objects.OURS.issuperset(fields.part(secret, "data")))


def content_of(secret: ReadOnly) -> dict[str, bytes]:
    """The values of a Secret; one that is no base64 is left out."""
    found = {}
    for key, value in fields.strings(secret, "data").items():
        try:
            found[key] = base64.b64decode(value, validate=True)
        except binascii.Error:
            continue
    return found


def _pair(data: Mapping[str, bytes], authority: str, certificate: str, key: str) -> Pair:
    from shared.adapters.keys import x509

    handle = x509.handle_of_pem(data.get(key, b""))
    return x509.read(_text(data, authority), _text(data, certificate), handle)


def _text(data: Mapping[str, bytes], key: str) -> str:
    return data.get(key, b"").decode("ascii", "replace")


def _marks(secret: ReadOnly) -> Manifest:
    found = Object(secret)
    meta = {key: found.metadata[key] for key in _META if key in found.metadata}
    digest = found.annotation(names.CA_HASH)
    annotations = {} if digest is None else {names.CA_HASH: digest}
    return {
        "apiVersion": SECRET.api_version, "kind": SECRET.kind, "type": fields.text(secret, "type"),
        "metadata": {**meta, "annotations": annotations},
    }  # fmt: skip
