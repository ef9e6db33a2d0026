"""A catalog indexed once: opened in milliseconds, shared by processes, renewed where it changed."""

from typing import TYPE_CHECKING

from shared.adapters.content.snapshot.form import FORMAT, BrokenSnapshot, Channels, Row
from shared.adapters.content.snapshot.identity import digest_of, identity_of
from shared.adapters.content.snapshot.reading import Pages, Snapshot, file_name
from shared.adapters.content.snapshot.sources import Older, Source

if TYPE_CHECKING:
    from shared.adapters.content.snapshot.writing import write

__all__ = [
    "FORMAT", "BrokenSnapshot", "Channels", "Older", "Pages", "Row", "Snapshot", "Source", "digest_of", "file_name",
    "identity_of", "write",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """`write`, which only those need who make a snapshot: its imports cost as much as opening one."""
    if name != "write":
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    from shared.adapters.content.snapshot import writing

    return writing.write
