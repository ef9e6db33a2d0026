"""The update graph of a channel: its entries, and who replaces or skips whom (fbc.md §7)."""

from __future__ import annotations

from collections.abc import Iterable

from shared.domain.catalog.model import Channel, Entry


def heads(channel: Channel) -> tuple[Entry, ...]:
    """The entries that nothing in the channel replaces or skips; a sound channel has exactly one."""
    passed = {name for entry in channel.entries for name in (*entry.skips, entry.replaces) if name}
    passed |= {""} if any("" in entry.skips for entry in channel.entries) else set()
    return tuple(entry for entry in channel.entries if entry.name not in passed)


def skipped(channel: Channel) -> frozenset[str]:
    """Every name that an entry skips, whether it is an entry or not."""
    return frozenset(name for entry in channel.entries for name in entry.skips)


def successors(channel: Channel, name: str) -> tuple[Entry, ...]:
    """The entries that replace or skip a name, which need not be an entry itself."""
    return tuple(entry for entry in channel.entries if entry.replaces == name or name in entry.skips)


def defect(channel: Channel) -> str:
    """Why updates through a channel are impossible; empty when they are not. The channel must have entries."""
    found = heads(channel)
    if not found:
        return "no channel head found in graph"
    if len(found) > 1:
        return f"multiple channel heads found in graph: {_listed(entry.name for entry in found)}"
    left_out = skipped(channel)
    chain, cycle = _chain(channel, found[0], left_out)
    if cycle:
        return f"detected cycle in replaces chain of upgrade graph: {' -> '.join(cycle)}"
    stranded = {entry.name for entry in channel.entries} - chain - left_out
    return f"channel contains one or more stranded bundles: {_listed(stranded)}" if stranded else ""


def _chain(channel: Channel, head: Entry, left_out: frozenset[str]) -> tuple[set[str], list[str]]:
    """The names on the chain of `replaces` below the head, and the cycle in which it ends, if it does."""
    entries = {entry.name: entry for entry in channel.entries}
    order: dict[str, None] = {head.name: None}
    at: Entry | None = head
    while at is not None and at.replaces not in left_out:
        if at.replaces in order:
            names = list(order)
            return set(order), [*names[names.index(at.replaces) :], at.replaces]
        order[at.replaces] = None
        at = entries.get(at.replaces)
    return set(order), []


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
