"""A catalog indexed once: opened in milliseconds, shared by processes, renewed where it changed.

Import `writing` directly: only those need it who make a snapshot.
"""

from shared.adapters.content.snapshot.form import FORMAT, BrokenSnapshot, Channels, Row
from shared.adapters.content.snapshot.identity import digest_of, identity_of
from shared.adapters.content.snapshot.reading import Pages, Snapshot, file_name
from shared.adapters.content.snapshot.sources import Older, Source

__all__ = [
    "FORMAT", "BrokenSnapshot", "Channels", "Older", "Pages", "Row", "Snapshot", "Source", "digest_of", "file_name",
    "identity_of",
]  # fmt: skip
