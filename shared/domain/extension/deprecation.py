"""What a ClusterExtension says about the deprecation of what it runs (v1.md §11.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.conditions import Condition

DEPRECATED: Final = "Deprecated"
PACKAGE: Final = "PackageDeprecated"
CHANNEL: Final = "ChannelDeprecated"
BUNDLE: Final = "BundleDeprecated"

_UNKNOWN: Final = "deprecation status unknown: catalog data unavailable"


def conditions(
    channels: Collection[str], installed: str, blob: ReadOnly | None, *, has_catalog_data: bool
) -> tuple[Condition, ...]:
    """All four conditions: about the channels asked for (none: every channel) and the bundle that is installed.

    `installed` is a name, empty while nothing is installed; `blob` is the `olm.deprecations` of the catalog that
    the resolution came from.
    """
    if not has_catalog_data:
        unknown = (_unknown(kind) for kind in (DEPRECATED, PACKAGE, CHANNEL))
        return (*unknown, _unknown(BUNDLE) if installed else _absent())
    package = list(_messages(blob, "olm.package", None))
    channel = list(_messages(blob, "olm.channel", channels or None))
    bundle = list(_messages(blob, "olm.bundle", (installed,))) if installed else []
    return (
        _condition(DEPRECATED, [*package, *channel, *bundle], "not deprecated"),
        _condition(PACKAGE, package, "package not deprecated"),
        _condition(CHANNEL, channel, "channel not deprecated"),
        _condition(BUNDLE, bundle, "bundle not deprecated") if installed else _absent(),
    )


def _messages(blob: ReadOnly | None, schema: str, names: Collection[str] | None) -> Iterator[str]:
    """What the entries of a schema say, those of the names if any are given. An empty message says nothing."""
    for entry in (blob or {}).get("entries") or ():
        reference = entry.get("reference") or {}
        is_meant = names is None or (reference.get("name") or "") in names
        if reference.get("schema") == schema and is_meant and entry.get("message"):
            yield str(entry["message"])


def _condition(kind: str, messages: Sequence[str], otherwise: str) -> Condition:
    if messages:
        return Condition(kind, "True", "Deprecated", "\n".join(messages))
    return Condition(kind, "False", "NotDeprecated", otherwise)


def _unknown(kind: str) -> Condition:
    return Condition(kind, "Unknown", "DeprecationStatusUnknown", _UNKNOWN)


def _absent() -> Condition:
    return Condition(BUNDLE, "Unknown", "Absent", "no bundle installed yet")
