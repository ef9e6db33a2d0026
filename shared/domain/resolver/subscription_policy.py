"""The `olmf.io/` annotations of Subscriptions and OperatorGroups; without them only OLM's rules apply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared import names
from shared.api.views import OperatorGroup, Subscription
from shared.domain.annotations import without_effect
from shared.domain.semver import Version, range_or_none, version_or_none

INSTALL, REQUIRE, IGNORE = "install", "require", "ignore"
"""Dependencies are installed (as in OLM), must be installed already, or are ignored."""
AVAILABLE, STRICT = "available", "strict"
"""Of a catalog that cannot be read now the last snapshot is used, or it stops every Subscription (as in OLM)."""
_NAME: Final = re.compile(r"[a-z0-9]([-.+_a-zA-Z0-9]*[a-zA-Z0-9])?")


@dataclass(frozen=True, slots=True)
class SubscriptionPolicy:
    """The annotations of one Subscription; empty strings and `install` are OLM's behaviour."""

    version: str = ""
    """A version, the name of a CSV, or a version range: no other version is installed."""
    hold: str = ""
    """The reason given for a hold: nothing is installed or updated."""
    hold_installed: str = ""
    """The reason given for a hold of the installed version: a first version is still installed."""
    dependencies: str = INSTALL

    @property
    def why_held(self) -> str:
        """Why the installed version is kept; empty when it may be updated."""
        return self.hold or self.hold_installed

    @property
    def is_pin(self) -> bool:
        """Whether exactly one version is accepted."""
        return bool(self.version) and (version_or_none(self.version) is not None or range_or_none(self.version) is None)

    def problem(self) -> str:
        """A sentence about the first annotation with an invalid value; empty when all are valid."""
        if self.dependencies not in (INSTALL, REQUIRE, IGNORE):
            desired = f"wanted {INSTALL}, {REQUIRE} or {IGNORE}"
            return f"annotation {names.DEPENDENCIES}: {self.dependencies!r}: {desired}"
        if self.version and range_or_none(self.version) is None and not _NAME.fullmatch(self.version):
            return f"annotation {names.VERSION}: {self.version!r} is neither a version, nor a range, nor a name"
        return ""

    def accepts(self, name: str, version: Version | None) -> bool:
        """Whether a version may be installed; build metadata counts when the annotation states some."""
        if self.version in ("", name):
            return True
        exact, desired = version_or_none(self.version), range_or_none(self.version)
        if exact is not None and exact.build:
            return version is not None and version == exact and version.build == exact.build
        return desired is not None and version is not None and version in desired

    def without(self) -> Iterator[tuple[str, SubscriptionPolicy]]:
        """Each annotation that is set, with the policy as it is without it."""
        for field, annotation in _FIELDS.items():
            if getattr(self, field) != getattr(NONE, field):
                yield annotation, replace(self, **{field: getattr(NONE, field)})


NONE: Final = SubscriptionPolicy()
_FIELDS: Final = {
    "version": names.VERSION,
    "hold": names.HOLD,
    "hold_installed": names.HOLD_INSTALLED,
    "dependencies": names.DEPENDENCIES,
}

ANNOTATIONS: Final = (*_FIELDS.values(), names.CATALOG_POLICY, names.EXCLUDE_GLOBAL_CATALOGS)
"""Every annotation that the resolver reads on Subscriptions and OperatorGroups."""


def subscription_policy_of(subscription: Subscription) -> SubscriptionPolicy:
    """What the annotations of a Subscription say."""
    annotations = subscription.annotations
    found = {field: (annotations.get(annotation) or "").strip() for field, annotation in _FIELDS.items()}
    return (
        SubscriptionPolicy(**{**found, "dependencies": found["dependencies"] or INSTALL})
        if any(found.values())
        else NONE
    )


def unknown(subscription: Subscription) -> str:
    """A sentence about the annotations with our prefix that are not known, as misspelled ones; empty without any."""
    known = (*_FIELDS.values(), names.RELEASES, names.AUTHOR, names.AUTHOR_GROUPS)
    return without_effect(subscription, "on a Subscription", known)


def policy_of(groups: Sequence[OperatorGroup], otherwise: str) -> str:
    """The catalog policy in an annotation of the OperatorGroup, else the given default."""
    return next(filter(None, (one.catalog_policy for one in groups)), otherwise)


def policy_problem(policy: str) -> str:
    """A sentence that says a policy is invalid; empty for a valid one."""
    if policy in (AVAILABLE, STRICT):
        return ""
    return f"annotation {names.CATALOG_POLICY}: {policy!r}: wanted {AVAILABLE} or {STRICT}"
