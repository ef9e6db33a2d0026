"""What would help a request that no bundle meets: its constraints left out one by one, and what each would give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shared.api.manifest import ReadOnly
from shared.domain.extension.model import CatalogView, Installed, Request
from shared.domain.extension.resolve import resolve


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change of `spec.source.catalog` that was tried, and gives a bundle."""

    what: str
    patch: ReadOnly
    """The merge patch of `spec.source.catalog`."""
    bundle: str


def relaxations(
    request: Request, installed: Installed | None, catalogs: Sequence[CatalogView]
) -> tuple[Relaxation, ...]:
    """Each single constraint without which there would be a bundle."""
    return tuple(
        Relaxation(what, patch, resolution.bundle.name)
        for what, patch, relaxed in _tries(request, installed)
        if (resolution := resolve(relaxed, installed, catalogs)).bundle is not None
    )


def _tries(request: Request, installed: Installed | None) -> Iterator[tuple[str, ReadOnly, Request]]:
    if request.version:
        yield f"accept other versions than {request.version}", {"version": None}, replace(request, version="")
    if request.channels:
        what = f"accept other channels than {', '.join(request.channels)}"
        yield what, {"channels": None}, replace(request, channels=())
    if request.selector is not None:
        yield "accept every catalog", {"selector": None}, replace(request, selector=None)
    if installed is not None and not request.is_self_certified:
        patch = {"upgradeConstraintPolicy": "SelfCertified"}
        yield (
            "answer yourself for what no catalog offers as an upgrade",
            patch,
            replace(request, is_self_certified=True),
        )
