"""A step's manifest as a reference to the ConfigMap that holds its bundle (catalog.md §4.6)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from shared.domain.resolver.model import CatalogKey


@dataclass(frozen=True, slots=True)
class Reference:
    """Where the manifest of a step is, and what the catalog said about its bundle."""

    name: str
    """The ConfigMap."""
    namespace: str
    catalog: CatalogKey
    replaces: str = ""
    properties: str = ""
    """The text of the annotation `operatorframework.io/properties`."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The package that the properties name; none when they name none, or cannot be read."""
        try:
            stated = json.loads(self.properties)
        except ValueError:
            return ()
        match stated:
            case {"properties": list(found)}:
                values = (
                    one.get("value") for one in found if isinstance(one, dict) and one.get("type") == "olm.package"
                )
                return tuple(
                    str(one["packageName"]) for one in values if isinstance(one, dict) and one.get("packageName")
                )
        return ()

    def __str__(self) -> str:
        stated = {
            "kind": "ConfigMap",
            "name": self.name,
            "namespace": self.namespace,
            "catalogSourceName": self.catalog.name,
            "catalogSourceNamespace": self.catalog.namespace,
            "replaces": self.replaces,
            "properties": self.properties,
        }
        return json.dumps({key: value for key, value in stated.items() if value}, separators=(",", ":"))


def parse(manifest: str) -> Reference | None:
    """The reference that a step's manifest is; None when it is the object itself."""
    try:
        stated = json.loads(manifest)
    except ValueError:
        return None
    match stated:
        case {
            "kind": "ConfigMap",
            "name": str(name),
            "namespace": str(namespace),
            "catalogSourceName": str(catalog),
            "catalogSourceNamespace": str(catalog_namespace),
        } if name and namespace and catalog and catalog_namespace:
            key = CatalogKey(catalog_namespace, catalog)
            replaces, properties = str(stated.get("replaces") or ""), str(stated.get("properties") or "")
            return Reference(name, namespace, key, replaces, properties)
    return None
