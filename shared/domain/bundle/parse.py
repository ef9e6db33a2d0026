"""What the files of a bundle say (fbc.md §9.2, §9.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.api.manifest import Manifest, name_of
from shared.domain import goyaml
from shared.domain.bundle.annotations import PACKAGE, Annotations
from shared.domain.bundle.annotations import parse as parse_annotations
from shared.domain.bundle.model import BadBundle, Files, ParsedBundle
from shared.domain.bundle.payload import CLUSTER_SERVICE_VERSION
from shared.domain.bundle.shape import defect


def parse(files: Files, where: str) -> ParsedBundle | BadBundle:
    """The bundle in `manifests/` and `metadata/`; `where` begins the sentence when there is none."""
    objects = tuple(_objects(files))
    csv = next((manifest for manifest in objects if manifest["kind"] == CLUSTER_SERVICE_VERSION), None)
    if csv is None:
        return BadBundle("NoClusterServiceVersion", f"{where}: no ClusterServiceVersion in manifests/; add one")
    for manifest in objects:
        if why := defect(manifest):
            return BadBundle("Malformed", f"{where}: the {manifest['kind']} in manifests/ is none: {why}; mend it")
    if not name_of(csv):
        return BadBundle("Malformed", f"{where}: the ClusterServiceVersion has no metadata.name; give it one")
    metadata = list(_documents(files, "metadata"))
    labels = _annotations(metadata)
    if labels is None or not labels.package:
        return BadBundle("Malformed", f"{where}: no metadata/annotations.yaml names its package; "
                         f"add the annotation {PACKAGE}")  # fmt: skip
    return ParsedBundle(csv, objects, labels, _entries(metadata, "dependencies"), _entries(metadata, "properties"))


def _documents(files: Files, directory: str) -> Iterator[Any]:
    """The first document of each file directly in a directory, in name order; what cannot be read is passed over."""
    for path in sorted(files):
        folder, _, name = path.rpartition("/")
        if folder != directory or name.startswith("."):
            continue
        try:
            yield goyaml.load_value(files[path])
        except goyaml.YamlError:
            continue


def _objects(files: Files) -> Iterator[Manifest]:
    for document in _documents(files, "manifests"):
        if isinstance(document, dict) and isinstance(document.get("kind"), str):
            yield document


def _annotations(documents: list[Any]) -> Annotations | None:
    return next(filter(None, map(parse_annotations, documents)), None)


def _entries(documents: list[Any], field: str) -> tuple[tuple[str, Any], ...]:
    for document in documents:
        listed = document.get(field) if isinstance(document, Mapping) else None
        if isinstance(listed, list) and listed:
            return tuple((str(entry.get("type")), entry.get("value")) for entry in listed if isinstance(entry, dict))
    return ()
