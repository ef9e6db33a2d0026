"""The verdict over a catalog that was made here, not read from files (fbc.md §6)."""

from __future__ import annotations

from shared.domain.catalog.blobs import Blobs, Unreadable
from shared.domain.catalog.config import Config
from shared.domain.catalog.conversion import convert
from shared.domain.catalog.meta import meta_of
from shared.domain.catalog.soundness import defects
from shared.domain.catalog.verdict import NOWHERE, Verdict


def why_invalid(config: Config) -> str:
    """What keeps a catalog from being valid, or an empty text."""
    blobs = Blobs()
    for blob in (*config.packages, *config.channels, *config.bundles, *config.deprecations):
        try:
            blobs.add(meta_of(blob), NOWHERE)
        except Unreadable as error:
            return str(error)
    drafts, findings = convert(blobs)
    return Verdict(tuple(findings or defects(drafts))).text(with_places=False)
