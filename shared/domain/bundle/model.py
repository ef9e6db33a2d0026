"""A bundle as values: its files, their content, and the reason why a bundle cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from shared import kinds
from shared.api.manifest import Manifest, name_of
from shared.domain.bundle.annotations import Annotations

CSV: Final = kinds.CLUSTER_SERVICE_VERSION.kind
CRD: Final = kinds.CUSTOM_RESOURCE_DEFINITION.kind

Files: TypeAlias = Mapping[str, bytes]
"""Content by path inside the image, e.g. `manifests/etcd.yaml`."""


@dataclass(frozen=True, slots=True)
class BadBundle:
    """Why a bundle cannot be used, as a sentence."""

    reason: Literal["Empty", "Malformed", "NoClusterServiceVersion", "TooLarge"]
    message: str
    cause: str = ""
    """The message of `opm` for it, if it has one."""


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """The objects of a bundle, in the order of their file names; the ClusterServiceVersion is one of them."""

    csv: Manifest
    objects: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class ParsedBundle:
    """Everything that the files of a bundle say."""

    csv: Manifest
    objects: tuple[Manifest, ...]
    annotations: Annotations
    dependencies: tuple[tuple[str, Any], ...] = ()  # why: any JSON value
    """Type and value of each entry of `dependencies.yaml`."""
    properties: tuple[tuple[str, Any], ...] = ()  # why: any JSON value
    """Type and value of each entry of `properties.yaml`."""
    warnings: tuple[str, ...] = ()
    """A sentence for each file that was passed over because it cannot be read."""

    @property
    def name(self) -> str:
        """The name of the bundle, which is that of its ClusterServiceVersion."""
        return name_of(self.csv)

    @property
    def version(self) -> str:
        """`spec.version` of the ClusterServiceVersion."""
        return str((self.csv.get("spec") or {}).get("version") or "")
