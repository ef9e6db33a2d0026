"""PackageManifests as a namespace sees them: which, under which names, in which forms (csv.md §13.1, 13.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.durations import age
from shared.domain.serving.package_manifest import API_VERSION, KIND

Cells = tuple[str, str, str]
COLUMNS: Final = (
    {"name": "Name", "type": "string", "format": "name", "description": "The name of the package", "priority": 0},
    {"name": "Catalog", "type": "string", "format": "", "description": "The catalog that has it", "priority": 0},
    {"name": "Age", "type": "string", "format": "", "description": "The age of that catalog", "priority": 0},
)
"""The columns of the table that `kubectl get packagemanifests` prints."""


@dataclass(frozen=True, slots=True)
class Icon:
    """The picture of a package."""

    content: bytes
    media_type: str
    tag: str
    """Its ETag; empty for the picture of a package that has none."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One package of one catalog, its status as JSON: a list of hundreds is made in milliseconds, in any namespace."""

    catalog: str
    catalog_namespace: str
    metadata: ReadOnly
    status: bytes
    display_name: str
    icon: Icon

    @classmethod
    def of(cls, manifest: ReadOnly, icon: Icon) -> Listed:
        """What is kept of a PackageManifest."""
        status = manifest["status"]
        places = status["catalogSource"], status["catalogSourceNamespace"]
        shown = status["catalogSourceDisplayName"]
        return cls(*places, manifest["metadata"], orjson.dumps(status), shown, icon)

    @property
    def name(self) -> str:
        """The name of the package."""
        return str(self.metadata["name"])

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self.status) + len(self.icon.content)

    @property
    def labels(self) -> Mapping[str, str]:
        """What label selectors choose by."""
        found: Mapping[str, str] = self.metadata["labels"]
        return found

    @property
    def order(self) -> tuple[str, str, str]:
        """The place in a list: by package, then by catalog."""
        return self.name, self.catalog_namespace, self.catalog

    def for_namespace(self, namespace: str) -> Manifest:
        """Its metadata in a namespace; of the empty name that of its catalog."""
        return {**self.metadata, "namespace": namespace or self.catalog_namespace}

    def json(self, namespace: str) -> bytes:
        """The whole object in a namespace."""
        head = f'{{"kind":"{KIND}","apiVersion":"{API_VERSION}","metadata":'.encode()
        return head + orjson.dumps(self.for_namespace(namespace)) + b',"spec":{},"status":' + self.status + b"}"

    def cells(self, now: datetime) -> Cells:
        """Its row in a table."""
        return self.name, self.display_name, age(self.metadata.get("creationTimestamp"), now)


def visible(packages: Iterable[Listed], namespace: str, global_namespace: str) -> Iterator[Listed]:
    """The packages of a namespace and of the global one; all of them for the empty name, each once."""
    places = {namespace, global_namespace} if namespace else set()
    return (one for one in packages if not places or one.catalog_namespace in places)


def chosen(packages: Iterable[Listed], namespace: str, name: str) -> Listed | None:
    """The package that a name means in a namespace: of its own catalogs before the global ones, then by catalog."""
    found = (one for one in packages if one.name == name)
    return min(found, key=lambda one: (one.catalog_namespace != namespace, one.catalog), default=None)
