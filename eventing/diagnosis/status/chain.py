"""The versions of an operator that replace one another, and those that nobody subscribes to; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared import names
from shared.api.manifest import ReadOnly, labels_of, name_of, namespace_of
from shared.domain.objects.csv import is_copied
from shared.domain.objects.subscription import current_csv, installed_csv


def originals(csvs: Iterable[ReadOnly]) -> list[ReadOnly]:
    """Those that are no copies of what another namespace installed."""
    return [csv for csv in csvs if not is_copied(csv)]


def chain(csvs: Iterable[ReadOnly], roots: Collection[str]) -> set[str]:
    """The roots, what replaces them, and what they replace, in any number of steps; as far as it is there."""
    links = {name_of(csv): str(csv["spec"].get("replaces") or "") for csv in csvs}
    found = set(roots) & links.keys()
    while grown := {name for name, older in links.items() if older in found or name in _older(links, found)} - found:
        found |= grown
    return found


def claimed(subscriptions: Iterable[ReadOnly]) -> set[str]:
    """The versions that Subscriptions say they have or are about to have."""
    return {version for one in subscriptions for version in (installed_csv(one), current_csv(one))} - {""}


def package_named_by(csv: ReadOnly) -> str:
    """The package that the label of a version names; empty without one."""
    end = f".{namespace_of(csv)}"
    keys = (
        key.removeprefix(names.COMPONENT_PREFIX) for key in labels_of(csv) if key.startswith(names.COMPONENT_PREFIX)
    )
    return next((key.removesuffix(end) for key in keys if key.endswith(end)), "")


def _older(links: dict[str, str], found: Iterable[str]) -> set[str]:
    return {links[name] for name in found}
