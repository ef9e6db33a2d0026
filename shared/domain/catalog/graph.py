"""The update graph of a channel."""

from __future__ import annotations

from shared.domain.catalog.model import Channel, Entry


def heads(channel: Channel) -> tuple[Entry, ...]:
    """The entries that nothing in the channel replaces or skips; a sound channel has exactly one."""
    names = {entry.name for entry in channel.entries}
    passed = {name for entry in channel.entries for name in (*entry.skips, entry.replaces) if name in names}
    return tuple(entry for entry in channel.entries if entry.name not in passed)
