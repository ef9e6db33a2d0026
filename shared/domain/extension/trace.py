"""Why an extension gets the bundle that it gets, or none, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from shared.domain.extension.model import Installed, Request, Resolution, Step

_NAMED: Final = 5
"""How many of the bundles that a rule removed are named; JSON has all."""


def sentences(resolution: Resolution, request: Request, installed: Installed | None) -> tuple[str, ...]:
    """One sentence for each rule, catalog by catalog."""
    return tuple(_sentence(step, request, installed) for step in resolution.trace) + tuple(_end(resolution))


def _end(resolution: Resolution) -> Iterator[str]:
    if resolution.bundle is None:
        yield f"Nothing can be installed: {resolution.error}{_emptied(resolution)}."
        return
    yield f"So {resolution.bundle.name} of catalog {resolution.catalog} is the one."


def _emptied(resolution: Resolution) -> str:
    """Which rule left nothing of which catalog; the reference says only what it was asked."""
    if not resolution.is_exhausted:
        return ""
    emptied = {step.catalog: step.rule for step in reversed(resolution.trace) if not step.left}  # the first one counts
    by_rule: dict[str, list[str]] = {}
    for catalog in dict.fromkeys(step.catalog for step in resolution.trace):
        by_rule.setdefault(emptied[catalog], []).append(catalog)
    return "".join(f"; the rule {rule!r} leaves nothing of {', '.join(names)}" for rule, names in by_rule.items())


def _sentence(step: Step, request: Request, installed: Installed | None) -> str:
    match step.rule:
        case "availability":
            return f"Catalog {step.catalog} is not asked: its availabilityMode is Unavailable."
        case "selector":
            return f"Catalog {step.catalog} is not asked: the selector wants other labels than {_listed(step.there)}."
        case "package":
            return f"Catalog {step.catalog} has {_count(step.left).lower()} of package {request.package}."
        case "channel":
            left = f"{_left(step)} in {_channels(request.channels)}{_unknown(step, request.channels)}"
        case "version":
            left = f"{_left(step)} of a version in {request.version!r}"
        case "successor":
            left = f"{_left(step)} reached from {installed.name if installed else 'nothing'}, or it itself"
        case "best":
            left = "The highest version is taken, and a deprecated one only if there is no other"
        case _:
            left = f"Of all catalogs that are left, {step.catalog} has the highest priority"
    return f"{left}{_removed(step)}."


def _left(step: Step) -> str:
    return f"{_count(step.left)} {'is' if step.left == 1 else 'are'}"


def _count(number: int) -> str:
    return f"{number or 'No'} bundle{'' if number == 1 else 's'}"


def _channels(channels: Sequence[str]) -> str:
    return f"the channel{'' if len(channels) == 1 else 's'} {', '.join(channels)}"


def _unknown(step: Step, channels: Sequence[str]) -> str:
    if not step.there:
        return ""
    missing = [name for name in channels if name not in step.there]
    return f" (catalog {step.catalog} has no {', '.join(missing)}, but {_listed(step.there)})"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


def _removed(step: Step) -> str:
    if not step.removed:
        return ""
    more = len(step.removed) - _NAMED
    return f"; not {', '.join(step.removed[:_NAMED])}{f' and {more} more' if more > 0 else ''}"
