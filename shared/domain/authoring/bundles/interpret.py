"""The package and channels of a bundle in the older layout, beside a package manifest (fbc.md §13.13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.api.manifest import ReadOnly
from shared.domain.authoring.bundles.labels import LabelOptions
from shared.domain.bundle.shape import as_list, as_object


class NotInterpretableError(ValueError):
    """A package manifest does not say to which channels a bundle belongs."""


def interpret(manifest: ReadOnly, replaced: Mapping[str, str], csv: str) -> LabelOptions:
    """Package and channels of one version of a package manifest; `replaced` names what each version replaces.

    NotInterpretableError when it names no package, or no channel leads to the version.
    """
    package = manifest.get("packageName")
    if not isinstance(package, str) or not package:
        raise NotInterpretableError("name of package (packageName) is missing")
    listed = [as_object(one) for one in as_list(manifest.get("channels"))]
    heads = {str(one.get("name") or ""): str(one.get("currentCSV") or "") for one in listed}
    channels = sorted(name for name, head in heads.items() if csv in _chain(head, replaced))
    if not channels:
        raise NotInterpretableError("error interpreting channels, please manually input channels instead")
    only = channels[0] if len(heads) == 1 else ""
    return LabelOptions(package, ",".join(channels), str(manifest.get("defaultChannel") or only))


def _chain(head: str, replaced: Mapping[str, str]) -> Iterator[str]:
    """The names of a version and of all versions below it; ends at a cycle."""
    seen: set[str] = set()
    while head and head not in seen:
        seen.add(head)
        yield head
        head = replaced.get(head, "")
