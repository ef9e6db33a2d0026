"""The mirrors that ImageDigestMirrorSets and ImageTagMirrorSets name, of a cluster or in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Mirror, Mirrors, Pulls, Rule
from shared.api.manifest import ReadOnly
from shared.domain.go.stream import parts

_NEVER: Final = "NeverContactSource"
_FIELDS: Final[Mapping[str, Pulls]] = {
    "imageDigestMirrors": "digest-only",
    "imageTagMirrors": "tag-only",
    "repositoryDigestMirrors": "digest-only",
}
"""The last one is that of ImageContentSourcePolicies, which came before the two."""
_SUFFIXES: Final = (".yaml", ".yml", ".json")


def of_objects(objects: Iterable[ReadOnly]) -> Mirrors:
    """The rules of mirror sets. ValueError when one of them has not the form of its kind."""
    found: dict[str, Rule] = {}
    for manifest in objects:
        spec = manifest.get("spec") or {}
        for field, pulls in _FIELDS.items():
            for one in _listed(spec, field, dict):
                source = str(one.get("source") or "")
                mirrors = tuple(Mirror(str(mirror), pulls) for mirror in _listed(one, "mirrors", str))
                known = found.get(source, Rule(source))
                is_asked = known.is_source_asked and one.get("mirrorSourcePolicy") != _NEVER
                found[source] = replace(known, mirrors=known.mirrors + mirrors, is_source_asked=is_asked)
    return Mirrors(tuple(rule for rule in found.values() if rule.prefix))


def of_path(path: Path) -> Mirrors:
    """The rules of the mirror sets in a file, or in the files of a folder. OciError when they cannot be read."""
    try:
        files = [path]
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES)
        return of_objects(one for file in files for one in _objects(file))
    except (OSError, ValueError) as error:
        what = f"the mirrors in {path} cannot be read: {error}"
        raise OciError("Malformed", f"{what}; correct OLMF_MIRRORS, or what it names") from error


def _objects(file: Path) -> Iterator[ReadOnly]:
    for part in parts(file.read_bytes()):
        if part.error or not isinstance(part.value, dict | None):
            raise ValueError(f"{file}, document {part.number}: {part.error or 'it is no object'}")
        value = part.value or {}
        yield from _listed(value, "items", dict) if "items" in value else (value,)


def _listed(fields: Any, name: str, desired: type) -> list[Any]:  # why: whatever a file holds
    listed = (fields.get(name) or []) if isinstance(fields, Mapping) else fields
    if not isinstance(listed, list) or not all(isinstance(one, desired) for one in listed):
        raise ValueError(f"wanted a list of {name}, got {str(listed)[:80]!r}")
    return listed
