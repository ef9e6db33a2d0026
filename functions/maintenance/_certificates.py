"""The write that keeps the certificate of a server of ours."""

from __future__ import annotations

from shared.api.views import Deployment
from shared.domain.endpoints import objects
from shared.domain.endpoints.certificates import Content, StoredPair
from shared.domain.serving import serving_certificate
from shared.step import StoreKeys, Write


def kept(deployment: Deployment, content: Content, stored: StoredPair | None) -> tuple[Write, ...]:
    """The Secret of a Deployment with this content; nothing when it has it."""
    if stored is not None and stored.content == content:
        return ()
    manifest = serving_certificate.secret(deployment, content, stored)
    return (StoreKeys(manifest, objects.texts(content), objects.keys(content)),)
