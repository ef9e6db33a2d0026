"""A bundle as a blob of a file-based catalog (fbc.md §10.3, §10.4, §4.5)."""

from __future__ import annotations

import base64
import re
from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.authoring.bundles.images import related_images
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.properties import first_version, properties
from shared.domain.catalog.documents import HEAVY
from shared.domain.catalog.model import BUNDLE_OBJECT
from shared.domain.go.encode import json_text
from shared.domain.go_types.plain import PLAIN

_PLACEHOLDER: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class ImageTemplateError(ValueError):
    """A template of an image reference has an unknown or unclosed placeholder."""


def blob(bundle: ParsedBundle, image: str = "") -> Manifest:
    """The `olm.bundle` with all manifests of a bundle; `image` is its image reference, if it has one."""
    found = [{"type": one.type, "value": one.value} for one in properties(bundle)]
    light = [one for one in found if one["type"] not in HEAVY]
    heavy = [one for one in found if one["type"] in HEAVY]
    document = {
        "schema": "olm.bundle",
        "name": bundle.name,
        "package": bundle.annotations.package,
        "image": image,
        "properties": [*light, *sorted([*heavy, *_objects(bundle)], key=lambda one: str(one["type"]))],
        "relatedImages": list(related_images(bundle.csv, image)),
    }
    return {key: value for key, value in document.items() if value or key in ("schema", "image")}


def _objects(bundle: ParsedBundle) -> list[Manifest]:
    """Every manifest, as compact JSON in base64, in the order of these texts."""
    texts = (base64.b64encode(json_text(one).encode()).decode() for one in bundle.objects)
    return [{"type": BUNDLE_OBJECT, "value": {"data": text}} for text in sorted(texts)]


def csv_metadata(csv: ReadOnly) -> Manifest:
    """The value of the `olm.csv.metadata` of a ClusterServiceVersion. MisfitError when it has another shape."""
    meta = PLAIN.read(csv.get("metadata"), "ObjectMeta", "metadata")
    spec = PLAIN.read(csv.get("spec"), "ClusterServiceVersionSpec", "spec")
    described = {
        **spec,
        "annotations": meta.get("annotations"),
        "labels": meta.get("labels"),
        "apiServiceDefinitions": spec.get("apiservicedefinitions"),
        "crdDescriptions": spec.get("customresourcedefinitions"),
    }
    return PLAIN.read(described, "CSVMetadata")


def image_from(template: str, bundle: ParsedBundle) -> str:
    """A template with values for `{{.Package}}`, `{{.Name}}` and `{{.Version}}`. ImageTemplateError."""
    words = {".Package": bundle.annotations.package, ".Name": bundle.name, ".Version": first_version(bundle)}

    def filled(match: re.Match[str]) -> str:
        word = match[1].strip().strip("-").strip()
        if word not in words:
            raise ImageTemplateError(f"{match[0]}: wanted one of {', '.join(f'{{{{{word}}}}}' for word in words)}")
        return words[word]

    made = _PLACEHOLDER.sub(filled, template)
    if "{{" in made:
        raise ImageTemplateError(f"{template}: a placeholder is not closed")
    return made
