"""What Subscriptions and groups ask for beyond OLM, by annotation; without annotations OLM's rules are all there is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared import names
from shared.api.manifest import ReadOnly, annotations_of
from shared.domain.semver import InvalidRange, Range, Version, parse_range, version_or_none

INSTALL, REQUIRE, IGNORE = "install", "require", "ignore"
"""What becomes of dependencies: they are installed (as in OLM), must be there already, or do not matter."""
AVAILABLE, STRICT = "available", "strict"
"""What of catalogs that cannot be read now: their last good snapshot counts, or they stop everybody (as in OLM)."""
_NAME: Final = re.compile(r"[a-z0-9]([-.+_a-zA-Z0-9]*[a-zA-Z0-9])?")


@dataclass(frozen=True, slots=True)
class OptIn:
    """The wishes of one Subscription; empty texts and `install` are OLM."""

    version: str = ""
    """A version, the name of one, or a range: nothing else is installed."""
    hold: str = ""
    """Why nothing is to change, not even from nothing to something."""
    hold_installed: str = ""
    """Why what is installed is kept; what is not installed yet is installed first."""
    dependencies: str = INSTALL

    @property
    def why_held(self) -> str:
        """Why what is installed is kept; empty when it may be updated."""
        return self.hold or self.hold_installed

    @property
    def is_pin(self) -> bool:
        """Whether one version is wanted, and no other."""
        return bool(self.version) and (version_or_none(self.version) is not None or _range(self.version) is None)

    def problem(self) -> str:
        """Which annotation cannot be understood, in a sentence; empty when all can."""
        if self.dependencies not in (INSTALL, REQUIRE, IGNORE):
            wanted = f"wanted {INSTALL}, {REQUIRE} or {IGNORE}"
            return f"annotation {names.DEPENDENCIES}: {self.dependencies!r}: {wanted}"
        if self.version and _range(self.version) is None and not _NAME.fullmatch(self.version):
            return f"annotation {names.VERSION}: {self.version!r} is neither a version, nor a range, nor a name"
        return ""

    def accepts(self, name: str, version: Version | None) -> bool:
        """Whether a version may be installed; build metadata counts when the annotation states some."""
        if self.version in ("", name):
            return True
        exact, wanted = version_or_none(self.version), _range(self.version)
        if exact is not None and exact.build:
            return version is not None and version == exact and version.build == exact.build
        return wanted is not None and version is not None and version in wanted

    def without(self) -> Iterator[tuple[str, OptIn]]:
        """Each annotation that is set, and what is wished without it."""
        for field, annotation in _FIELDS.items():
            if getattr(self, field) != getattr(NONE, field):
                yield annotation, replace(self, **{field: getattr(NONE, field)})


NONE: Final = OptIn()
_FIELDS: Final = {
    "version": names.VERSION,
    "hold": names.HOLD,
    "hold_installed": names.HOLD_INSTALLED,
    "dependencies": names.DEPENDENCIES,
}

ANNOTATIONS: Final = (*_FIELDS.values(), names.CATALOG_POLICY, names.EXCLUDE_GLOBAL_CATALOGS)
"""All that can be asked for by annotation, on a Subscription or an OperatorGroup."""


def opt_in_of(subscription: ReadOnly) -> OptIn:
    """What the annotations of a Subscription say."""
    stated = annotations_of(subscription)
    found = {field: (stated.get(annotation) or "").strip() for field, annotation in _FIELDS.items()}
    return OptIn(**{**found, "dependencies": found["dependencies"] or INSTALL}) if any(found.values()) else NONE


def policy_of(groups: Sequence[ReadOnly], otherwise: str) -> str:
    """What the OperatorGroup of a namespace says about catalogs that cannot be read now, else what everybody says."""
    return next(filter(None, (annotations_of(one).get(names.CATALOG_POLICY) for one in groups)), otherwise)


def policy_problem(policy: str) -> str:
    """Why a policy is none, in a sentence; empty when it is one."""
    if policy in (AVAILABLE, STRICT):
        return ""
    return f"annotation {names.CATALOG_POLICY}: {policy!r}: wanted {AVAILABLE} or {STRICT}"


def _range(text: str) -> Range | None:
    try:
        return parse_range(text)
    except InvalidRange:
        return None
