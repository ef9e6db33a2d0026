"""Which entries of a package a Subscription may move to, best first (resolver.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.resolver.model import Installed, Subscriber
from shared.domain.resolver.versions import is_in_range


class ChannelError(ValueError):
    """A channel whose entries have no single order."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bundle in one channel."""

    bundle: Bundle
    entry: Entry
    channel: str

    @property
    def is_deprecated(self) -> bool:
        """Its author asked that nobody installs it any more."""
        return any(stated.type == "olm.deprecated" for stated in self.bundle.properties)


def pool(subscriber: Subscriber, package: Package, current: Installed | None) -> tuple[Candidate, ...] | str:
    """The candidates, best first, or the sentence that says which wish left none. ChannelError as `in_order`."""
    channels = [channel for channel in package.channels if subscriber.channel in ("", channel.name)]
    of_package = f"package {package.name} in the catalog referenced by subscription {subscriber.name}"
    if not package.bundles:
        return f"no operators found in {of_package}"
    if not any(channel.entries for channel in channels):
        return f"no operators found in channel {subscriber.channel} of {of_package}"
    if current is None and subscriber.starting_csv:
        named = _named(subscriber.starting_csv, channels)
        if not any(channel.entries for channel in named):
            wish = f"name {subscriber.starting_csv} in channel {subscriber.channel}"
            return f"no operators found with {wish} of {of_package}"
        channels = named
    channels.sort(key=lambda channel: (channel.name != package.default_channel, channel.name))
    found = [
        Candidate(package.bundles[entry.name], entry, channel.name)
        for channel in channels
        for entry in in_order(channel, package.name)
        if entry.name in package.bundles
    ]
    return tuple(one for one in found if current is None or updates(one.entry, current))


def _named(name: str, channels: Sequence[Channel]) -> list[Channel]:
    """The channels with only the entry of that name: the wish comes before the order, so a skipped entry counts."""
    return [Channel(one.name, tuple(entry for entry in one.entries if entry.name == name)) for one in channels]


def updates(entry: Entry, current: Installed) -> bool:
    """The entry says that it comes after what is installed; versions are compared by its skip range only."""
    if entry.replaces == current.name or current.name in entry.skips:
        return True
    try:
        return bool(entry.skip_range) and is_in_range(current.version, entry.skip_range)
    except ValueError:
        return False  # resolver.md §2.4: a skip range that cannot be read counts as none


def in_order(channel: Channel, package: str) -> tuple[Entry, ...]:
    """The entries from the head down its `replaces`, without skipped ones. ChannelError when there is no one chain."""
    entries = {entry.name: entry for entry in channel.entries}
    skipped = {name for entry in channel.entries for name in entry.skips if name in entries}
    found = heads(channel)
    where = f'in channel "{channel.name}" of package "{package}"'
    if channel.entries and not found:
        raise ChannelError(f"no channel heads (entries not replaced by another entry) found {where}")
    chains = [_chain(head, entries, where) for head in found]
    if len(chains) > 1:
        shown = ", ".join(_shown([entry for entry in chain if entry.name not in skipped]) for chain in chains)
        raise ChannelError(
            "a unique replacement chain within a channel is required to determine the relative order between channel "
            f"entries, but {len(chains)} replacement chains were found {where}: {shown}"
        )
    return tuple(entry for chain in chains for entry in chain if entry.name not in skipped)


def _chain(head: Entry, entries: dict[str, Entry], where: str) -> list[Entry]:
    chain, seen = [head], {head.name}
    while (following := entries.get(chain[-1].replaces)) is not None:
        if following.name in seen:
            raise ChannelError(f'a cycle exists in the chain of replacement beginning with "{head.name}" {where}')
        chain.append(following)
        seen.add(following.name)
    return chain


def _shown(chain: Sequence[Entry]) -> str:
    return chain[0].name if len(chain) == 1 else f"{chain[0].name}...{chain[-1].name}"
