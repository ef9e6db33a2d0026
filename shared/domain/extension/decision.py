"""Which bundle an extension is to run, by its spec, its revisions and the catalogs (v1.md §12.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias

from shared import names
from shared.api.views import ClusterExtension, ClusterObjectSet, Object
from shared.domain.conditions import Condition
from shared.domain.extension import deprecation, fallback, selector
from shared.domain.extension.model import Bundle, CatalogView, Identity, Request, Resolution
from shared.domain.extension.render.model import (
    DEPLOYMENT_CONFIG_GATE,
    SINGLE_OWN_GATE,
    CertProvider,
    RenderOptions,
)
from shared.domain.extension.request import request_of
from shared.domain.extension.resolve import resolve
from shared.domain.extension.revisions import Revisions, bundle_of

GATES: Final[Mapping[str, bool]] = {SINGLE_OWN_GATE: True, DEPLOYMENT_CONFIG_GATE: True}
"""What of upstream's alpha gates is on: what the definition of ClusterExtensions has fields for."""
HAS_RELEASES: Final = True
"""Upstream's gate BundleReleaseSupport."""
NOBODY: Final[CertProvider] = "none"
"""Who makes the certificates of a bundle that needs none."""
AskProvider: TypeAlias = Callable[[], CertProvider]
"""Finds out who makes certificates in a cluster; it is asked only where that matters."""
_SHOWN: Final = 200
"""Characters of the reason for a hold."""
_EDITION: Final = "1"
"""Of rendering: another one renders every bundle again."""


@dataclass(frozen=True, slots=True)
class Maintain:
    """What there are revisions of is kept; nothing else is looked for now."""

    resolution: Resolution | None = None
    """The resolution that failed without consequences."""
    why: str = ""
    """Why nothing else is looked for, where somebody said so."""


@dataclass(frozen=True, slots=True)
class Target:
    """The bundle that was chosen."""

    resolution: Resolution
    bundle: Bundle
    identity: Identity


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing was chosen, and why."""

    resolution: Resolution


Decision: TypeAlias = Maintain | Target | Failed


def decide(extension: ClusterExtension, revisions: Revisions, catalogs: Sequence[CatalogView]) -> Decision:
    """What to do. A roll-out that goes on is not disturbed, unless the spec was edited after it began."""
    if reason := extension.annotation(names.HOLD):
        return Maintain(why=f"on hold by {names.HOLD}: {reason[:_SHOWN]}")
    if (revisions.rolling and not _is_edited(extension, revisions)) or revisions.is_taking_over:
        return Maintain()
    request = request_for(extension)
    installed = bundle_of(revisions.installed) if revisions.installed else None
    resolution = resolve(request, installed, catalogs)
    chosen = resolution.bundle
    if chosen is not None and chosen.identity is not None:
        return Target(resolution, chosen, chosen.identity)
    kept = fallback.decide(resolution.error, request, installed, catalogs)
    return Maintain(resolution) if isinstance(kept, fallback.Keep) else Failed(resolution)


def request_for(extension: ClusterExtension) -> Request:
    """What an extension asks for."""
    return request_of(extension.source, "spec.source.catalog")


def may_select(extension: ClusterExtension, catalog: Object) -> bool:
    """Whether an extension asks a catalog; not with a selector that is none."""
    desired = extension.source.get("selector")
    try:
        selector.check(desired or {})
    except selector.InvalidSelector:
        return False
    return selector.selects(desired, catalog.labels)


def deprecations(extension: ClusterExtension, revisions: Revisions, decision: Decision) -> tuple[Condition, ...]:
    """What is deprecated of what is installed; only a resolution that chose something knows (v1.md §11.3)."""
    name = bundle_of(revisions.installed).name if revisions.installed else ""
    known = decision.resolution.deprecations if isinstance(decision, Target) else None
    return deprecation.conditions(
        request_for(extension).channels, name, known, has_catalog_data=isinstance(decision, Target)
    )


def is_due(extension: ClusterExtension, revisions: Revisions, target: Target, provider: AskProvider) -> bool:
    """Whether the bundle is to be fetched and rendered: there is no revision yet of what would be made of it."""
    newest = active(revisions)
    return newest is None or not is_recorded(newest, extension, target, provider)


def active(revisions: Revisions) -> ClusterObjectSet | None:
    """The newest revision, if it is not archived."""
    return revisions.newest if revisions.newest in revisions.active else None


def is_recorded(revision: ClusterObjectSet, extension: ClusterExtension, target: Target, provider: AskProvider) -> bool:
    """Whether a revision says that it was made of a target, by the present spec."""
    is_owned = any(one.uid == extension.uid for one in revision.owners)
    if not is_owned or revision.deadline != extension.deadline:
        return False
    recorded = revision.annotation(names.RENDERED_FROM)
    return recorded == rendered_from(extension, target) or recorded == rendered_from(extension, target, provider())


def options(extension: ClusterExtension, provider: CertProvider = NOBODY) -> RenderOptions:
    """How the bundles of an extension are rendered."""
    return RenderOptions(extension.install_namespace, extension.config, provider, GATES)


def rendered_from(extension: ClusterExtension, target: Target, provider: CertProvider = NOBODY) -> str:
    """The digest of all that decides what a bundle is rendered to, and of how it is recorded.

    Who makes certificates decides on bundles with webhooks alone: of all others it is nobody, whoever there is.
    """
    decisive = [
        _EDITION, target.bundle.name, target.bundle.image, target.identity.recorded(has_releases=HAS_RELEASES),
        extension.install_namespace, extension.config, provider, request_for(extension).package,
    ]  # fmt: skip
    return f"sha256:{sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()}"


def _is_edited(extension: ClusterExtension, revisions: Revisions) -> bool:
    """Whether the newest revision was decided for another edition of the spec."""
    newest = revisions.rolling[-1]
    return newest.annotation(names.DECIDED_FOR) not in (None, str(extension.generation))
