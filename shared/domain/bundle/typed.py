"""What `opm` reads of a ClusterServiceVersion and of definitions, in the types of Go (fbc.md §9.2, §9.4, §10.4).

Of a version it decodes the spec field by field, so the names of these fields have one spelling; what is inside them,
the install strategy and the metadata are read by encoding/json, in any case. Definitions have one spelling throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.model import CRD, CSV
from shared.domain.bundle.shape import as_text, name_in
from shared.domain.go.text import fold
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import EXACT, PLAIN, what_is

_APIS: Final = frozenset(("customresourcedefinitions", "apiservicedefinitions"))
_RELATED, _INSTALL = "relatedImages", "install"
_DEFINITIONS: Final = {"v1": CRD, "v1beta1": f"Old{CRD}"}
"""The types of definitions, by version."""


def apis_of(csv: ReadOnly) -> Manifest:
    """The definitions and API services of a version. MisfitError."""
    spec = _spec(csv)
    return PLAIN.read({key: spec[key] for key in _APIS & spec.keys()}, "RegistryApis", "spec")


def images_of(csv: ReadOnly) -> Manifest:
    """The related images and the Deployments of a version. MisfitError."""
    spec = _spec(csv)
    read = {key: spec[key] for key in spec if key == _RELATED or fold(key) == _INSTALL}
    return PLAIN.read(read, "RegistryImages", "spec")


def _spec(csv: ReadOnly) -> ReadOnly:
    if "spec" not in csv:
        raise MisfitError("spec is missing")
    if not isinstance(spec := csv["spec"], Mapping | None):
        raise MisfitError(f"spec: wanted an object, got {what_is(spec)}")
    return spec or {}


def check(manifest: ReadOnly) -> None:
    """MisfitError when a version, but for its spec, or a definition has another shape; others are not looked at."""
    version = as_text(manifest.get("apiVersion")).rpartition("/")[2]
    if manifest["kind"] == CSV:
        PLAIN.read({"apiVersion": manifest.get("apiVersion"), "metadata": manifest.get("metadata")}, CSV)
    elif manifest["kind"] == CRD and version in _DEFINITIONS:
        try:
            EXACT.read(manifest, _DEFINITIONS[version])
        except MisfitError as error:
            where = ": ".join(filter(None, (f"error decoding {version} CRD", name_in(manifest))))
            raise MisfitError(f"{where}: {error}") from error
