"""What the files of a bundle say (fbc.md §9.2, §9.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.api.manifest import Manifest, name_of
from shared.domain import goyaml
from shared.domain.bundle.annotations import PACKAGE
from shared.domain.bundle.annotations import parse as parse_annotations
from shared.domain.bundle.model import BadBundle, Files, ParsedBundle
from shared.domain.bundle.payload import CLUSTER_SERVICE_VERSION
from shared.domain.bundle.shape import defect


@dataclass(frozen=True, slots=True)
class _Directory:
    """The first document of each file directly in a directory, by path in name order."""

    documents: Mapping[str, Any]  # why: any JSON value
    unreadable: tuple[str, ...]
    """A sentence for each file that is passed over."""

    def values(self) -> Iterable[Any]:
        return self.documents.values()


def parse(files: Files, where: str) -> ParsedBundle | BadBundle:
    """The bundle in `manifests/` and `metadata/`; `where` begins the sentence when there is none."""
    manifests, metadata = _read(files, "manifests"), _read(files, "metadata")
    objects: dict[str, Manifest] = {path: each for path, each in manifests.documents.items() if _is_object(each)}
    place = next((path for path, each in objects.items() if each["kind"] == CLUSTER_SERVICE_VERSION), "")
    if not place:
        why = "; ".join(manifests.unreadable) or "add one"
        return BadBundle("NoClusterServiceVersion", f"{where}: no ClusterServiceVersion in manifests/; {why}")
    for path, manifest in objects.items():
        if why := defect(manifest):
            return BadBundle("Malformed", f"{where}: {path}: this is no {manifest['kind']}: {why}; mend it")
    if not name_of(csv := objects[place]):
        return BadBundle("Malformed", f"{where}: {place}: the ClusterServiceVersion has no metadata.name; give it one")
    labels = next(filter(None, map(parse_annotations, metadata.values())), None)
    if labels is None or not labels.package:
        why = "; ".join(metadata.unreadable) or f"add the annotation {PACKAGE}"
        return BadBundle("Malformed", f"{where}: no metadata/annotations.yaml names its package; {why}")
    return ParsedBundle(
        csv,
        tuple(objects.values()),
        labels,
        _entries(metadata.values(), "dependencies"),
        _entries(metadata.values(), "properties"),
        tuple(f"{where}: {sentence}" for sentence in (*manifests.unreadable, *metadata.unreadable)),
    )


def _read(files: Files, directory: str) -> _Directory:
    documents, unreadable = {}, []
    for path in sorted(files):
        folder, _, name = path.rpartition("/")
        if folder != directory or name.startswith("."):
            continue
        try:
            documents[path] = goyaml.load_value(files[path])
        except goyaml.YamlError as error:
            unreadable.append(f"{path} cannot be read: {error}; mend it")
    return _Directory(documents, tuple(unreadable))


def _is_object(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("kind"), str)


def _entries(documents: Iterable[Any], field: str) -> tuple[tuple[str, Any], ...]:
    for document in documents:
        listed = document.get(field) if isinstance(document, Mapping) else None
        if isinstance(listed, list) and listed:
            return tuple((str(entry.get("type")), entry.get("value")) for entry in listed if isinstance(entry, dict))
    return ()
