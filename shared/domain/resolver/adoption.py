"""A Subscription adopts an installed version that no Subscription claims, e.g. after it was deleted and created again.

OLM refuses: the version "exists and is not referenced by a subscription" (resolver.md §9.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shared.domain.catalog.model import Channel
from shared.domain.resolver.model import Chosen, Inputs, Subscriber


def adopted(inputs: Inputs) -> tuple[Inputs, Mapping[str, Chosen]]:
    """The inputs after adoption, and for each adopting Subscription the bundle that is installed again."""
    found: dict[str, Chosen] = {}
    claimed = {one.name for one in inputs.installed if one.owner}
    for subscriber in sorted(inputs.subscribers, key=lambda one: one.name):
        is_free = subscriber.installed_csv not in claimed and not subscriber.policy.hold
        if is_free and (chosen := _adoptable(subscriber, inputs, claimed)):
            found[subscriber.name] = chosen
            claimed.add(chosen.bundle.name)
    owners = {chosen.bundle.name: name for name, chosen in found.items()}
    installed = tuple(replace(one, owner=one.owner or owners.get(one.name, "")) for one in inputs.installed)
    subscribers = tuple(
        replace(one, installed_csv=found[one.name].bundle.name) if one.name in found else one
        for one in inputs.subscribers
    )
    return replace(inputs, installed=installed, subscribers=subscribers), found


def _adoptable(subscriber: Subscriber, inputs: Inputs, claimed: set[str]) -> Chosen | None:
    free = sorted(one.name for one in inputs.installed if one.name not in claimed)
    package = inputs.package(subscriber.catalog, subscriber.package) if free else None
    if package is None:
        return None
    channels = sorted(package.channels, key=lambda channel: (channel.name != package.default_channel, channel.name))
    for channel in channels:
        for name in free if subscriber.follows(channel.name) else ():
            if (replaces := _replaces(channel, name)) is not None and name in package.bundles:
                catalog = inputs.catalogs[subscriber.catalog]
                bundle = package.bundles[name]
                return Chosen(bundle, package.name, channel.name, catalog, replaces, (subscriber.name,))
    return None


def _replaces(channel: Channel, name: str) -> str | None:
    return next((entry.replaces for entry in channel.entries if entry.name == name), None)
