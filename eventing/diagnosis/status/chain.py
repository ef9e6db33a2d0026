"""The versions of an operator that replace one another, and those that nobody subscribes to; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared import names
from shared.api.views import Csv, Subscription


def originals(csvs: Iterable[Csv]) -> list[Csv]:
    """Those that are no copies of what another namespace installed."""
    return [csv for csv in csvs if not csv.is_copy]


def chain(csvs: Iterable[Csv], roots: Collection[str]) -> set[str]:
    """The roots, what replaces them, and what they replace, in any number of steps; as far as it is there."""
    links = {csv.name: csv.replaces for csv in csvs}
    found = set(roots) & links.keys()
    while grown := {name for name, older in links.items() if older in found or name in _older(links, found)} - found:
        found |= grown
    return found


def claimed(subscriptions: Iterable[Subscription]) -> set[str]:
    """The versions that Subscriptions say they have or are about to have."""
    return {version for one in subscriptions for version in (one.installed_csv, one.current_csv) if version}


def package_named_by(csv: Csv) -> str:
    """The package that the label of a version names; empty without one."""
    end = f".{csv.namespace}"
    keys = (key.removeprefix(names.COMPONENT_PREFIX) for key in csv.labels if key.startswith(names.COMPONENT_PREFIX))
    return next((key.removesuffix(end) for key in keys if key.endswith(end)), "")


def _older(links: dict[str, str], found: Iterable[str]) -> set[str]:
    return {links[name] for name in found}
