"""Why nothing can be chosen: a stable code for programs, beside the text that people read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Code(StrEnum):
    """What an error or a constraint says. Of several errors in one text, the first in this list counts."""

    OPERATOR_GROUPS = "OperatorGroups"
    CATALOG_UNREADABLE = "CatalogUnreadable"
    CHANNEL_FORKED = "ChannelForked"
    CHANNEL_WITHOUT_HEAD = "ChannelWithoutHead"
    CHANNEL_CYCLE = "ChannelCycle"
    AMBIGUOUS_NAME = "AmbiguousName"
    CHANNEL_NAME = "ChannelName"
    GAVE_UP = "GaveUp"
    ANNOTATION_INVALID = "AnnotationInvalid"
    PREVENTED = "Prevented"
    """Any other error: only its text says what it is."""
    CATALOG_EMPTY = "CatalogEmpty"
    PACKAGE_MISSING = "PackageMissing"
    CHANNEL_MISSING = "ChannelMissing"
    VERSION_MISSING = "VersionMissing"
    SUBSCRIPTION_EXISTS = "SubscriptionExists"
    CANDIDATES = "Candidates"
    UNCLAIMED_CSV = "UnclaimedCSV"
    NAME_TAKEN = "NameTaken"
    DEPRECATED = "Deprecated"
    FLAWED = "Flawed"
    REQUIRES = "Requires"
    NO_PROVIDER = "NoProvider"
    REPLACES = "Replaces"
    ONE_PROVIDER = "OneProvider"
    ONE_PER_PACKAGE = "OnePerPackage"
    VERSION_NOT_ACCEPTED = "VersionNotAccepted"
    HELD = "Held"
    DEPENDENCIES_REQUIRED = "DependenciesRequired"
    DEMANDED = "Demanded"
    """A version is demanded, only to find out what excludes it."""


OPEN: Final = frozenset({Code.CATALOG_UNREADABLE, Code.GAVE_UP, Code.PREVENTED})
"""What prevents a decision that may be had later, as things are; everything else takes an edit."""


@dataclass(frozen=True, slots=True)
class Reason:
    """An error, or a constraint that leaves nothing to choose from."""

    code: Code
    text: str
    """OLM's text, where it has one."""


def together(reasons: Iterable[Reason]) -> Reason | None:
    """Several errors as OLM prints them: as a list in brackets, each once. None when there are none."""
    found = {one.text: one.code for one in reasons}
    if not found:
        return None
    text = ", ".join(found)
    return Reason(min(found.values(), key=list(Code).index), text if len(found) == 1 else f"[{text}]")
