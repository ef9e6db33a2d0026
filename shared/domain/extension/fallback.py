"""What becomes of an extension whose resolution failed: try again, or keep what is installed (v1.md §12.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from shared.domain.extension import selector
from shared.domain.extension.model import CatalogView, Installed, Request


@dataclass(frozen=True, slots=True)
class Retry:
    """The error stands; what conditions that were never set are filled with."""

    message: str


@dataclass(frozen=True, slots=True)
class Keep:
    """No catalog is left that could answer: go on with the installed bundle, without an error."""

    installed: Installed


Decision: TypeAlias = Retry | Keep


def decide(
    error: str, request: Request, installed: Installed | None, catalogs: Iterable[CatalogView] | None
) -> Decision:
    """What to do after a resolution failed; `catalogs` is every ClusterCatalog, None when they could not be listed."""
    if installed is None:
        return Retry(f"failed to resolve bundle: {error}")
    # Compared as texts, as the reference does: even a range that the installed version satisfies asks for a change.
    if request.version and request.version != installed.version:
        return Retry(
            f"unable to upgrade to version {request.version}: {error} (currently installed: {installed.version})"
        )
    try:
        is_answerable = None if catalogs is None else have_match(request.selector, catalogs)
    except selector.InvalidSelector:
        is_answerable = None
    if is_answerable is None:
        return Retry(f"failed to resolve bundle: {error}")
    return Retry(f"failed to resolve bundle, retrying: {error}") if is_answerable else Keep(installed)


def have_match(desired: Mapping[str, object] | None, catalogs: Iterable[CatalogView]) -> bool:
    """Whether a ClusterCatalog is selected, even one that is not available. InvalidSelector, with a sentence."""
    try:
        selector.check(desired or {})
    except selector.InvalidSelector as error:
        raise selector.InvalidSelector(f"invalid catalog selector: {error}") from error
    return any(selector.selects(desired, catalog.labels) for catalog in catalogs)
