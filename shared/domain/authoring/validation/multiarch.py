"""Whether the images of an operator run where its labels say (fbc.md §11.6, MultipleArchitectures)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding
from shared.domain.authoring.validation.placement import ARCHITECTURE, SYSTEM, Placement
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.platform import NotInspected, Platform, Platforms
from shared.domain.go.text import quoted

_WORDS: Final = (
    (ARCHITECTURE, "Arch(s)", "if you support more than amd64 architectures, you MUST,use"),
    (SYSTEM, "OS(s)", "if you support more than linux OS you MUST,use"),
)


def multiarch(subject: Subject) -> Iterator[Finding]:
    """What labels, images and node affinities say about each other.

    An image whose platforms the options do not state is not compared with them.
    """
    if not subject.csv:
        return
    placement = Placement(subject)
    for detail in _unsupported(placement):
        yield Finding(ERROR, detail, value=subject.csv_name)
    for rule in (_not_inspected, _labels, _others, _affinities):
        for detail in rule(placement):
            yield Finding(WARNING, detail, value=subject.csv_name)


def inspected_images(subject: Subject) -> tuple[str, ...]:
    """The images whose platforms `multiarch` compares, each once."""
    return Placement(subject).images


def _unsupported(placement: Placement) -> Iterator[str]:
    for desired in map(Platform._make, product(placement.supported(SYSTEM), placement.supported(ARCHITECTURE))):
        known = placement.platforms.items()
        if lacking := sorted(image for image, platforms in known if desired not in platforms):
            what = "not all images specified are providing the support described via the CSV labels. Note that"
            where = f"{desired.os}.{desired.architecture}"
            yield f"{what} (OS.architecture): ({where}) was not found for the image(s) [{' '.join(lacking)}]"


def _not_inspected(placement: Placement) -> Iterator[str]:
    for image in placement.images:
        if isinstance(found := placement.subject.options.platforms.get(image), NotInspected):
            yield f"unable to inspect the image ({image}) : {found.why}"


def _labels(placement: Placement) -> Iterator[str]:
    for half, word, clause in _WORDS:
        possible = placement.possible(half)
        missing = sorted(possible.difference(placement.labelled(half)))
        if missing and possible != {half.default}:
            yield (
                f"check if the CSV is missing the label ({half.label}<value>) for the {word}: {_listed(missing)}. "
                f"Be aware that your Operator manager image {_listed(placement.managers)} provides this support. "
                f"Thus, it is very likely that you want to provide it and {clause} the required labels for all "
                "which are supported.Otherwise, your solution cannot be listed on the cluster for these architectures"
            )


def _others(placement: Placement) -> Iterator[str]:
    known = [image for image in placement.others if image in placement.platforms]
    for image, (half, word, _) in product(known, _WORDS):
        if missing := sorted(placement.possible(half).difference(map(half.of, placement.platforms[image]))):
            yield (
                f"check if the image {image} should not support {_listed(missing)}. Note that this CSV has labels for "
                f"this {word} Your manager image {_listed(placement.managers)} are providing this support OR the CSV "
                "is configured via labels to support it. Then, please verify if this image should not support it"
            )


def _affinities(placement: Placement) -> Iterator[str]:
    for image in placement.run:
        allowed = placement.affinities[image]
        if image in placement.platforms:
            yield from _compared(quoted(image), allowed, placement.platforms[image])
        elif not allowed:
            yield f"check if the CSV is missing a node affinity configuration for the image: {quoted(image)}. "


def _compared(image: str, allowed: Platforms, platforms: Platforms) -> Iterator[str]:
    suggested = f"image data suggests the following platforms are supported: {_listed(platforms)}"
    if not allowed:
        what = "check if the CSV has a missing or invalid node affinity configuration for the image"
        yield f"{what}: {image}. The {suggested}"
        return
    if extra := [one for one in allowed if one not in platforms]:
        what = f"the CSV includes {_listed(extra)} in the node affinity configuration for the image: {image}"
        yield f"{what}, but the {suggested}"
    if missing := [one for one in platforms if one not in allowed]:
        what = f"the image data indicates {_listed(missing)} is supported for the image: {image}, but"
        yield f"{what} the node affinity configuration for the image only specifies {_listed(allowed)}"


def _listed(values: Iterable[object]) -> str:
    """As Go prints a list of quoted texts."""
    return f"[{' '.join(quoted(str(one)) for one in values)}]"
